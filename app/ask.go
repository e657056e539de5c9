package app

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aalis/backend/fault"
	"aalis/backend/wire/session"
)

// request puts an approval of this session to the person at the terminal. Those of other sessions are
// for other surfaces.
func (s *sending) request(a session.Approval) {
	ours := a.SessionID == s.session || slices.ContainsFunc(a.Chain, func(r session.SessionRef) bool { return r.ID == s.session })
	known := slices.ContainsFunc(s.ask, func(b session.Approval) bool { return b.ID == a.ID })
	if !ours || known || !s.interactive() {
		return
	}
	s.ask = append(s.ask, a)
	if s.lines == nil {
		s.lines = make(chan string)
		// It waits in a read that nothing can interrupt, and ends with the process.
		go readLines(bufio.NewReader(s.p.in), s.lines)
	}
	if len(s.ask) == 1 {
		s.askFirst()
	}
}

func readLines(from *bufio.Reader, to chan<- string) {
	defer close(to)
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			return
		}
		to <- strings.TrimSpace(line)
	}
}

func (s *sending) askFirst() {
	a := s.ask[0]
	s.asked = time.Now()
	fmt.Fprintf(s.p.err, "\n%s\n%s%s", s.p.say("approval.cli-ask"), s.p.facts(a), s.p.say("approval.cli-prompt"))
}

// settled takes an approval off the list that was answered elsewhere or has ended.
func (s *sending) settled(id string, state session.SettledState) {
	at := slices.IndexFunc(s.ask, func(a session.Approval) bool { return a.ID == id })
	if at < 0 {
		return
	}
	if at == 0 {
		s.note("\n" + s.p.say("approval.cli-settled", "state", s.p.settledWord(state)))
	}
	s.dropAsked(at)
}

func (s *sending) dropAsked(at int) {
	s.ask = slices.Delete(s.ask, at, at+1)
	if at == 0 && len(s.ask) > 0 {
		s.askFirst()
	}
}

// answer takes a typed line. Only a clear yes approves; everything else that is not empty denies, and
// is what the model is told.
func (s *sending) answer(ctx context.Context, line string) error {
	if len(s.ask) == 0 {
		return nil
	}
	if time.Since(s.asked) < readingTime {
		s.note(s.p.say("approval.cli-again"))
		return nil
	}
	decision, note := session.Deny, ""
	switch strings.ToLower(line) {
	case "":
		s.note(s.p.say("approval.cli-again"))
		return nil
	case "y", "yes", "是":
		decision = session.Approve
	case "n", "no", "否":
	default:
		note = line
		if runes := []rune(note); len(runes) > maxNote {
			note = string(runes[:maxNote])
		}
	}
	err := s.l.respond(ctx, s.ask[0], decision, note)
	if f, settled := asFault(err); settled {
		s.note(f.Message.In(s.p.lang))
		err = nil
	}
	if err != nil {
		return err
	}
	s.dropAsked(0)
	return nil
}

const (
	// readingTime is how long a question must have been shown before a line counts as its answer: one
	// that was typed ahead, or for the question before, must not approve what nobody has read.
	readingTime = 500 * time.Millisecond
	// maxNote keeps a note within the protocol's 2000 UTF-16 units.
	maxNote = 1000
)

// asFault tells a refused answer, after which the turn goes on, from a broken connection.
func asFault(err error) (*fault.Fault, bool) {
	for _, code := range []fault.Code{fault.ApprovalSettled, fault.NotFound, fault.Forbidden, fault.HashMismatch, fault.Expired} {
		if fault.Is(err, code) {
			return fault.Of(err), true
		}
	}
	return nil, false
}
