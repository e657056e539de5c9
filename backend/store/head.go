package store

import (
	"fmt"

	"aalis/backend/event"
)

// The lists a session can be in; archived sessions are in the list plus ListArchived.
const (
	ListOwner    = 0
	ListRoom     = 1
	ListChild    = 2
	ListArchived = 4
	ListDeleted  = 9
)

// The ranks of the owner's list. Spec SP-LIST-13.
const (
	RankAttention = 0
	RankError     = 1
	RankUnread    = 2
	RankRunning   = 3
	RankRest      = 4
)

// Head is the changing half of a session's row.
type Head struct {
	SID            int64
	LastSeq        int64
	ChatSeq        int64
	ChatKSeq       int64
	ChatAt         int64
	UpdatedAt      int64
	RecordAt       int64
	Tick           int64
	RunningTurn    string
	LastOutcome    string
	LastEndedAt    int64
	LastReplyAt    int64
	LastError      string // text.Text as JSON, "" without one
	Pending        int64
	OpenTools      int64
	OpenBackground int64
	TokensIn       int64
	TokensOut      int64
	PlanSeq        int64
	UsageSeq       int64
	ClearedSeq     int64
	CompactedSeq   int64
	Children       int64
	SubAttention   int64
	SubBusy        int64
	SubTokensIn    int64
	SubTokensOut   int64
	List           int64
	Rank           int64
}

const headColumns = `h.sid, h.last_seq, h.ch_last_seq, h.ch_last_kseq, h.ch_last_at, h.updated_at, h.record_at, h.tick, h.running_turn_id,
	h.last_outcome, h.last_ended_at, h.last_reply_at, h.last_error, h.pending_actions, h.open_tools, h.open_background, h.tokens_in,
	h.tokens_out, h.plan_seq, h.usage_seq, h.cleared_seq, h.children, h.sub_attention, h.sub_busy, h.sub_tokens_in, h.sub_tokens_out,
	h.list, h.rank, h.compacted_seq`

const headWidth = 29

func scanHead(r row) Head {
	return Head{
		SID: r.int(0), LastSeq: r.int(1), ChatSeq: r.int(2), ChatKSeq: r.int(3), ChatAt: r.int(4), UpdatedAt: r.int(5), RecordAt: r.int(6),
		Tick: r.int(7), RunningTurn: r.str(8), LastOutcome: r.str(9), LastEndedAt: r.int(10), LastReplyAt: r.int(11), LastError: r.str(12),
		Pending: r.int(13), OpenTools: r.int(14), OpenBackground: r.int(15), TokensIn: r.int(16), TokensOut: r.int(17), PlanSeq: r.int(18),
		UsageSeq: r.int(19), ClearedSeq: r.int(20), Children: r.int(21), SubAttention: r.int(22), SubBusy: r.int(23), SubTokensIn: r.int(24),
		SubTokensOut: r.int(25), List: r.int(26), Rank: r.int(27), CompactedSeq: r.int(28),
	}
}

// busy reports whether the session counts for its ancestors' background number.
func (h *Head) busy() bool { return h.RunningTurn != "" || h.OpenBackground > 0 }

// Head reads a session's head through the transaction's own changes.
func (tx *Tx) Head(sid int64) (*Head, error) {
	if h, ok := tx.heads[sid]; ok {
		return h, nil
	}
	h, err := tx.reads.Head(sid)
	if err != nil {
		return nil, err
	}
	tx.heads[sid] = &h
	return &h, nil
}

// Head reads a session's head; ErrNotFound without one.
func (r reads) Head(sid int64) (Head, error) {
	var h Head
	found, err := r.c.one("SELECT "+headColumns+" FROM session_heads h WHERE h.sid = ?", []any{sid}, func(w row) { h = scanHead(w) })
	if err == nil && !found {
		err = ErrNotFound
	}
	return h, err
}

