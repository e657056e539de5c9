package session

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
)

// drawn gives what events that no command of this build makes do to items.
func drawn(t *testing.T, events ...event.Event) (pushes []itemPush) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(store.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.Close() }()
		loop, err := core.New(core.Options{Store: st})
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewServer(Options{Loop: loop})
		if err != nil {
			t.Fatal(err)
		}
		c := newConn(s, Peer{}, func(string) {})
		if err := loop.Read(context.Background(), func(tx *store.ReadTx) error {
			d := c.draw(tx, 1, false)
			for _, e := range events {
				e.Kind = e.Payload.EventKind()
				more, err := d.event(e)
				if err != nil {
					return err
				}
				pushes = append(pushes, more...)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
	return pushes
}

// itemTest is an event and the frame it becomes.
type itemTest struct {
	name  string
	event event.Event
	want  string // "" for none
}

func TestItems(t *testing.T) {
	waiting := event.Waiting{EventID: "in", At: 1, Input: event.Input{Text: "hello", Speaker: event.Speaker{Platform: "webui", Owner: true}, State: event.InputPending, Addressed: new(bool)}}
	tests := []itemTest{
		{
			"SP-PLAN-01 the plan is completed as a whole under its fixed id",
			event.Event{At: 7, Payload: event.Plan{Entries: []event.PlanEntry{{ID: 1, Title: "look", Status: "in-progress"}}}},
			`item/completed {"kind":"plan","itemId":"plan","at":7,"items":[{"id":1,"title":"look","status":"in-progress"}]}`,
		},
		{
			"a cleared plan is an empty list",
			event.Event{At: 7, Payload: event.Plan{}},
			`item/completed {"kind":"plan","itemId":"plan","at":7,"items":[]}`,
		},
		{
			"SP-ITEM-04 SP-UMSG-08 an input that was dropped has neither turn nor entry nor addressed",
			event.Event{At: 7, Turn: "t", Payload: event.InputDrop{InputID: "in", Reason: "stopped", Input: waiting}},
			`item/completed {"kind":"user-message","itemId":"in","at":7,"text":"hello","speaker":{"platform":"webui","owner":true}}`,
		},
		{"one that was taken back by hand leaves nothing", event.Event{Payload: event.InputDrop{InputID: "in", Reason: event.DropRemoved, Input: waiting}}, ""},
		{
			"SP-UMSG-09 addressed is there for an input that entered a turn",
			event.Event{At: 7, Turn: "t", Payload: event.InputJoin{InputID: "in", Input: waiting}},
			`item/completed {"kind":"user-message","itemId":"in","at":7,"turnId":"t","text":"hello","speaker":{"platform":"webui","owner":true},"entry":"joined","addressed":false}`,
		},
		{
			"SP-ATT-04 SP-UMSG-03 SP-I18N-09 files without a stored source have only a name; the words are as written",
			event.Event{ID: "m", At: 7, Payload: event.Input{State: event.InputSwallowed, Text: `{"key":"internal"}`, Speaker: event.Speaker{Platform: "onebot", UserID: "7", Nickname: "Ann", Source: "poke"}, Attachments: []event.Attachment{{Kind: "image", Name: "a.png"}}}},
			`item/completed {"kind":"user-message","itemId":"m","at":7,"text":"{\"key\":\"internal\"}","attachments":[{"kind":"image","name":"a.png"}],"speaker":{"platform":"onebot","userId":"7","nickname":"Ann","source":"poke","owner":false}}`,
		},
		{
			"SP-AMSG-01 SP-AMSG-03 a message of attachments only, by a provider that reported no tokens",
			event.Event{At: 9, Turn: "t", Payload: event.Message{MessageID: "m", StartedAt: 7, Provider: "p", Model: "m", Attachments: []event.Attachment{{Kind: "file", Name: "b"}}}},
			`item/completed {"kind":"agent-message","itemId":"m","at":7,"turnId":"t","text":"","attachments":[{"kind":"file","name":"b"}],"model":{"provider":"p","model":"m"}}`,
		},
		{
			"SP-TURNI-01 the source of what opened it",
			event.Event{At: 7, Turn: "t", Payload: event.TurnStart{TurnID: "t", Source: "scheduler"}},
			`item/started {"kind":"turn","itemId":"t","at":7,"turnId":"t","source":"scheduler"}`,
		},
		{
			"SP-I18N-01 SP-NOTICE-03 a notice is rendered, with its attachment by name",
			event.Event{ID: "n", At: 7, Payload: event.Notice{Topic: "event-marker", Text: text.New("wire.stopping"), Attachment: &event.Attachment{Kind: "audio", Name: "c"}}},
			`item/completed {"kind":"notice","itemId":"n","at":7,"topic":"event-marker","text":"The session service is stopping.","attachment":{"kind":"audio","name":"c"}}`,
		},
		{
			"SP-TOOL-23 SP-TOOL-24 a call that went to the background is completed with its task",
			event.Event{At: 9, Turn: "t", Payload: event.Result{CallID: "c", Status: event.ResultSucceeded, Text: "It goes on.", TaskID: "k", Card: &event.Card{Tool: "run_command", Args: json.RawMessage(`{}`), At: 7}}},
			`item/completed {"kind":"tool-call","itemId":"c","at":7,"turnId":"t","tool":"run_command","args":{},"status":"completed","result":"It goes on.","durationMs":0,"taskId":"k"}`,
		},
		{
			"arguments that are no object are none",
			event.Event{At: 9, Turn: "t", Payload: event.Call{CallID: "c", Tool: "x", Args: json.RawMessage(`[1]`), ProposedAt: 7}},
			`item/started {"kind":"tool-call","itemId":"c","at":7,"turnId":"t","tool":"x","args":{},"status":"running","startedAt":9}`,
		},
		{"bookkeeping has no item", event.Event{Payload: event.Execution{Status: "accepted"}}, ""},
		{"nor has what was erased of a kind that is unknown", event.Event{Payload: event.Opaque{Kind: "x", JSON: json.RawMessage(`{}`)}}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got string
			for _, p := range drawn(t, test.event) {
				b, err := json.Marshal(p.item)
				if err != nil {
					t.Fatal(err)
				}
				got += p.method + " " + string(b)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStatusOf(t *testing.T) {
	exit := func(code int) *int { return &code }
	tests := []struct {
		name    string
		result  event.Result
		display ToolDisplay
		want    CallStatus
	}{
		{"SP-TOOL-07 words", event.Result{Status: event.ResultSucceeded, Text: "fine"}, nil, CallCompleted},
		{"SP-TOOL-08 an object with an error", event.Result{Status: event.ResultSucceeded, Text: ` {"error":"no"}`}, nil, CallFailed},
		{"an error that is an object", event.Result{Status: event.ResultSucceeded, Text: `{"error":{"code":1}}`}, nil, CallFailed},
		{"an error that is null", event.Result{Status: event.ResultSucceeded, Text: `{"error":null,"x":1}`}, nil, CallCompleted},
		{"an error that is empty", event.Result{Status: event.ResultSucceeded, Text: `{"error":""}`}, nil, CallCompleted},
		{"no error", event.Result{Status: event.ResultSucceeded, Text: `{"errors":["x"]}`}, nil, CallCompleted},
		{"no object", event.Result{Status: event.ResultSucceeded, Text: `["error"]`}, nil, CallCompleted},
		{"no JSON", event.Result{Status: event.ResultSucceeded, Text: `{"error":"no"`}, nil, CallCompleted},
		{"SP-TOOL-08 an exit code", event.Result{Status: event.ResultSucceeded, ExitCode: exit(2)}, nil, CallFailed},
		{"SP-TOOL-08 an exit code of the display", event.Result{Status: event.ResultSucceeded}, &CommandDisplay{ExitCode: exit(1)}, CallFailed},
		{"the exit code 0", event.Result{Status: event.ResultSucceeded, ExitCode: exit(0)}, &CommandDisplay{ExitCode: exit(0)}, CallCompleted},
		{"SP-TOOL-15 failed", event.Result{Status: event.ResultFailed, ErrorKind: "invalid"}, nil, CallFailed},
		{"timed out", event.Result{Status: event.ResultTimedOut}, nil, CallFailed},
		{"SP-TOOL-20 denied", event.Result{Status: event.ResultDenied}, nil, CallDenied},
		{"SP-TOOL-09 cancelled", event.Result{Status: event.ResultCancelled}, nil, CallAborted},
		{"SP-TOOL-11 cut off", event.Result{Status: event.ResultFailed, ErrorKind: "unknown"}, nil, CallAborted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := statusOf(test.result, test.display); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
