package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"aalis/backend/approval"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/testkit"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

func TestAnyFrameFitsTheContract(t *testing.T) {
	t.Run("SP-PKG-12 SP-AMSG-11 whatever is done and asked, every result and notification fits its schema, and nothing of the owner's is undelivered", func(t *testing.T) {
		contract := readPublished(t)
		answered, pushed := map[string]bool{}, map[string]bool{}
		rapid.Check(t, func(rt *rapid.T) {
			// A seed, because drawn numbers are small ones most of the time.
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
			choices := make([]int, rapid.IntRange(20, 1500).Draw(rt, "choices"))
			for i := range choices {
				choices[i] = random.IntN(1 << 16)
			}
			said := testkit.Try(t, func(t testing.TB) {
				p := newParty(t, choices)
				defer p.leave()
				for len(p.choices) > 0 {
					p.step()
				}
				time.Sleep(time.Second)
				synctest.Wait()
				contract := published{t: t, schemas: contract.schemas}
				for _, guest := range p.guests {
					for _, frame := range guest.sent() {
						contract.check(guest.asked, frame)
						if strings.Contains(frame, `"undelivered"`) && !strings.Contains(frame, `"sessionId":"onebot:`) && !guest.ofRoom(frame) {
							t.Errorf("undelivered: %s", frame)
						}
						count(guest.asked, frame, answered, pushed)
					}
				}
			})
			if len(said) > 0 {
				rt.Fatal(strings.Join(said, "\n"))
			}
		})
		for _, method := range methods {
			if !answered[method] && !absent[method] {
				t.Errorf("%s was never answered with a result", method)
			}
		}
		for _, method := range []string{
			"sessions/changed", "item/started", "item/delta", "item/completed", "approval/requested", "approval/settled", "features/changed", "background/changed",
		} {
			if !pushed[method] {
				t.Errorf("%s was never pushed", method)
			}
		}
	})
}

// absent are the methods whose services are not there: they answer an error, which fits.
var absent = map[string]bool{
	"session/config/get": true, "session/config/update": true, "session/config/layers": true, "session/config/layer/get": true,
	"session/config/layer/update": true, "session/config/overrides": true, "session/compress": true, "turn/rewind": true,
}

// methods are all that can be asked.
var methods = []string{
	"initialize", "sessions/list", "sessions/watch", "session/create", "session/rename", "session/archive", "session/unarchive", "session/delete",
	"session/batch", "session/config/get", "session/config/update", "session/config/layers", "session/config/layer/get", "session/config/layer/update",
	"session/config/overrides", "session/markSeen", "session/subscribe", "session/unsubscribe", "session/history", "turn/send", "turn/continue",
	"turn/abort", "session/compress", "turn/rewind", "plan/clear", "background/list", "background/watch", "background/output", "background/stop",
	"background/stopAll", "presence/update", "approval/respond", "ext/queue/edit", "ext/queue/remove",
}

func count(asked map[string]string, frame string, answered, pushed map[string]bool) {
	var f struct {
		ID     json.RawMessage
		Method string
		Result json.RawMessage
	}
	if json.Unmarshal([]byte(frame), &f) != nil {
		return
	}
	if f.Method != "" {
		pushed[f.Method] = true
	} else if f.Result != nil {
		answered[asked[string(f.ID)]] = true
	}
}

// party is a service over a log with guests, in which anything is done.
type party struct {
	*kernel
	t        testing.TB
	server   *session.Server
	guests   []*guest
	choices  []int
	sessions []string
	turns    []string
	open     []string // items that take text
	calls    [][2]string
	actions  []string
	waiting  []string // inputs that waited when they were sent
	registry registry
	labours  []*labour
	chinese  atomic.Bool
	leave    func()
}

type guest struct {
	*line
	asked map[string]string // method by id
	rooms map[string]bool   // ids of requests about a room
}

// ofRoom reports whether a frame answers a request about a room: a page does not name its session.
func (g *guest) ofRoom(frame string) bool {
	var f struct{ ID json.RawMessage }
	return json.Unmarshal([]byte(frame), &f) == nil && g.rooms[string(f.ID)]
}

