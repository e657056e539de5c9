// Package testkit owns what tests of several packages share: the invariants of the log, and the
// harness that opens everything. It is imported by tests only and never by the program.
package testkit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aalis/backend/event"
	"aalis/backend/store"
)

// Check holds every session's log to the invariants I1 to I8 of the kernel's design.
func Check(t testing.TB, st *store.Store) {
	t.Helper()
	if err := st.Read(context.Background(), func(tx *store.ReadTx) error {
		sessions, err := tx.AllSessions()
		if err != nil {
			return err
		}
		for _, s := range sessions {
			var rows []store.Row
			for after := int64(-1); ; {
				page, err := tx.Rows(s.SID, after, 500)
				if err != nil {
					return err
				}
				if len(page) == 0 {
					break
				}
				rows = append(rows, page...)
				after = page[len(page)-1].Seq
			}
			c := checker{t: t, session: s.ID, rows: rows, erased: s.DeletedAt != 0}
			c.run()
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

type checker struct {
	t       testing.TB
	session string
	rows    []store.Row
	erased  bool // payloads and text may be gone
}

func (c *checker) fail(rule, format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("session %s: "+rule+": "+format, append([]any{c.session}, args...)...)
}

func (c *checker) run() {
	c.t.Helper()
	if !c.erased { // an erased session has holes where its text was
		c.numbers()
		c.texts()
		c.indexes()
	}
	c.turns()
	c.ends()
}

// numbers is I1 and I7.
func (c *checker) numbers() {
	c.t.Helper()
	var chat int64
	for i, r := range c.rows {
		if r.Seq != int64(i) {
			c.fail("I1", "row %d has seq %d", i, r.Seq)
			return
		}
		if r.ChatSeq != 0 {
			if chat++; r.ChatSeq != chat {
				c.fail("I7", "seq %d has chat number %d, want %d", r.Seq, r.ChatSeq, chat)
				return
			}
		}
	}
}

// indexes holds the rows of text to their numbering: 0, 1, 2… over her words in a turn, which the chat API
// shows as delta_index, and over everything else in its item; words of no turn are such.
func (c *checker) indexes() {
	c.t.Helper()
	turn, next := map[int64]string{}, map[string]int64{}
	for _, r := range c.rows {
		if r.Event != nil {
			turn[r.Seq] = r.Event.Turn
			continue
		}
		series := fmt.Sprint(r.Start)
		if r.Kind == event.TextDelta && turn[r.Start] != "" {
			series = turn[r.Start]
		}
		if r.Idx != next[series] {
			c.fail("I2", "text at %d has index %d, want %d", r.Seq, r.Idx, next[series])
			return
		}
		next[series]++
	}
}

// texts is I2, for her words and her thinking.
func (c *checker) texts() {
	c.t.Helper()
	said, start := map[int64]*strings.Builder{}, map[string]int64{}
	for _, r := range c.rows {
		if r.Event == nil {
			if said[r.Start] == nil {
				c.fail("I2", "text at %d belongs to no open item (%d)", r.Seq, r.Start)
				return
			}
			said[r.Start].WriteString(r.Text)
			continue
		}
		switch p := r.Event.Payload.(type) {
		case event.MessageStart, event.ReasoningStart, event.Call:
			said[r.Seq], start[r.Event.ID] = &strings.Builder{}, r.Seq
		case event.Message:
			c.same(r.Event, start, said, p.Text)
		case event.Reasoning:
			c.same(r.Event, start, said, p.Text)
		case event.Result:
			delete(said, start[r.Event.Parent])
		}
	}
}

func (c *checker) same(e *event.Event, start map[string]int64, said map[int64]*strings.Builder, text string) {
	c.t.Helper()
	b := said[start[e.Parent]]
	if b == nil {
		c.fail("I2", "%s at %d completes nothing that is open", e.Kind, e.Seq)
		return
	}
	if b.String() != text {
		c.fail("I2", "%s at %d is %q, its deltas are %q", e.Kind, e.Seq, text, b.String())
	}
	delete(said, start[e.Parent])
}

// turns is I3 to I6.
func (c *checker) turns() {
	c.t.Helper()
	var running string
	open := map[string]string{} // event id → what it still lacks
	interrupted := map[string]bool{}
	for _, r := range c.rows {
		e := r.Event
		if e == nil {
			continue
		}
		switch e.Kind {
		case event.TurnStarted:
			if running != "" {
				c.fail("I3", "turn %s starts at %d while %s runs", e.Turn, e.Seq, running)
			}
			running = e.Turn
		case event.TurnEnded:
			if running != e.Turn {
				c.fail("I3", "turn %s ends at %d while %q runs", e.Turn, e.Seq, running)
			}
			running = ""
			for id, lacks := range open {
				c.fail("I2/I4/I5", "%s has no %s before its turn ends at %d", id, lacks, e.Seq)
			}
			clear(open)
		case event.UserInterrupt:
			interrupted[e.Turn] = true
		case event.MessageStarted:
			open[e.ID] = string(event.AgentMessage)
		case event.ReasoningStarted:
			open[e.ID] = string(event.AgentReasoning)
		case event.ToolCalled:
			open[e.ID] = string(event.ToolResult)
		case event.ActionRequested:
			open[e.ID] = string(event.ActionResolved)
		case event.ActionResolved, event.ToolResult:
			if open[e.Parent] != string(e.Kind) {
				c.fail("I4/I5", "%s at %d settles %s, which lacks %q", e.Kind, e.Seq, e.Parent, open[e.Parent])
			}
			delete(open, e.Parent)
			c.unanswered(e, open)
		case event.AgentReasoning:
			delete(open, e.Parent)
		case event.AgentMessage:
			delete(open, e.Parent)
			if m, ok := e.Payload.(event.Message); ok && m.Final && interrupted[e.Turn] {
				c.fail("I6", "a final message at %d in an interrupted turn", e.Seq)
			}
		}
	}
}

// unanswered is the second half of I5: no action of a call is open behind its result.
func (c *checker) unanswered(e *event.Event, open map[string]string) {
	c.t.Helper()
	if e.Kind != event.ToolResult {
		return
	}
	for _, r := range c.rows {
		if r.Event != nil && r.Event.Kind == event.ActionRequested && r.Event.Parent == e.Parent && open[r.Event.ID] != "" {
			c.fail("I5", "action %s is open behind its call's result at %d", r.Event.ID, e.Seq)
		}
	}
}

// ends is I8.
func (c *checker) ends() {
	c.t.Helper()
	i := slices.IndexFunc(c.rows, func(r store.Row) bool { return r.Event != nil && r.Event.Kind == event.SessionDeleted })
	if i >= 0 && i != len(c.rows)-1 {
		c.fail("I8", "%d rows behind the tombstone", len(c.rows)-1-i)
	}
}
