package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// pageSize is the number of stored messages in a page that names none (Spec SP-HIST-05, decisions D4).
const pageSize = 100

// seqEnd is above every seq.
const seqEnd = 1 << 32

// sessionHistory gives an older page. It needs no subscription and starts none (Spec SP-HIST-10).
func (c *Conn) sessionHistory(ctx context.Context, p SessionHistoryParams) (SessionHistoryResult, error) {
	limit := p.Limit
	if limit == 0 {
		limit = pageSize
	}
	var result SessionHistoryResult
	err := c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		s, h, err := open(tx, p.SessionID)
		if err != nil {
			return err
		}
		q := pageQuery{below: seqEnd, cleared: h.ClearedSeq, limit: limit}
		if q.open, err = unconcluded(tx, h); err != nil {
			return err
		}
		if p.Before != nil {
			if q.below, err = readMark(tx, h, *p.Before); err != nil {
				return err
			}
		}
		page, err := c.draw(tx, s.SID, true).page(q)
		if err != nil {
			return err
		}
		result = SessionHistoryResult{Items: itemsOf(page.items), Before: page.before(s.SID)}
		return nil
	})
	return result, err
}

// open finds a living session and its head.
func open(tx *store.ReadTx, id string) (store.Session, store.Head, error) {
	s, err := tx.Session(id)
	if errors.Is(err, store.ErrNotFound) {
		return s, store.Head{}, core.NoSession(id)
	}
	if err != nil {
		return s, store.Head{}, err
	}
	h, err := tx.Head(s.SID)
	return s, h, err
}

// unconcluded lists the turns that are in no history yet: those that wait for a platform's answer, and the
// running one (Spec SP-SUB-27 to -29).
func unconcluded(tx *store.ReadTx, h store.Head) ([]string, error) {
	open, err := tx.AwaitingTurns(h.SID)
	if h.RunningTurn != "" {
		open = append(open, h.RunningTurn)
	}
	return open, err
}

// A mark says where a page ends: the seq of its oldest row, and a check that it is one of this
// session's marks. To clients it is opaque (Spec SP-HIST-02).
const markSize = 8

func markOf(sid, seq int64) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(seq))
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("history "), uint64(sid<<32+seq)))
	return base64.RawURLEncoding.EncodeToString(append(b, sum[:markSize-len(b)]...))
}

// readMark gives the seq that a mark names. A row that a rewind or a clearing took away is not found
// (Spec SP-HIST-08); anything that was never a mark of this session is invalid (decisions D12).
func readMark(tx *store.ReadTx, h store.Head, mark string) (int64, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(mark)
	if err != nil || len(b) != markSize || markOf(h.SID, int64(binary.BigEndian.Uint32(b))) != mark {
		return 0, fault.New(fault.Invalid, text.New("wire.before-form"))
	}
	seq := int64(binary.BigEndian.Uint32(b))
	e, found, err := tx.EventAt(h.SID, seq)
	if err != nil {
		return 0, err
	}
	dead := !found || seq <= h.ClearedSeq
	if !dead && e.Turn != "" {
		if dead, err = tx.Dead(h.SID, e.Turn); err != nil {
			return 0, err
		}
	}
	if dead {
		return 0, fault.New(fault.NotFound, text.New("wire.before-gone"))
	}
	return seq, nil
}

// placed is an item and where it stands: at the row with which it first appeared. A turn stands
// behind the last row of its own.
type placed struct {
	seq    int64
	behind bool
	item   SessionItem
}

func (p placed) compare(other placed) int {
	if p.seq != other.seq || p.behind == other.behind {
		return cmp.Compare(p.seq, other.seq)
	}
	if p.behind {
		return 1
	}
	return -1
}

func itemsOf(all []placed) []SessionItem {
	items := make([]SessionItem, len(all))
	for i, p := range all {
		items[i] = p.item
	}
	return items
}

// page is concluded items, oldest first.
type page struct {
	items []placed
	// oldest is where the next page ends, 0 when nothing older exists.
	oldest int64
}

func (p page) before(sid int64) string {
	if p.oldest == 0 {
		return ""
	}
	return markOf(sid, p.oldest)
}

// page draws the items of one page.
func (d *drawing) page(q pageQuery) (page, error) {
	scan := pageScan{limit: q.limit, called: make(map[string]bool)}
	err := d.tx.Timeline(store.Timeline{SID: d.sid, Above: q.cleared, Below: q.below, Kinds: pageKinds, Without: q.open},
		func(e event.Event) (bool, error) { return scan.take(e), nil })
	if err != nil {
		return page{}, err
	}
	events, oldest := scan.done()
	p := placing{drawing: d, rows: make(map[string]int64), proposals: make(map[string]int64), lastOf: make(map[string]int64)}
	for i := len(events) - 1; i >= 0; i-- {
		if err := p.event(events[i]); err != nil {
			return page{}, err
		}
	}
	return page{items: p.sorted(), oldest: oldest}, nil
}
