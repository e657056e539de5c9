package session_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

// engineStep is what an engine tells the log of a turn, and what the turn's owner writes. Steps are
// about the running turn of the session that was named last:
//
//	engine SESSION
//	say-to WORDS, swallow WORDS          somebody writes; she is meant, or not
//	join                                 what waits enters the turn
//	step N                               the model's next call
//	message, think, text WORDS, end      her words or thoughts, opened, streamed, completed
//	finish, silent                       the turn ends well
//	propose TOOL, call ARGS              a card, and the call it becomes
//	output WORDS, result STATUS [exit=N] WORDS
//	request, approve, deny               the owner is asked about the newest call, and answers
//	model CALL, notice NOTICE            payloads of the log, as JSON
//	limit                                the turn ends at the tool-call limit
//	stopped, failed WORDS, crashed       the turn ends otherwise
//	plan TITLE                           she keeps a plan of one entry
//	rewind, leave                        the newest turn becomes dead; nobody is there to be asked any more
//	displays, usage                      services: tools declare how they look, usage is computed
//	registry and after it                see taskStep
func (s *stage) engineStep(word, rest string) {
	s.t.Helper()
	e, k := &s.engine, s.kernel
	switch word {
	case "engine":
		e.session, e.step = rest, 1
	case "say-to":
		k.do(core.SendInput{Actor: console, Session: e.session, Input: said(rest)})
	case "swallow":
		k.do(core.SendInput{Actor: console, Session: e.session, Input: event.Input{
			Text: rest, Speaker: event.Speaker{Platform: "onebot", UserID: "7", Nickname: "Ann"},
		}, Swallow: true})
	case "step":
		e.step, _ = strconv.Atoi(rest)
	case "rewind":
		k.do(core.RewindTurn{Actor: console, Session: e.session, Turn: k.newest(e.session)})
	case "plan":
		k.do(core.SetPlan{Actor: event.Agent(), Session: e.session, Entries: []event.PlanEntry{{ID: 1, Title: rest, Status: "in-progress"}}})
	case "leave":
		e.there.leave()
	case "displays":
		s.server.Update(func(all *session.Services) { all.Display = displays })
	case "usage":
		s.server.Update(func(all *session.Services) {
			all.Usage = func(context.Context, string) (event.ModelCall, error) {
				return event.ModelCall{Prompt: 40, Window: 8000, Estimated: true}, nil
			}
		})
	default:
		s.turnStep(word, rest)
	}
}

// engine is where the steps of a script are.
type engine struct {
	session    string
	step       int
	item, call string   // newest
	items      []string // of this step
	action     string
	turn       string // the last that ran
	there      *attended
	registry   registry // of background tasks; see taskStep
	labour     *labour  // newest
}

func said(words string) event.Input {
	return event.Input{Text: words, Speaker: event.Speaker{Platform: "webui", UserID: "console", Owner: true}}
}

// displays is what tools declare in these tests.
func displays(tool string, args json.RawMessage, end *session.CallEnd) session.ToolDisplay {
	var given struct{ Command string }
	if tool != "run_command" || json.Unmarshal(args, &given) != nil || given.Command == "" {
		return nil
	}
	d := &session.CommandDisplay{Kind: session.DisplayCommand, Command: given.Command}
	if end != nil {
		d.ExitCode = end.ExitCode
	}
	return d
}

