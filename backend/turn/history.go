package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
)

// The topics of notices that this package writes or passes on to the model. All others are for
// people only.
const (
	noticeLimit      = "tool-limit"
	noticeBackground = event.TopicBackground
	noticeSubtask    = event.TopicSubtask
)

// told are the kinds a conversation is made of, for the model. Everything else in the log is not
// for it (kernel C21).
var told = []event.Kind{
	event.UserMessage, event.TurnStarted, event.TurnInputJoined, event.AgentMessage, event.AgentReasoning, event.ToolCalled, event.ToolResult,
	event.HostNotice,
}

// history reads a session's conversation as a model is told it: without what was cleared and
// without turns that were undone, every input where it entered its turn, and the summary in place of
// what it covers.
func (r *Reactor) history(ctx context.Context, sid int64) ([]engine.Entry, error) {
	var c conversation
	err := r.loop.Read(ctx, func(tx *store.ReadTx) error { return c.read(tx, sid, r.options.Files) })
	return c.said, err
}

// remarksMax is how many of the remarks in a room she reads that were said in no turn: the newest.
const remarksMax = 100

// forgetRemarks leaves out older remarks.
func (c *conversation) forgetRemarks() {
	old := len(c.remarks) - remarksMax
	if old <= 0 {
		return
	}
	drop := make(map[int]bool, old)
	for _, at := range c.remarks[:old] {
		drop[at] = true
	}
	said, seqs := make([]engine.Entry, 0, len(c.said)-old), make([]int64, 0, len(c.said)-old)
	for at, e := range c.said {
		if !drop[at] {
			said, seqs = append(said, e), append(seqs, c.seqs[at])
		}
	}
	c.said, c.seqs = said, seqs
}

// conversation collects entries in the order of the log.
type conversation struct {
	said    []engine.Entry
	seqs    []int64 // of what made each entry; 0 for the summary
	head    store.Head
	summary event.Compacted // what stands for the beginning; Through is 0 without one
	dead    map[string]bool
	calls   map[string]int // call id → its entry, which waits for its result
	at      int64          // seq of the event that is being added
	room    bool           // what was said in no turn is for her, too
	remarks []int          // the entries of what was said in no turn
	files
}

// read takes a conversation from one moment; files are read when somebody wants them.
func (c *conversation) read(tx *store.ReadTx, sid int64, read func(hash string, most int64) ([]byte, error)) (err error) {
	if c.head, err = tx.Head(sid); err != nil {
		return err
	}
	if c.dead, err = tx.DeadTurns(sid); err != nil {
		return err
	}
	if c.summary, err = tx.Compacted(sid); err != nil {
		return err
	}
	session, err := tx.SessionBySID(sid)
	if err != nil {
		return err
	}
	c.room = session.Kind == "room"
	c.calls, c.files = map[string]int{}, files{read: read, refused: map[string][]string{}}
	if c.summary.Through > 0 {
		c.say(engine.Entry{Kind: engine.EntrySummary, Text: c.summary.Summary})
	}
	err = tx.Forwards(sid, max(c.head.ClearedSeq, c.summary.Through), told, func(e event.Event) error { c.add(e); return nil })
	c.tellRefusals()
	c.forgetRemarks()
	return err
}

func (c *conversation) say(e engine.Entry) {
	c.said = append(c.said, e)
	c.seqs = append(c.seqs, c.at)
}

func (c *conversation) add(e event.Event) {
	if c.dead[e.Turn] {
		return
	}
	c.at = e.Seq
	switch p := e.Payload.(type) {
	case event.Input: // one that had to wait is told where it entered
		switch {
		case p.State == event.InputOpened:
			c.input(e.Turn, p)
		case p.State == event.InputSwallowed && c.room:
			c.remarks = append(c.remarks, len(c.said))
			c.input("", p)
		}
	case event.TurnStart:
		if p.Input != nil {
			c.entered(e.Turn, *p.Input)
		}
	case event.InputJoin:
		c.entered(e.Turn, p.Input)
	case event.Message:
		if p.Fleeting || p.Finish == event.FinishRetry {
			return
		}
		turn := e.Turn
		if p.External { // words of no turn stand for themselves
			turn = e.ID
		}
		c.words(engine.Entry{Kind: engine.EntryAgent, TurnID: turn, Text: p.Text, Step: p.Step})
	case event.Reasoning:
		c.words(engine.Entry{Kind: engine.EntryReasoning, TurnID: e.Turn, Text: p.Text, Step: p.Step})
	case event.Notice:
		c.refusal(p)
		if (p.Topic == noticeBackground || p.Topic == noticeSubtask || p.Happened) && p.State != event.InputPending {
			c.notice(e.Turn, p)
		}
	case event.Call:
		c.calls[p.CallID] = len(c.said)
		c.say(engine.Entry{Kind: engine.EntryTool, TurnID: e.Turn, Step: p.Step, CallID: p.CallID, Tool: p.Tool, Args: p.Args})
	case event.Result:
		if at, called := c.calls[p.CallID]; called {
			c.said[at].Result = p.Text
			c.said[at].Status = engine.ToolStatus(p.Status)
		}
	}
}

func (c *conversation) words(e engine.Entry) {
	if e.Text != "" {
		c.say(e)
	}
}

// entered adds what had waited where it entered its turn.
func (c *conversation) entered(turn string, in event.Waiting) {
	if in.Notice != nil {
		c.notice(turn, *in.Notice)
		return
	}
	c.input(turn, in.Input)
}

func (c *conversation) notice(turn string, n event.Notice) {
	c.words(engine.Entry{Kind: engine.EntryNotice, TurnID: turn, Text: body(n)})
}

// body is what the model reads of a notice.
func body(n event.Notice) string {
	if n.Body != "" {
		return n.Body
	}
	return n.Text.In(text.English)
}

func (c *conversation) input(turn string, in event.Input) {
	c.say(engine.Entry{Kind: engine.EntryUser, TurnID: turn, Text: words(in), Speaker: speaker(in), Files: c.of(in)})
}

// words is what the model reads of an input: what was written, and what was forwarded with it. The log
// has only what was written (Spec SP-UMSG-02).
func words(in event.Input) string {
	var lines []string
	if in.Text != "" {
		lines = append(lines, in.Text)
	}
	return strings.Join(append(lines, forwarded(in.Forwards)...), "\n")
}

// forwarded is what the model reads of the chat records that came with an input.
func forwarded(raw json.RawMessage) (lines []string) {
	var all []event.Forward
	if len(raw) == 0 || json.Unmarshal(raw, &all) != nil {
		return nil
	}
	for _, f := range all {
		if f.Facts == nil {
			lines = append(lines, "[forwarded chat record, which could not be read]")
			continue
		}
		people := strings.Join(f.Facts.Participants, ", ")
		if f.Facts.Unlisted > 0 {
			people += fmt.Sprintf(" and %d more", f.Facts.Unlisted)
		}
		end := ""
		if f.Facts.CutOff {
			end = " (cut off)"
		}
		lines = append(lines, fmt.Sprintf("[forwarded: %d messages of %s%s]\n%s\n[end of what was forwarded]", f.Facts.Count, people, end, f.Facts.Text))
	}
	return lines
}

// speaker is the display name of who said it.
func speaker(in event.Input) string {
	if in.Speaker.Nickname != "" {
		return in.Speaker.Nickname
	}
	return in.Speaker.UserID
}
