package session

import (
	"slices"

	"aalis/backend/event"
)

// pageQuery says which page of a session's conversation.
type pageQuery struct {
	below   int64 // only rows with a lower seq
	cleared int64 // only rows with a higher seq
	// open are the turns that are left out: they are not concluded.
	open  []string
	limit int // stored messages
}

// pageKinds are the events a page is made of: those that form items, and those that say where an
// item began.
var pageKinds = []event.Kind{
	event.UserMessage, event.InputDropped, event.HostNotice, event.TurnStarted, event.TurnInputJoined, event.TurnEnded,
	event.MessageStarted, event.AgentMessage, event.ReasoningStarted, event.AgentReasoning, event.ToolProposed, event.ToolCalled, event.ToolResult,
	event.HistoryCompacted,
}

// stepOf gives the model call of its turn that an event belongs to. What came of one call, her
// words, her thinking and its tools, is one stored message and is never torn apart (Spec SP-HIST-06,
// decisions D14).
func stepOf(p event.Payload) (step int, stepped bool) {
	switch p := p.(type) {
	case event.MessageStart:
		return p.Step, true
	case event.Message:
		return p.Step, true
	case event.ReasoningStart:
		return p.Step, true
	case event.Reasoning:
		return p.Step, true
	case event.Proposal:
		return p.Step, true
	case event.Call:
		return p.Step, true
	case event.Result:
		if p.Card != nil {
			return p.Card.Step, true
		}
		return 0, true
	}
	return 0, false
}

// storedMessage reports whether an event is a stored message or, with a step, ends a part of one.
func storedMessage(p event.Payload) bool {
	switch p := p.(type) {
	case event.Input:
		return p.State != event.InputPending
	case event.TurnStart:
		return p.Input != nil
	case event.InputDrop:
		return p.Reason != event.DropRemoved
	case event.Notice:
		return p.State != event.InputPending
	case event.Message:
		return !p.Fleeting
	case event.InputJoin, event.Reasoning, event.Result, event.Compacted:
		return true
	}
	return false
}

// pageScan collects the events of a page from the newest back, and finds where it may end: a step of
// a turn is never cut, nor what stands between a turn's end and the last row of the turn, to which
// the turn's item belongs.
type pageScan struct {
	limit  int
	events []event.Event // newest first
	counts []int64       // the seq of each stored message, newest first
	spans  []span        // what must not be cut, newest first
	held   *hold
	more   bool            // there is something older than the page
	called map[string]bool // calls that were made
}

type span struct{ low, high int64 }

// hold is the span that is being read.
type hold struct {
	span
	turn    string
	stepped bool // a step has been met; before, only the turn's end
	step    int
	counted bool
}

// take looks at the next older event and reports whether to go on.
func (s *pageScan) take(e event.Event) bool {
	switch p := e.Payload.(type) {
	case event.Call:
		s.called[p.CallID] = true
	case event.Proposal:
		if !s.called[p.CallID] { // a card that is seen live only; it is no row of its step
			return true
		}
	}
	step, stepped := stepOf(e.Payload)
	stepped = stepped && e.Turn != "" // words of no turn are a message each
	if s.held == nil || !s.keep(e, step, stepped) {
		if len(s.counts) >= s.limit {
			s.more = forms(e.Payload)
			return !s.more
		}
		if stepped || e.Kind == event.TurnEnded {
			s.held = &hold{span: span{e.Seq, e.Seq}, turn: e.Turn, stepped: stepped, step: step}
		}
	}
	s.events = append(s.events, e)
	if storedMessage(e.Payload) {
		s.count(e, stepped)
	}
	return true
}

// forms reports whether an event alone shows that there is an item.
func forms(p event.Payload) bool {
	return storedMessage(p) || p != nil && p.EventKind() == event.TurnEnded
}