func (tx *Tx) writeHead(h *Head) error {
	_, err := tx.c.exec(`INSERT INTO session_heads(sid, last_seq, ch_last_seq, ch_last_kseq, ch_last_at, updated_at, record_at, tick,
		running_turn_id, last_outcome, last_ended_at, last_reply_at, last_error, pending_actions, open_tools, open_background, tokens_in,
		tokens_out, plan_seq, usage_seq, cleared_seq, children, sub_attention, sub_busy, sub_tokens_in, sub_tokens_out, list, rank,
		compacted_seq)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT(sid) DO UPDATE SET last_seq=excluded.last_seq, ch_last_seq=excluded.ch_last_seq, ch_last_kseq=excluded.ch_last_kseq,
		ch_last_at=excluded.ch_last_at, updated_at=excluded.updated_at, record_at=excluded.record_at, tick=excluded.tick,
		running_turn_id=excluded.running_turn_id, last_outcome=excluded.last_outcome, last_ended_at=excluded.last_ended_at,
		last_reply_at=excluded.last_reply_at, last_error=excluded.last_error, pending_actions=excluded.pending_actions,
		open_tools=excluded.open_tools, open_background=excluded.open_background, tokens_in=excluded.tokens_in,
		tokens_out=excluded.tokens_out, plan_seq=excluded.plan_seq, usage_seq=excluded.usage_seq, cleared_seq=excluded.cleared_seq,
		children=excluded.children, sub_attention=excluded.sub_attention, sub_busy=excluded.sub_busy,
		sub_tokens_in=excluded.sub_tokens_in, sub_tokens_out=excluded.sub_tokens_out, list=excluded.list, rank=excluded.rank,
		compacted_seq=excluded.compacted_seq`,
		h.SID, h.LastSeq, h.ChatSeq, zero(h.ChatKSeq), zero(h.ChatAt), h.UpdatedAt, h.RecordAt, h.Tick, null(h.RunningTurn),
		null(h.LastOutcome), zero(h.LastEndedAt), zero(h.LastReplyAt), null(h.LastError), h.Pending, h.OpenTools, h.OpenBackground,
		h.TokensIn, h.TokensOut, zero(h.PlanSeq), zero(h.UsageSeq), h.ClearedSeq, h.Children, h.SubAttention, h.SubBusy, h.SubTokensIn,
		h.SubTokensOut, h.List, h.Rank, h.CompactedSeq)
	if err != nil {
		return fmt.Errorf("writing the head: %w", err)
	}
	return nil
}

// setRank recomputes the place in the owner's list. Spec SP-LIST-13, SP-LIST-14.
func (tx *Tx) setRank(h *Head) error {
	h.Rank = RankRest
	if h.List != ListOwner && h.List != ListOwner+ListArchived {
		return nil
	}
	unread, err := tx.unread(h)
	if err != nil {
		return err
	}
	switch {
	case h.Pending+h.SubAttention > 0:
		h.Rank = RankAttention
	case h.LastOutcome == event.Errored:
		h.Rank = RankError
	case unread:
		h.Rank = RankUnread
	case h.RunningTurn != "":
		h.Rank = RankRunning
	}
	return nil
}

func (tx *Tx) unread(h *Head) (bool, error) {
	if h.LastReplyAt == 0 {
		return false, nil
	}
	var seen int64
	_, err := tx.c.one("SELECT seen_at FROM session_reads WHERE sid = ? AND principal_id = ?", []any{h.SID, event.OwnerID}, func(r row) { seen = r.int(0) })
	return h.LastReplyAt > seen, err
}

// MarkSeen sets the moment a principal last looked at a session. It is a fact about the reader, not
// about the session, and so not in the log.
func (tx *Tx) MarkSeen(sid int64, principal string) error {
	if _, err := tx.c.exec(`INSERT INTO session_reads(sid, principal_id, seen_at) VALUES (?, ?, ?)
		ON CONFLICT(sid, principal_id) DO UPDATE SET seen_at = max(seen_at, excluded.seen_at)`, sid, principal, tx.Now); err != nil {
		return fmt.Errorf("marking seen: %w", err)
	}
	if err := tx.touch(sid); err != nil {
		return err
	}
	return tx.flush()
}
