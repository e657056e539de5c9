package demo

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/provider"
	"aalis/backend/provider/providertest"
)

func open() provider.Model {
	return Kind().Open(provider.Settings{ID: "demo"}).Model("demo")
}

var tools = []provider.ToolSpec{{Name: "run_command"}, {Name: "read_file"}, {Name: "write_file"}}

func user(words string) provider.Request {
	return provider.Request{Tools: tools, Messages: []provider.Message{{Role: provider.RoleUser, Text: words}}}
}

func withPlan(words string) provider.Request { return with(words, "update_plan") }

func with(words, tool string) provider.Request {
	req := user(words)
	req.Tools = append(slices.Clone(req.Tools), provider.ToolSpec{Name: tool})
	return req
}

func withSubtasks(words string) provider.Request {
	req := user(words)
	req.Tools = append(slices.Clone(req.Tools), provider.ToolSpec{Name: "create_subtask"}, provider.ToolSpec{Name: "wait_subtasks"})
	return req
}

// answered continues a conversation by a call and its result.
func answered(req provider.Request, name, result string) provider.Request {
	req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)],
		provider.Message{Role: provider.RoleAssistant, ToolCalls: []provider.ToolCall{{ID: "c", Name: name, Args: json.RawMessage("{}")}}},
		provider.Message{Role: provider.RoleTool, CallID: "c", Text: result})
	return req
}

const done = "Done: that was everything I was told to do."