func newParty(t testing.TB, choices []int) *party {
	service := approval.New(approval.Options{})
	p := &party{t: t, choices: choices, kernel: startKernel(t, t.TempDir(), func(o *core.Options) { o.Admission = service })}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { _ = service.Run(ctx, p.loop) })
	server, err := session.NewServer(session.Options{
		Loop: p.loop, Language: func() text.Language {
			if p.chinese.Load() {
				return text.Chinese
			}
			return text.English
		},
		Services: session.Services{Approvals: service, Agent: stopper{p.loop}, Plans: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.server = server
	p.registry, _ = p.attend()
	server.Update(func(all *session.Services) { all.Background = p.registry })
	p.join()
	p.join()
	p.request(p.guests[0], "presence/update", m{"active": true})
	synctest.Wait()
	for range 2 {
		p.keep(&p.sessions, p.session("first"))
		p.request(p.guests[0], "session/subscribe", m{"sessionId": p.sessions[len(p.sessions)-1]})
	}
	p.leave = func() {
		for _, g := range p.guests {
			g.Close()
		}
		cancel()
		watching.Wait()
		p.stop()
	}
	return p
}

// stopper is the dialogue service of a log whose turns only the test conducts.
type stopper struct{ loop *core.Loop }

func (s stopper) StopChildren(ctx context.Context, id string) error {
	_, err := s.loop.Do(ctx, core.StopDescendants{Actor: event.System(), Session: id})
	return err
}

func (p *party) join() {
	g := &guest{line: new(line), asked: map[string]string{"0": "initialize"}, rooms: map[string]bool{}}
	g.Conn = p.server.Connect(session.Peer{
		Caller: principal.Caller{
			Principal: principal.Principal{ID: principal.OwnerID, Kind: principal.Owner}, Scopes: principal.AllScopes(),
			Identity: principal.Identity{Platform: "webui", UserID: "console"},
		},
		Surface: "webui", Disconnect: func(string) {},
	}, g.take)
	g.Receive(hello)
	p.guests = append(p.guests, g)
	p.request(g, "sessions/watch", m{})
	p.request(g, "background/watch", m{})
}

func (p *party) choose(n int) int {
	if len(p.choices) == 0 {
		return 0
	}
	c := p.choices[0] % n
	p.choices = p.choices[1:]
	return c
}

// pick gives one of all, or what does not exist.
func (p *party) pick(all []string) string {
	if len(all) == 0 || p.choose(12) == 0 {
		return "nobody"
	}
	return all[p.choose(len(all))]
}

func (p *party) request(g *guest, method string, params any) {
	raw, err := json.Marshal(params)
	if err != nil {
		p.t.Fatal(err)
	}
	id := fmt.Sprint(len(g.asked))
	g.asked[id], g.rooms[id] = method, strings.Contains(string(raw), `"onebot:`)
	g.Receive(ask(id, method, string(raw)))
}

func (p *party) step() {
	if p.choose(2) == 0 {
		g := p.guests[p.choose(len(p.guests))]
		method := methods[p.choose(len(methods))]
		p.request(g, method, p.params(method))
		synctest.Wait()
		return
	}
	p.act()
	if p.choose(3) == 0 {
		time.Sleep(time.Duration(p.choose(300)) * time.Millisecond)
	}
}

// try lets the log refuse.
func (p *party) try(cmd core.Command) core.Receipt {
	got, _ := p.loop.Do(context.Background(), cmd)
	return got
}

func (p *party) keep(to *[]string, id string) string {
	if id != "" {
		*to = append(*to, id)
	}
	return id
}

// act does one thing that no client asked for.
func (p *party) act() {
	turn := p.pick(p.turns)
	switch p.choose(18) {
	case 0:
		p.keep(&p.sessions, p.try(core.CreateSession{Actor: console, Name: "one", Parent: p.parent()}).SessionID)
	case 1:
		address := fmt.Sprintf("onebot:1:group:%d", p.choose(3))
		p.try(core.CreateSession{
			Actor: console, Origin: "im", Kind: "room", Name: "a group", ExtKey: address, Platform: "onebot", Account: "1", Instance: "x",
			Place: "window:" + address, Chat: &event.Window{Type: "group", MultiParty: true, Name: "all of us"},
		})
		p.keep(&p.sessions, address)
	case 2, 3:
		p.keep(&p.turns, p.try(core.SendInput{Actor: console, Session: p.pick(p.sessions), Input: event.Input{
			Text: "hello", Speaker: event.Speaker{Platform: "webui", UserID: "console", Owner: true},
		}}).TurnID)
	case 4:
		p.keep(&p.open, p.try(core.StartMessage{Turn: turn, Step: 1}).ItemID)
	case 5:
		p.keep(&p.open, p.try(core.StartReasoning{Turn: turn, Step: 1}).ItemID)
	case 6:
		_ = p.loop.Text(p.pick(p.open), "words 字 ")
	case 7, 8:
		p.call(turn)
	case 9:
		p.end(turn)
	case 10:
		p.try(core.AddNotice{Turn: turn, Notice: event.Notice{Topic: "tool-limit", Text: text.New("turn.tool-limit", "limit", 3), CanContinue: true}})
	case 11:
		p.try(core.RecordModelCall{Turn: turn, Call: event.ModelCall{
			Step: 1, Model: "m", Provider: "p", Prompt: 12, Completion: 3, Window: 4096, Parts: []event.UsagePart{{Label: text.Plain("all"), Tokens: 12, Injectors: map[string]int{"a/b": 3}}},
		}})
	case 12:
		p.around()
	case 13:
		p.exhaust()
	case 14:
		said := p.try(core.SendInput{Actor: console, Session: p.sessions[0], Input: event.Input{Text: "wait", Speaker: event.Speaker{Owner: true}}})
		p.keep(&p.waiting, said.EventID)
		p.keep(&p.turns, said.TurnID)
	case 15:
		p.try(core.SetPlan{Actor: event.Agent(), Session: p.pick(p.sessions), Entries: []event.PlanEntry{{ID: 1, Title: "look", Status: "completed"}}})
	case 16:
		if len(p.calls) > 0 && p.choose(2) == 0 {
			c := p.calls[p.choose(len(p.calls))]
			if l := p.begin(p.registry, c[0], c[1], "exec"); l != nil {
				p.labours = append(p.labours, l)
			}
		}
	case 17:
		if len(p.labours) > 0 {
			p.labours[p.choose(len(p.labours))].any(p.choose(4))
		}
	}
}

// exhaust ends a turn by the limit of tool calls, and has a guest go on from there.
func (p *party) exhaust() {
	id := p.pick(p.sessions)
	turn := p.try(core.SendInput{Actor: console, Session: id, Input: event.Input{Text: "a lot"}}).TurnID
	p.keep(&p.turns, turn)
	p.try(core.EndSilent{Turn: turn, Limit: true})
	if p.choose(2) == 0 {
		p.request(p.guests[p.choose(len(p.guests))], "turn/continue", m{"sessionId": id})
	}
}

func (p *party) parent() string {
	if p.choose(3) == 0 {
		return p.pick(p.sessions)
	}
	return ""
}

// call takes a call of a turn one step on.
func (p *party) call(turn string) {
	if len(p.calls) == 0 || p.choose(2) == 0 {
		id := p.try(core.ProposeTool{Turn: turn, Tool: "exec", Step: 1}).ItemID
		if id == "" {
			return
		}
		p.calls = append(p.calls, [2]string{turn, id})
		p.keep(&p.open, id)
		p.try(core.CallTool{Turn: turn, CallID: id, Tool: "exec", Args: json.RawMessage(`{"command":"ls"}`), Effect: "write", Step: 1})
		return
	}
	c := p.calls[p.choose(len(p.calls))]
	if p.choose(2) == 0 {
		p.keep(&p.actions, p.try(core.RequestAction{Turn: c[0], CallID: c[1], Tool: "exec", Facts: json.RawMessage(`{"command":"ls"}`)}).EventID)
		return
	}
	code := p.choose(3)
	p.try(core.CompleteTool{Turn: c[0], Result: event.Result{CallID: c[1], Status: []string{"succeeded", "failed", "timed_out"}[p.choose(3)], Text: "done", ExitCode: &code}})
}

func (p *party) end(turn string) {
	switch p.choose(4) {
	case 0:
		if id := p.try(core.StartMessage{Turn: turn, Step: 1}).ItemID; id != "" {
			p.try(core.EndMessage{Turn: turn, Message: event.Message{MessageID: id, Text: "bye", Finish: "stop"}, Last: true})
		}
	case 1:
		p.try(core.EndSilent{Turn: turn, Limit: p.choose(2) == 0})
	case 2:
		p.try(core.StopTurn{Turn: turn})
	case 3:
		p.try(core.StopTurn{Turn: turn, Failure: &event.Failure{Code: "model", Message: text.Plain("broke"), Retryable: true, Status: 500}})
	}
}

// around changes what is around the log: who is connected, and which services there are.
func (p *party) around() {
	switch p.choose(4) {
	case 3:
		p.chinese.Store(!p.chinese.Load())
	case 0:
		p.server.Update(func(s *session.Services) {
			s.Compression = compress(func(context.Context, string) error { return nil })
		})
		p.server.Update(func(s *session.Services) { s.Compression = nil })
	case 1:
		if len(p.guests) < 5 {
			p.join()
		}
	case 2:
		p.try(core.ArchiveSession{Actor: console, Session: p.pick(p.sessions), Back: p.choose(2) == 0})
	}
}

func (p *party) task() string {
	if len(p.labours) == 0 {
		return "none"
	}
	return p.labours[p.choose(len(p.labours))].id
}

// params are what a method is asked with, most of the time about something that exists.
func (p *party) params(method string) m {
	id := p.pick(p.sessions)
	switch method {
	case "initialize":
		return m{"protocolVersion": "0.2.0", "client": m{"name": "a", "version": "1"}}
	case "sessions/list":
		return []m{{}, {"section": "rooms"}, {"archived": true}, {"parentId": id}, {"limit": 1}, {"query": "one"}, {"background": true}}[p.choose(7)]
	case "session/create":
		return m{"name": "mine"}
	case "session/rename":
		return m{"sessionId": id, "title": "a title"}
	case "session/batch":
		return m{"ids": []string{id, p.pick(p.sessions)}, "op": []string{"archive", "unarchive", "delete"}[p.choose(3)]}
	case "session/delete": // most would leave nothing to talk about
		return m{"sessionId": []string{"nobody", id}[p.choose(2)]}
	case "session/history":
		return []m{{"sessionId": id}, {"sessionId": id, "limit": 2}, {"sessionId": id, "before": "1"}}[p.choose(3)]
	case "turn/send":
		return []m{{"sessionId": id, "content": "and this"}, {"sessionId": id, "content": "x", "ext": m{"clientId": fmt.Sprint(p.choose(3))}}, {"sessionId": id, "content": ""}}[p.choose(3)]
	case "turn/abort":
		return []m{{"sessionId": id}, {"sessionId": id, "turnId": p.pick(p.turns)}}[p.choose(2)]
	case "approval/respond":
		action := p.pick(p.actions[max(0, len(p.actions)-2):]) // older ones are settled
		return m{"approvalId": action, "decision": []string{"approve", "deny"}[p.choose(2)], "contentHash": p.hash(action)}
	case "ext/queue/edit", "ext/queue/remove":
		return m{"sessionId": p.sessions[0], "inputId": p.pick(p.waiting), "content": "rather this"}
	case "presence/update":
		return m{"active": p.choose(4) > 0}
	}
	return m{
		"sessionId": id, "turnId": p.pick(p.turns), "taskId": p.task(), "plugin": "p", "key": "k", "value": 1, "scope": "code", "layer": m{"scope": "global"}, "enabled": true,
	}
}
