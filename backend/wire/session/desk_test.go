package session_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"aalis/backend/core"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

// m is the params of a request.
type m = map[string]any

// desk is a session service over a log.
type desk struct {
	*kernel
	server   *session.Server
	language text.Language
}

// newDesk opens a service over the log in dir. It runs in a bubble.
func newDesk(t *testing.T, dir string, change ...func(*core.Options)) *desk {
	t.Helper()
	d := &desk{kernel: startKernel(t, dir, change...), language: text.English}
	d.server = serve(t, session.Options{Loop: d.loop, Language: func() text.Language { return d.language }})
	return d
}

// person is a connection of the owner's that has shaken hands.
type person struct {
	*line
	t    *testing.T
	last int // id of the newest request
	read int // frames looked at by changes
}

func (d *desk) person(t *testing.T) *person {
	t.Helper()
	p := &person{line: dial(d.server), t: t}
	t.Cleanup(p.Close)
	p.Receive(hello)
	p.answer(t, "0")
	return p
}

// take is what a transport does with a frame.
func (l *line) take(frame string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frames = append(l.frames, frame)
}

type failure struct {
	Code    int
	Message string
	Data    struct{ Code string }
}

// request sends a request and gives what it is answered.
func (p *person) request(method string, params any) (result json.RawMessage, refused *failure) {
	p.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		p.t.Fatal(err)
	}
	p.last++
	id := fmt.Sprint(p.last)
	p.Receive(ask(id, method, string(raw)))
	synctest.Wait()
	var frame struct {
		Result json.RawMessage
		Error  *failure
	}
	if err := json.Unmarshal([]byte(p.answer(p.t, id)), &frame); err != nil {
		p.t.Fatal(err)
	}
	return frame.Result, frame.Error
}

// call is a request that must succeed.
func call[R any](p *person, method string, params any) (result R) {
	p.t.Helper()
	raw, refused := p.request(method, params)
	if refused != nil {
		p.t.Fatalf("%s %v: %+v", method, params, refused)
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		p.t.Fatal(err)
	}
	return result
}

// do is call for methods with nothing to report.
func (p *person) do(method string, params any) {
	p.t.Helper()
	if raw, refused := p.request(method, params); refused != nil || string(raw) != "{}" {
		p.t.Fatalf("%s %v: %s %+v", method, params, raw, refused)
	}
}

// refused gives the reason, or the number of what has none.
func (p *person) refused(method string, params any) string {
	p.t.Helper()
	raw, refused := p.request(method, params)
	switch {
	case refused == nil:
		p.t.Fatalf("%s %v was not refused: %s", method, params, raw)
		return ""
	case refused.Message == "":
		p.t.Errorf("%s %v was refused without a word", method, params)
	}
	if refused.Data.Code != "" {
		return refused.Data.Code
	}
	return fmt.Sprint(refused.Code)
}

const invalidParams = "-32602"

// list is sessions/list, with titles.
func (p *person) list(params m) (titles []string) {
	p.t.Helper()
	return titlesOf(call[session.SessionsListResult](p, "sessions/list", params).Sessions)
}

func titlesOf(lines []session.SessionSummary) []string {
	titles := []string{}
	for _, s := range lines {
		titles = append(titles, s.Title)
	}
	return titles
}

// find gives a session's line by its title, wherever it stands.
func (p *person) find(title string) session.SessionSummary {
	p.t.Helper()
	seen := map[string]bool{}
	var in func(params m) *session.SessionSummary
	in = func(params m) *session.SessionSummary {
		for _, archived := range []bool{false, true} {
			params["archived"], params["limit"] = archived, 200
			for _, s := range call[session.SessionsListResult](p, "sessions/list", params).Sessions {
				if s.Title == title {
					return &s
				}
				if s.ChildCount > 0 && !seen[s.ID] {
					seen[s.ID] = true
					if below := in(m{"parentId": s.ID}); below != nil {
						return below
					}
				}
			}
		}
		return nil
	}
	s := in(m{})
	if s == nil {
		p.t.Fatalf("no session %q", title)
	}
	return *s
}

// pushed lists the params of a notification that the person was sent since it was last asked.
func pushed[P any](p *person, method string) (all []P) {
	p.t.Helper()
	synctest.Wait()
	frames := p.sent()
	for _, frame := range frames[p.read:] {
		if !strings.HasPrefix(frame, `{"jsonrpc":"2.0","method":"`+method+`"`) {
			continue
		}
		var n struct{ Params P }
		if err := json.Unmarshal([]byte(frame), &n); err != nil {
			p.t.Fatal(err)
		}
		all = append(all, n.Params)
	}
	p.read = len(frames)
	return all
}

func (p *person) changes() []session.SessionsChanged {
	p.t.Helper()
	return pushed[session.SessionsChanged](p, "sessions/changed")
}
