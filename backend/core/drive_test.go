package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// driver plays clients and an engine at random: it remembers the ids it was given and uses them,
// dead or alive, in any order. choose(n) gives a number below n.
type driver struct {
	loop   *core.Loop
	choose func(n int) int

	sessions, turns, messages, thoughts, calls, actions, inputs, tasks []string
	of                                                                 map[string]string // message, thought or call → turn
	said                                                               int
	rooms, sent                                                        []string // what went out, by event id
}

func newDriver(loop *core.Loop, choose func(int) int) *driver {
	return &driver{loop: loop, choose: choose, of: map[string]string{}}
}

func pick(d *driver, from []string) string {
	if len(from) == 0 {
		return "none"
	}
	// The newest are chosen more often: they are the ones that are open.
	if d.choose(3) > 0 {
		return from[len(from)-1]
	}
	return from[d.choose(len(from))]
}

// step does one random thing. A refusal is no error; anything else is.
func (d *driver) step() error {
	steps := []func() error{
		d.create, d.send, d.send, d.send, d.abort, d.startMessage, d.startMessage, d.stream, d.stream, d.stream, d.endMessage, d.finish, d.finish,
		d.startReasoning, d.endReasoning, d.propose, d.callTool, d.callTool, d.request, d.request, d.answer, d.expire, d.complete, d.complete,
		d.silent, d.stop, d.join, d.rename, d.archive, d.remove, d.seen, d.rewind, d.notice, d.account, d.erase, d.again,
		d.change, d.withdraw, d.plan, d.move, d.move, d.endTask,
		d.delegate, d.delegate, d.tell, d.look, d.stopSubtask, d.dropSubtask,
		d.receive, d.receive, d.receive, d.sendOut, d.sendByTool, d.settle, d.settle,
	}
	err := steps[d.choose(len(steps))]()
	if err == nil || errors.Is(err, core.ErrTurnOver) || errors.Is(err, core.ErrItemClosed) || errors.Is(err, store.ErrInvalid) {
		return nil
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Code != fault.Internal {
		return nil
	}
	return err
}

func (d *driver) do(cmd core.Command) (core.Receipt, error) {
	r, err := d.loop.Do(context.Background(), cmd)
	if err != nil {
		err = fmt.Errorf("%T: %w", cmd, err)
	}
	if err == nil && r.TurnID != "" && (len(d.turns) == 0 || d.turns[len(d.turns)-1] != r.TurnID) {
		d.turns = append(d.turns, r.TurnID)
	}
	return r, err
}

func (d *driver) create() error {
	c := core.CreateSession{Actor: owner}
	if d.choose(3) == 0 && len(d.sessions) > 0 {
		c.Parent = pick(d, d.sessions)
	}
	r, err := d.do(c)
	if err == nil {
		d.sessions = append(d.sessions, r.SessionID)
	}
	return err
}

func (d *driver) send() error {
	d.said++
	c := core.SendInput{Actor: owner, Session: pick(d, d.sessions), Input: say(fmt.Sprint("words ", d.said)), Swallow: d.choose(9) == 0}
	if d.choose(2) == 0 {
		c.Key = fmt.Sprint("s:owner:", d.said/2)
	}
	if d.choose(6) == 0 {
		c.Source = "schedule"
	}
	r, err := d.do(c)
	if err == nil {
		d.inputs, d.of[r.EventID] = append(d.inputs, r.EventID), c.Session
	}
	return err
}

func (d *driver) change() error {
	d.said++
	in := pick(d, d.inputs)
	_, err := d.do(core.ChangeInput{Actor: owner, Session: d.of[in], InputID: in, Text: fmt.Sprint("other words ", d.said)})
	return err
}

func (d *driver) withdraw() error {
	in := pick(d, d.inputs)
	_, err := d.do(core.RemoveInput{Actor: owner, Session: d.of[in], InputID: in})
	return err
}

func (d *driver) plan() error {
	c := core.SetPlan{Actor: owner, Session: pick(d, d.sessions)}
	for i := range d.choose(3) {
		c.Entries = append(c.Entries, event.PlanEntry{ID: i + 1, Title: "look", Status: "in-progress"})
	}
	if d.choose(2) == 0 {
		c.Turn = pick(d, d.turns)
	}
	_, err := d.do(c)
	return err
}

func (d *driver) abort() error {
	_, err := d.do(core.AbortTurn{Actor: owner, Session: pick(d, d.sessions)})
	return err
}

func (d *driver) again() error {
	_, err := d.do(core.ContinueTurn{Actor: owner, Session: pick(d, d.sessions)})
	return err
}

func (d *driver) startMessage() error {
	turn := pick(d, d.turns)
	r, err := d.do(core.StartMessage{Turn: turn, Step: 1})
	if err == nil {
		d.messages, d.of[r.ItemID] = append(d.messages, r.ItemID), turn
	}
	return err
}

func (d *driver) stream() error {
	all := [][]string{d.messages, d.messages, d.thoughts, d.calls}
	item := pick(d, all[d.choose(len(all))])
	for n := d.choose(4); n >= 0; n-- {
		if err := d.loop.Text(item, strings.Repeat("字", d.choose(3))+"x"); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) endMessage() error {
	m := pick(d, d.messages)
	_, err := d.do(core.EndMessage{Turn: d.of[m], Message: event.Message{MessageID: m, Text: "not streamed"}})
	return err
}

func (d *driver) finish() error {
	m := pick(d, d.messages)
	_, err := d.do(core.EndMessage{Turn: d.of[m], Message: event.Message{MessageID: m}, Last: true, Limit: d.choose(4) == 0})
	return err
}

func (d *driver) startReasoning() error {
	turn := pick(d, d.turns)
	r, err := d.do(core.StartReasoning{Turn: turn, Step: 1})
	if err == nil {
		d.thoughts, d.of[r.ItemID] = append(d.thoughts, r.ItemID), turn
	}
	return err
}

func (d *driver) endReasoning() error {
	t := pick(d, d.thoughts)
	_, err := d.do(core.EndReasoning{Turn: d.of[t], ItemID: t})
	return err
}

func (d *driver) propose() error {
	turn := pick(d, d.turns)
	r, err := d.do(core.ProposeTool{Turn: turn, Tool: "run_command", Step: 1})
	if err == nil {
		d.calls, d.of[r.ItemID] = append(d.calls, r.ItemID), turn
	}
	return err
}

func (d *driver) callTool() error {
	c := pick(d, d.calls)
	_, err := d.do(core.CallTool{Turn: d.of[c], CallID: c, Tool: "run_command", Args: json.RawMessage(`{"command":"ls"}`), Effect: "write", Step: 1})
	return err
}

func (d *driver) request() error {
	c := pick(d, d.calls)
	r, err := d.do(core.RequestAction{Turn: d.of[c], CallID: c, Tool: "run_command", Facts: json.RawMessage(`{"params":{}}`)})
	if err == nil {
		d.actions = append(d.actions, r.EventID)
	}
	return err
}

func (d *driver) answer() error {
	id := pick(d, d.actions)
	var hash string
	if err := d.loop.Read(context.Background(), func(tx *store.ReadTx) error {
		a, _, err := tx.Action(id)
		hash = a.Hash
		return err
	}); err != nil {
		return err
	}
	_, err := d.do(core.AnswerAction{Actor: owner, ActionID: id, Approve: d.choose(2) == 0, Hash: hash, May: true, By: event.Answerer{Platform: "webui", Owner: true}})
	return err
}

func (d *driver) expire() error {
	_, err := d.do(core.ExpireAction{ActionID: pick(d, d.actions), Absent: d.choose(2) == 0})
	return err
}

func (d *driver) complete() error {
	c := pick(d, d.calls)
	status := []string{event.ResultSucceeded, event.ResultFailed, event.ResultDenied}[d.choose(3)]
	_, err := d.do(core.CompleteTool{Turn: d.of[c], Result: event.Result{CallID: c, Status: status, Text: "done"}})
	return err
}

func (d *driver) silent() error {
	// A silent end is for turns without open calls or messages; the loop closes them anyway.
	_, err := d.do(core.EndSilent{Turn: pick(d, d.turns)})
	return err
}

func (d *driver) stop() error {
	c := core.StopTurn{Turn: pick(d, d.turns)}
	switch d.choose(3) {
	case 0:
		c.Failure = &event.Failure{Code: "server"}
	case 1:
		c.Interrupted = true
	}
	_, err := d.do(c)
	return err
}

func (d *driver) join() error {
	_, err := d.do(core.JoinInputs{Turn: pick(d, d.turns)})
	return err
}

func (d *driver) rename() error {
	_, err := d.do(core.RenameSession{Actor: owner, Session: pick(d, d.sessions), Title: "a title"})
	return err
}

func (d *driver) archive() error {
	_, err := d.do(core.ArchiveSession{Actor: owner, Session: pick(d, d.sessions), Back: d.choose(2) == 0})
	return err
}

func (d *driver) remove() error {
	if d.choose(6) > 0 {
		return nil
	}
	_, err := d.do(core.DeleteSession{Actor: owner, Session: pick(d, d.sessions)})
	return err
}

func (d *driver) seen() error {
	_, err := d.do(core.MarkSeen{Session: pick(d, d.sessions), Principal: event.OwnerID})
	return err
}

func (d *driver) rewind() error {
	_, err := d.do(core.RewindTurn{Actor: owner, Session: pick(d, d.sessions), Turn: pick(d, d.turns)})
	return err
}

func (d *driver) notice() error {
	_, err := d.do(core.AddNotice{Session: pick(d, d.sessions), Notice: event.Notice{Topic: "event-marker"}})
	return err
}

func (d *driver) account() error {
	_, err := d.do(core.RecordModelCall{Turn: pick(d, d.turns), Call: event.ModelCall{Step: 1, Prompt: 10, Completion: 3, Window: 1000}})
	return err
}

func (d *driver) delegate() error {
	c := pick(d, d.calls)
	r, err := d.do(core.SpawnSubtask{Turn: d.of[c], CallID: c, Task: "look"})
	if err == nil {
		d.sessions = append(d.sessions, r.SessionID)
	}
	return err
}

func (d *driver) tell() error {
	_, err := d.do(core.TellSubtask{Turn: pick(d, d.turns), Subtask: pick(d, d.sessions), Text: "go on"})
	return err
}

func (d *driver) look() error {
	_, err := d.do(core.LookAtSubtasks{Session: pick(d, d.sessions)})
	return err
}

func (d *driver) stopSubtask() error {
	_, err := d.do(core.StopSubtask{Session: pick(d, d.sessions), Subtask: pick(d, d.sessions)})
	return err
}

func (d *driver) dropSubtask() error {
	_, err := d.do(core.DropSubtask{Session: pick(d, d.sessions), Subtask: pick(d, d.sessions)})
	return err
}

func (d *driver) erase() error {
	_, err := d.do(core.EraseDeleted{})
	return err
}

// receive has somebody say or do something in one of three rooms.
func (d *driver) receive() error {
	d.said++
	n := d.choose(3)
	address := fmt.Sprint("local:1:group:", n)
	c := core.Receive{
		Actor:  event.Actor{Kind: "user", Platform: "local", UserID: "ann", Via: "room"},
		Window: core.Window{Address: address, Platform: "local", Instance: fmt.Sprint("local:", d.choose(2)), Account: "1", Type: "group", MultiParty: n > 0, Name: "a room"},
		Input:  event.Input{Text: fmt.Sprint("words ", d.said), Speaker: event.Speaker{Platform: "local", UserID: "ann"}},
		Key:    fmt.Sprint("i:", d.said/2), Mentioned: d.choose(2) == 0,
	}
	if d.choose(5) == 0 {
		c.Notice, c.Calls = &event.Notice{Topic: "poke", Text: text.Plain("poked")}, d.choose(2) == 0
	}
	r, err := d.do(c)
	if err == nil && r.SessionID != "" {
		d.sessions, d.rooms = append(d.sessions, r.SessionID), append(d.rooms, r.SessionID)
		d.inputs, d.of[r.EventID] = append(d.inputs, r.EventID), r.SessionID
	}
	return err
}

func (d *driver) sendOut() error {
	session := pick(d, d.sessions)
	if d.choose(2) == 0 {
		session = pick(d, d.rooms)
	}
	r, err := d.do(core.SendOut{Session: session, Text: text.Plain("not hers"), Attachments: []event.Attachment{{Kind: "file", Name: "a"}}})
	if err == nil {
		d.sent = append(d.sent, r.EventID)
	}
	return err
}

func (d *driver) sendByTool() error {
	call := pick(d, d.calls)
	r, err := d.do(core.SendByTool{Turn: d.of[call], CallID: call, Out: event.Outgoing{Room: pick(d, d.rooms), Text: "not streamed"}})
	if err == nil {
		d.sent = append(d.sent, r.EventID)
	}
	return err
}

// settle answers something that is on its way, or was.
func (d *driver) settle() error {
	id := pick(d, d.sent)
	if d.choose(2) == 0 {
		_ = d.loop.Read(context.Background(), func(tx *store.ReadTx) error {
			all, err := tx.PendingDeliveries()
			if len(all) > 0 {
				id = all[d.choose(len(all))].EventID
			}
			return err
		})
	}
	state := []string{event.DeliveryAccepted, event.DeliveryRefused, event.DeliveryPartial, event.DeliveryUnknown}[d.choose(4)]
	_, err := d.do(core.SettleDelivery{EventID: id, Result: event.Delivery{State: state}})
	return err
}