// keep reports whether an event is read because of what is held: it widens it, or stands where it may
// turn out to be inside. What cannot be either ends it.
func (s *pageScan) keep(e event.Event, step int, stepped bool) bool {
	h := s.held
	same := e.Turn == h.turn
	switch {
	case same && stepped && (!h.stepped || h.step == step):
		h.stepped, h.step, h.low = true, step, e.Seq
	case stepped, same && h.stepped && e.Kind == event.TurnStarted:
		s.release()
		return false
	case same && !h.stepped: // the turn's item stands behind this row
		h.low = e.Seq
		s.release()
	}
	return true
}

func (s *pageScan) release() {
	s.spans = append(s.spans, s.held.span)
	s.held = nil
}

func (s *pageScan) count(e event.Event, stepped bool) {
	if stepped {
		if s.held.counted {
			return
		}
		s.held.counted = true
	}
	s.counts = append(s.counts, e.Seq)
}

// done gives the page's events, newest first, and the seq of its oldest row, 0 when nothing older
// exists.
func (s *pageScan) done() (events []event.Event, oldest int64) {
	if s.held != nil {
		s.release()
	}
	if len(s.counts) < s.limit {
		return s.events, 0
	}
	cut := s.counts[s.limit-1]
	for _, one := range s.spans {
		if one.low <= cut && cut <= one.high {
			cut = one.low
		}
	}
	end := len(s.events)
	for end > 0 && s.events[end-1].Seq < cut {
		end--
		s.more = s.more || forms(s.events[end].Payload)
	}
	if !s.more {
		return s.events[:end], 0
	}
	return s.events[:end], cut
}

// placing draws the events of a page, oldest first, and says where each item stands.
type placing struct {
	*drawing
	rows      map[string]int64 // seq of what opened an item, by event id
	proposals map[string]int64 // by call id
	lastOf    map[string]int64 // newest row of a turn so far
	items     []placed
}

func (p *placing) event(e event.Event) error {
	switch payload := e.Payload.(type) {
	case event.MessageStart, event.ReasoningStart:
		p.rows[e.ID] = e.Seq
		return nil
	case event.Proposal:
		p.proposals[payload.CallID] = e.Seq
		return nil
	case event.Call:
		p.rows[e.ID] = e.Seq
		p.calls[e.ID] = e
		return nil
	case event.TurnStart:
		p.lastOf[e.Turn] = e.Seq
	}
	pushes, err := p.drawing.event(e)
	if err != nil {
		return err
	}
	for _, push := range pushes {
		if _, isUsage := push.item.(*UsageItem); isUsage {
			continue // only the newest is an item, behind the page
		}
		// A card of a call that was never made is seen live only (Spec SP-TOOL-14).
		card, isCard := push.item.(*ToolCallItem)
		if push.method != completed || isCard && bool(card.NotExecuted) || isFleeting(e.Payload) {
			continue
		}
		p.place(e, push.item)
	}
	return nil
}

// isFleeting tells the last words of a turn that ended in silence: they are seen live only
// (Spec SP-REFR-08).
func isFleeting(p event.Payload) bool {
	m, ok := p.(event.Message)
	return ok && m.Fleeting
}

func (p *placing) place(e event.Event, item SessionItem) {
	seq, behind := e.Seq, false
	switch payload := e.Payload.(type) {
	case event.TurnEnd:
		if last, known := p.lastOf[payload.TurnID]; known {
			seq = last
		}
		behind = true
	case event.Message, event.Reasoning:
		if row, known := p.rows[e.Parent]; known {
			seq = row
		}
	case event.Result:
		if row, known := p.proposals[payload.CallID]; known {
			seq = row
		} else if row, known := p.rows[e.Parent]; known {
			seq = row
		}
	}
	if turn := item.itemBase().TurnID; turn != "" {
		p.lastOf[turn] = max(p.lastOf[turn], seq)
	}
	p.items = append(p.items, placed{seq, behind, item})
}

func (p *placing) sorted() []placed {
	slices.SortStableFunc(p.items, placed.compare)
	return p.items
}