func TestDemo(t *testing.T) {
	both := user("think: first this\nrun: ls -l\nread: notes.txt\nplan: a; b")
	continued := answered(both, "run_command", "a\nb")
	continued.Messages = append(continued.Messages, provider.Message{Role: provider.RoleUser, Notice: true, Text: "run: not a person's words"})
	told := answered(user("background: ls"), "run_command", "moved")
	told.Messages = append(told.Messages, provider.Message{Role: provider.RoleAssistant, Text: done}, provider.Message{Role: provider.RoleUser, Notice: true, Text: "⟦task x is done⟧"})
	noTools := user("run: ls")
	noTools.Tools = nil
	providertest.Suite{Model: func(*testing.T, providertest.Scenario) provider.Model { return open() }}.Run(t, []providertest.Scenario{
		{
			Name: "says back what it was told", Request: user("hello"),
			Want: providertest.Answer{Finish: "stop", Text: "I am the demo engine: no model, only a program that shows how Aalis works. You said:\n\n> hello\n\n" +
				"Lines I obey, each on a line of its own: run: <command>, background: <command>, write: <path> (its body on the next lines), read: <path>, plan: <a; b; c>, subtask: <what; more lines>, wait: <seconds> for sub-tasks, send: <room> <words>, think: <words>, slow: <n>, fail: <reason>. For real answers, name a provider in config.yaml."},
		},
		{Name: "in the owner's language", Request: user("slow: 2\n好"), Want: providertest.Answer{Finish: "stop", Text: "1 2 \n\n完成：要我做的都做了。"}},
		{Name: "thinks and calls", Request: both, Want: providertest.Answer{
			Finish: "tool_calls", Reasoning: "first this", Calls: []providertest.Call{{Name: "run_command", Args: `{"command":"ls -l"}`}},
		}},
		{Name: "goes on after a result", Request: continued, Want: providertest.Answer{
			Finish: "tool_calls", Text: "`run: ls -l` came back with:\n\n```\na\nb\n```\n\n", Calls: []providertest.Call{{Name: "read_file", Args: `{"path":"notes.txt"}`}},
		}},
		{Name: "ends after the last result", Request: answered(answered(both, "run_command", "a"), "read_file", " "), Want: providertest.Answer{
			Finish: "stop", Text: "`read: notes.txt` came back with nothing.\n\n`plan: a; b` needs the tool update_plan, which I am not offered in this turn.\n\n" + done,
		}},
		{Name: "sends into a room, behind a mention", Request: with("@Aalis send: tea The tea is ready.", "send_message"), Want: providertest.Answer{
			Finish: "tool_calls", Calls: []providertest.Call{{Name: "send_message", Args: `{"room":"tea","text":"The tea is ready."}`}},
		}},
		{Name: "plans", Request: withPlan("plan: a; b;"), Want: providertest.Answer{
			Finish: "tool_calls", Calls: []providertest.Call{{Name: "update_plan", Args: `{"entries":[{"title":"a","status":"in-progress"},{"title":"b","status":"not-started"}]}`}},
		}},
		{Name: "sends a command to the background", Request: user("background: sleep 3"), Want: providertest.Answer{
			Finish: "tool_calls", Calls: []providertest.Call{{Name: "run_command", Args: `{"background":true,"command":"sleep 3"}`}},
		}},
		{Name: "hands work to a sub-task", Request: withSubtasks("subtask: run: ls; read: a.txt\nwait: 9"), Want: providertest.Answer{
			Finish: "tool_calls", Calls: []providertest.Call{{Name: "create_subtask", Args: `{"task":"run: ls\nread: a.txt"}`}},
		}},
		{Name: "waits for the sub-tasks it has made", Request: answered(withSubtasks("subtask: a\nwait: 9"), "create_subtask", `{"subtaskId":"t1"}`), Want: providertest.Answer{
			Finish: "tool_calls", Text: "`subtask: a` came back with:\n\n```\n{\"subtaskId\":\"t1\"}\n```\n\n",
			Calls: []providertest.Call{{Name: "wait_subtasks", Args: `{"subtask_ids":["t1"],"timeout_seconds":9}`}},
		}},
		{Name: "says what it was told behind its last answer", Request: told, Want: providertest.Answer{
			Finish: "stop", Text: "I was told:\n\n```\n⟦task x is done⟧\n```",
		}},
		{Name: "writes a body", Request: user("write: a/b.txt\nline 1\n\nline 3: x\n"), Want: providertest.Answer{
			Finish: "tool_calls", Calls: []providertest.Call{{Name: "write_file", Args: `{"content":"line 1\n\nline 3: x\n","path":"a/b.txt"}`}},
		}},
		{Name: "says which tool is missing", Request: noTools, Want: providertest.Answer{
			Finish: "stop", Text: "`run: ls` needs the tool run_command, which I am not offered in this turn.\n\n" + done,
		}},
		{Name: "fails on demand", Request: user("fail: no more"), Want: providertest.Answer{Err: provider.ErrServer}},
		{Name: "refuses a wrong number", Request: user("slow: many\nrun:"), Want: providertest.Answer{
			Finish: "stop", Text: "`slow: many`: write a whole number from 1 to 10000.\n\n`run:` needs something after the colon.\n\n" + done,
		}},
		{Name: "was told nothing", Request: provider.Request{}, Want: providertest.Answer{Finish: "stop", Text: "I am the demo engine and was told nothing."}},
	})
}

func TestSlowTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var marks []time.Duration
		for c, err := range open().Stream(t.Context(), user("slow: 3")) {
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(c.Text) != "" && len(marks) < 3 {
				marks = append(marks, time.Since(start))
			}
		}
		if diff := cmp.Diff([]time.Duration{0, slowDelay, 2 * slowDelay}, marks); diff != "" {
			t.Errorf("pieces come at (-want +got):\n%s", diff)
		}
	})
}

func TestLongResultsStreamInSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		for _, err := range open().Stream(t.Context(), answered(user("run: x"), "run_command", strings.Repeat("长", 64<<10))) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestSlowStopsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer cancel()
		start := time.Now()
		var last error
		for _, err := range open().Stream(ctx, user("slow: 1000")) {
			last = err
		}
		if !errors.Is(last, context.DeadlineExceeded) || time.Since(start) != 250*time.Millisecond {
			t.Errorf("ended with %v after %v", last, time.Since(start))
		}
	})
}
