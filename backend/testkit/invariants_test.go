package testkit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"aalis/backend/event"
	"aalis/backend/store"
)

// heard collects failures instead of failing.
type heard struct {
	testing.TB
	said []string
}

func (h *heard) Helper() {}
func (h *heard) Errorf(format string, args ...any) {
	h.said = append(h.said, fmt.Sprintf(format, args...))
}

// log builds rows as a session's log has them.
type log []store.Row

func (l *log) event(id, turn, parent string, p event.Payload) {
	seq := int64(len(*l))
	*l = append(*l, store.Row{Seq: seq, Event: &event.Event{ID: id, Seq: seq, Kind: p.EventKind(), Turn: turn, Parent: parent, Payload: p}})
}

func (l *log) text(kind event.DeltaKind, start, idx int64, words string) {
	*l = append(*l, store.Row{Seq: int64(len(*l)), Start: start, Kind: kind, Idx: idx, Text: words})
}

// whole is a log with everything in it and nothing wrong with it.
func whole() log {
	var l log
	l.event("s", "", "", event.Created{})
	l.event("in", "t", "", event.Input{})
	l.event("t", "t", "", event.TurnStart{})
	l.event("r", "t", "t", event.ReasoningStart{})
	l.text(event.ReasoningDelta, 3, 0, "hm")
	l.event("r2", "t", "r", event.Reasoning{Text: "hm"})
	l.event("c", "t", "t", event.Call{})
	l.event("a", "t", "c", event.Action{})
	l.event("a2", "t", "a", event.Resolution{})
	l.text(event.OutputDelta, 6, 0, "out")
	l.event("c2", "t", "c", event.Result{})
	l.event("m", "t", "t", event.MessageStart{})
	l.text(event.TextDelta, 11, 0, "Hel")
	l.text(event.TextDelta, 11, 1, "lo")
	l.event("m2", "t", "m", event.Message{Text: "Hello", Final: true})
	l.event("e", "t", "t", event.TurnEnd{})
	l.event("d", "", "", event.Deleted{})
	for i, chat := range []int{2, 12, 13, 14, 15} {
		l[chat].ChatSeq = int64(i + 1)
	}
	return l
}

func without(l log, at int) log { return renumber(slices.Delete(l, at, at+1), at) }

// renumber closes the hole that a removal left.
func renumber(l log, from int) log {
	for i := from; i < len(l); i++ {
		l[i].Seq--
		if l[i].Event != nil {
			l[i].Event.Seq--
		}
		if l[i].Start > int64(from) {
			l[i].Start--
		}
	}
	var chat int64
	for i := range l {
		if l[i].ChatSeq != 0 {
			chat++
			l[i].ChatSeq = chat
		}
	}
	return l
}

func broken(l log) []string {
	h := &heard{}
	c := checker{t: h, session: "s", rows: l}
	c.run()
	return h.said
}

func TestAWholeLogIsWhole(t *testing.T) {
	if said := broken(whole()); len(said) > 0 {
		t.Error(said)
	}
}

func TestEveryBreachIsFound(t *testing.T) {
	for name, tc := range map[string]struct {
		rule   string
		breach func(l log) log
	}{
		"a hole":                      {"I1", func(l log) log { return slices.Delete(l, 1, 2) }},
		"a number twice":              {"I1", func(l log) log { l[5].Seq = 4; return l }},
		"other words than the pieces": {"I2", func(l log) log { l[14].Event.Payload = event.Message{Text: "Hell"}; return l }},
		"other thoughts":              {"I2", func(l log) log { l[5].Event.Payload = event.Reasoning{Text: "hmm"}; return l }},
		"a piece behind its message":  {"I2", func(l log) log { l[13], l[14] = l[14], l[13]; l[13].Seq, l[14].Seq = 13, 14; return l }},
		"a row of text twice":         {"I2", func(l log) log { l[13].Idx = 0; return l }},
		"a row of text left out":      {"I2", func(l log) log { l[4].Idx = 1; return l }},
		"a message that never ends":   {"I2", func(l log) log { return without(l, 14) }},
		"a thought that never ends":   {"I2", func(l log) log { return without(l, 5) }},
		"a turn that never starts":    {"I3", func(l log) log { return without(l, 2) }},
		"a call without a result":     {"I4", func(l log) log { return without(l, 10) }},
		"a result without a call":     {"I4", func(l log) log { return without(without(l, 9), 6) }},
		"an action without an answer": {"I5", func(l log) log { return without(l, 8) }},
		"an answer behind the result": {"I5", func(l log) log { l[8].Event, l[10].Event = l[10].Event, l[8].Event; return l }},
		"a reply in a stopped turn": {"I6", func(l log) log {
			l[1].Event.Kind, l[1].Event.Payload = event.UserInterrupt, event.Interrupt{}
			return l
		}},
		"a hole in the chat's numbers":  {"I7", func(l log) log { l[13].ChatSeq = 9; return l }},
		"something after the tombstone": {"I8", func(l log) log { l.event("x", "", "", event.Notice{}); return l }},
		"two turns at once": {"I3", func(l log) log {
			l[1].Event = &event.Event{ID: "t0", Seq: 1, Kind: event.TurnStarted, Turn: "t0", Payload: event.TurnStart{}}
			return l
		}},
	} {
		t.Run(name, func(t *testing.T) {
			said := strings.Join(broken(tc.breach(whole())), "\n")
			if !strings.Contains(said, tc.rule) {
				t.Errorf("not found: %q", said)
			}
		})
	}
}