func (s *stage) turnStep(word, rest string) {
	s.t.Helper()
	e, k := &s.engine, s.kernel
	turn := k.running(e.session)
	switch word {
	case "join":
		k.do(core.JoinInputs{Turn: turn})
	case "message":
		e.item = k.do(core.StartMessage{Turn: turn, Step: e.step}).ItemID
	case "think":
		e.item = k.do(core.StartReasoning{Turn: turn, Step: e.step}).ItemID
	case "text":
		k.stream(e.item, rest)
	case "end":
		k.end(turn, e.item)
	case "finish":
		k.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: e.item, Provider: "test", Model: "m", Prompt: 90, Completion: 12}, Last: true})
	case "silent":
		k.do(core.EndSilent{Turn: turn})
	case "model":
		var call event.ModelCall
		s.decode(rest, &call)
		k.do(core.RecordModelCall{Turn: turn, Call: call})
	case "notice":
		var n event.Notice
		s.decode(rest, &n)
		k.do(core.AddNotice{Session: e.session, Turn: turn, Notice: n})
	case "limit":
		k.do(core.AddNotice{Turn: turn, Notice: event.Notice{Topic: session.TopicToolLimit, Text: text.New("turn.tool-limit", "limit", 30), CanContinue: true}})
		k.do(core.EndSilent{Turn: turn, Limit: true})
	case "stopped":
		k.do(core.StopTurn{Turn: turn})
	case "failed":
		k.do(core.StopTurn{Turn: turn, Failure: &event.Failure{Code: "model", Message: text.Plain(rest)}})
	case "crashed":
		k.do(core.StopTurn{Turn: turn, Interrupted: true})
	default:
		s.toolStep(turn, word, rest)
	}
}

func (s *stage) toolStep(turn, word, rest string) {
	s.t.Helper()
	e, k := &s.engine, s.kernel
	switch word {
	case "propose":
		e.call = k.do(core.ProposeTool{Turn: turn, Tool: rest, Step: e.step}).ItemID
	case "call":
		k.do(core.CallTool{Turn: turn, CallID: e.call, Tool: "run_command", Args: json.RawMessage(rest), Effect: "write", Step: e.step})
	case "output":
		k.stream(e.call, rest)
	case "result":
		status, words, _ := strings.Cut(rest, " ")
		r := event.Result{CallID: e.call, Status: status, Text: words, DurationMS: 5}
		if exit, after, ok := strings.Cut(words, " "); ok && strings.HasPrefix(exit, "exit=") {
			code, _ := strconv.Atoi(exit[len("exit="):])
			r.ExitCode, r.Text = &code, after
		}
		k.do(core.CompleteTool{Turn: turn, Result: r})
	case "request":
		e.action = k.do(core.RequestAction{Turn: turn, CallID: e.call, Tool: "run_command"}).EventID
	case "approve":
		k.approve(e.action)
	case "deny":
		k.deny(e.action)
	default:
		s.taskStep(turn, word, rest)
	}
}

func (s *stage) decode(words string, into any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(words), into); err != nil {
		s.t.Fatal(err)
	}
}

// running is the turn that runs in a session, "" for none.
func (k *kernel) running(session string) (turn string) {
	k.t.Helper()
	k.read(func(tx *store.ReadTx) error {
		s, err := tx.Session(session)
		if err != nil {
			return err
		}
		h, err := tx.Head(s.SID)
		turn = h.RunningTurn
		return err
	})
	return turn
}

// newest is the newest turn of a session.
func (k *kernel) newest(session string) (turn string) {
	k.t.Helper()
	k.read(func(tx *store.ReadTx) error {
		s, err := tx.Session(session)
		if err != nil {
			return err
		}
		t, _, err := tx.LastTurn(s.SID)
		turn = t.ID
		return err
	})
	return turn
}

// stream gives the log a piece of an item. "\n" in words is a new line.
func (k *kernel) stream(item, words string) {
	k.t.Helper()
	if err := k.loop.Text(item, strings.ReplaceAll(words, `\n`, "\n")); err != nil {
		k.t.Fatal(err)
	}
}

// end completes a message or a stretch of thinking.
func (k *kernel) end(turn, item string) {
	k.t.Helper()
	reasoning := false
	k.read(func(tx *store.ReadTx) error {
		e, _, err := tx.Event(item)
		reasoning = e.Kind == event.ReasoningStarted
		return err
	})
	if reasoning {
		k.do(core.EndReasoning{Turn: turn, ItemID: item})
		return
	}
	k.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: item, Provider: "test", Model: "m"}})
}

// deny answers an approval with no.
func (k *kernel) deny(action string) {
	k.t.Helper()
	var hash string
	k.read(func(tx *store.ReadTx) error {
		a, _, err := tx.Action(action)
		hash = a.Hash
		return err
	})
	k.do(core.AnswerAction{Actor: console, ActionID: action, Hash: hash, May: true, By: event.Answerer{Platform: "webui", UserID: "console", Owner: true}})
}
