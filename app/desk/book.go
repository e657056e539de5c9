package desk

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"aalis/backend/wire/session"
)

// book is what the pushes have told so far. It knows no connection and no clock.
type book struct {
	requests map[string]Request
	order    []string // ids of the requests, oldest first
	sessions map[string]entry
}

// entry is a session as far as it is told of.
type entry struct {
	title  string
	path   []session.SessionRef // those above it, root first
	kind   session.SessionKind
	turn   time.Time // when the running turn began, zero while none runs
	ended  int64     // when the latest turn ended
	failed bool      // and nobody has looked since
	old    bool      // told by a connection that has ended
}

// mostSessions bounds what is remembered of sessions in which nothing happens.
const mostSessions = 2000

func newBook() book {
	return book{requests: make(map[string]Request), sessions: make(map[string]entry)}
}

// age marks what the connection that has ended told. It stands until the next one has told its own.
func (b *book) age() {
	for id, e := range b.sessions {
		e.old = true
		b.sessions[id] = e
	}
}

// renew drops the requests of the connection before: those that wait still are told again.
func (b *book) renew() {
	clear(b.requests)
	b.order = nil
}

// begin takes a page of the list: what ended before is no news. What a push has told is newer; what is
// not in the page has not changed for long.
func (b *book) begin(list []session.SessionSummary, now time.Time) {
	for _, s := range list {
		before, told := b.sessions[s.ID]
		if told && !before.old {
			continue
		}
		e := entryOf(s, now)
		e.failed = before.failed && s.Error
		if s.Running && !before.turn.IsZero() {
			e.turn = before.turn
		}
		b.sessions[s.ID] = e
	}
	for id, e := range b.sessions {
		if e.old {
			delete(b.sessions, id)
		}
	}
}

func entryOf(s session.SessionSummary, now time.Time) entry {
	e := entry{title: s.Title, path: s.Ancestors, kind: s.Kind}
	if s.Running {
		e.turn = now
	}
	if s.LastTurn != nil {
		e.ended = s.LastTurn.EndedAt
	}
	return e
}

func (b *book) ask(a session.Approval) {
	if _, known := b.requests[a.ID]; !known {
		b.order = append(b.order, a.ID)
	}
	b.requests[a.ID] = Request{
		ID: a.ID, Session: a.SessionID, Who: whoOf(a), What: whatOf(a), Where: a.Facts.Cwd,
		Expires: time.UnixMilli(a.ExpiresAt), hash: a.ContentHash,
	}
}

// whoOf names the session by what the approval itself tells, for as long as the list has not.
func whoOf(a session.Approval) string {
	var titles []string
	for _, s := range a.Chain {
		titles = append(titles, s.Title)
	}
	return strings.Join(titles, between)
}

// between stands between the titles of a path.
const between = " › "

// whatOf is the one thing that a person decides on.
func whatOf(a session.Approval) string {
	if a.Facts.Command != "" {
		return a.Facts.Command
	}
	if a.Facts.Diff != nil {
		return a.Tool + " " + a.Facts.Diff.Path
	}
	params, err := json.Marshal(a.Facts.Params)
	if err != nil || len(a.Facts.Params) == 0 {
		return a.Tool
	}
	return a.Tool + " " + string(params)
}

func (b *book) settle(id string) (changed bool) {
	if _, known := b.requests[id]; !known {
		return false
	}
	delete(b.requests, id)
	b.order = slices.DeleteFunc(b.order, func(other string) bool { return other == id })
	return true
}

// change takes what the list of sessions tells and gives the turns that have ended since.
func (b *book) change(p session.SessionsChanged, now time.Time) (ended []Turn) {
	for _, id := range p.Removes {
		delete(b.sessions, id)
	}
	for _, s := range p.Upserts {
		before, known := b.sessions[s.ID]
		e := entryOf(s, now)
		e.failed = before.failed && s.Error
		e.ended = max(e.ended, before.ended) // a rewind leaves an older one as the latest
		if s.Running && !before.turn.IsZero() {
			e.turn = before.turn
		}
		news := s.LastTurn != nil && s.LastTurn.EndedAt > before.ended && (known || !before.turn.IsZero() || recent(s.LastTurn.EndedAt, now))
		if news {
			if s.Running { // the next one has begun
				e.turn = now
			}
			failed := s.LastTurn.Outcome == session.OutcomeError
			e.failed = failed
			if s.Kind != session.KindTask {
				ended = append(ended, Turn{
					Session: s.ID, Title: s.Title, Failed: failed, Reason: s.Reason, Replied: s.LastTurn.Outcome == session.OutcomeReplied,
					Room: s.Kind == session.KindRoom, Took: took(before.turn, s.LastTurn.EndedAt),
				})
			}
		}
		b.sessions[s.ID] = e
	}
	b.prune()
	return ended
}

// recent tells a turn that has just ended, in a session that was not known, from one of long ago in a
// session that changed otherwise.
func recent(endedAt int64, now time.Time) bool { return now.UnixMilli()-endedAt < 5_000 }

func took(began time.Time, endedAt int64) time.Duration {
	if began.IsZero() {
		return 0
	}
	return max(0, time.UnixMilli(endedAt).Sub(began))
}

// prune forgets sessions in which nothing happens, when there are many.
func (b *book) prune() {
	if len(b.sessions) <= mostSessions {
		return
	}
	asking := make(map[string]bool)
	for _, r := range b.requests {
		asking[r.Session] = true
	}
	for id, e := range b.sessions {
		if e.turn.IsZero() && !e.failed && !asking[id] {
			delete(b.sessions, id)
		}
	}
}

// forgive takes the marks of failures off and reports whether there were any.
func (b *book) forgive() (changed bool) {
	for id, e := range b.sessions {
		if e.failed {
			e.failed, changed = false, true
			b.sessions[id] = e
		}
	}
	return changed
}

// state is everything there is to tell.
func (b *book) state() State {
	s := State{}
	for _, id := range slices.Backward(b.order) {
		r := b.requests[id]
		if e, known := b.sessions[r.Session]; known {
			r.Who = e.who()
		}
		s.Requests = append(s.Requests, r)
	}
	for _, e := range b.sessions {
		if !e.turn.IsZero() {
			s.Working++
		}
		s.Failed = s.Failed || e.failed
	}
	return s
}

func (e entry) who() string {
	titles := make([]string, 0, len(e.path)+1)
	for _, s := range e.path {
		titles = append(titles, s.Title)
	}
	return strings.Join(append(titles, e.title), between)
}
