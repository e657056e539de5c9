package native_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aalis/backend/engine"
	"aalis/backend/engine/enginetest"
	"aalis/backend/engine/native"
	"aalis/backend/provider"
	"aalis/backend/text"
)

// turn runs a turn in a bubble and gives what came of it.
func turn(t *testing.T, script string, about engine.Turn, host *enginetest.Host) (r enginetest.Run) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { r = suite.Do(t, t.Context(), script, about, host) })
	return r
}

func wantLog(t *testing.T, r enginetest.Run, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.Host.Log()); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

func TestReply(t *testing.T) {
	r := turn(t, `
call
reasoning " hm, "
reasoning well
text "\n\n"
text "  Hello"
text " there"
usage 100 20`, engine.Turn{}, &enginetest.Host{})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	wantLog(t, r, "history", "join", "reasoning 1", "text reasoning-1 hm, well", "end reasoning-1", "message 1", "text message-2 Hello there", "model 1", "finish message-2")
	want := []engine.MessageEnd{{MessageID: "message-2", Text: "Hello there", FinishReason: "stop", Provider: "test", Model: "m", Prompt: 100, Completion: 20}}
	if diff := cmp.Diff(want, r.Host.Ends()); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	req := r.Model.Requests()[0]
	if req.Model != "m" || len(req.Tools) == 0 || !strings.Contains(req.System, "You are Aalis") || !strings.Contains(req.System, "Saturday, 1 January 2000") {
		t.Errorf("request %q, %d tools, system:\n%s", req.Model, len(req.Tools), req.System)
	}
}

func TestToolsInOrder(t *testing.T) {
	r := turn(t, `
call
text Let me look.
tool echo {"words":"a"}
tool exit
args "{\"words\""
args ":\"b\"}"
usage 10 3
call
text Done.
usage 30 4`, engine.Turn{}, &enginetest.Host{})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	wantLog(t, r, "history", "join", "message 1", "text message-1 Let me look.", "propose echo", "propose exit", "model 1", "end message-1",
		`call tool-2 read echo {"words":"a"}`, "text tool-2 a", "complete tool-2 succeeded echo a",
		`call tool-3 write exit {"words":"b"}`, "complete tool-3 failed b",
		"join", "message 2", "text message-4 Done.", "model 2", "finish message-4")
	two := 2
	if diff := cmp.Diff(engine.ToolResult{CallID: "tool-3", Status: "failed", Text: "b", ExitCode: &two, Truncated: true}, r.Host.Done()[1]); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if last := r.Host.Ends()[1]; last.Prompt != 30 || last.Completion != 7 {
		t.Errorf("prompt of the last call, completion of all: %+v", last)
	}
	want := []provider.Message{
		{Role: "user", Text: "hello"},
		{Role: "assistant", Text: "Let me look.", ToolCalls: []provider.ToolCall{{ID: "tool-2", Name: "echo", Args: []byte(`{"words":"a"}`)}, {ID: "tool-3", Name: "exit", Args: []byte(`{"words":"b"}`)}}},
		{Role: "tool", CallID: "tool-2", Text: "echo a"},
		{Role: "tool", CallID: "tool-3", Text: "b"},
	}
	if diff := cmp.Diff(want, r.Model.Requests()[1].Messages); diff != "" {
		t.Errorf("second request (-want +got):\n%s", diff)
	}
}

// A call that cannot run fails with words the model reads, under its own call id, and nothing acts.
func TestFailedCalls(t *testing.T) {
	for name, tc := range map[string]struct {
		tool     string
		args     string // as called
		says     string
		status   engine.ToolStatus
		executed bool
	}{
		"SP-TOOL-15 arguments that are no JSON":    {`echo {"words":`, `{"_raw":"{\"words\":"}`, "not a JSON object", "failed", false},
		"SP-TOOL-15 arguments that are no object":  {`echo [1]`, `{"_raw":"[1]"}`, "not a JSON object", "failed", false},
		"SP-TOOL-15 arguments against the schema":  {`echo {"words":7}`, `{"words":7}`, "words", "failed", false},
		"SP-TOOL-15 no arguments":                  {`echo`, `{}`, "words", "failed", false},
		"SP-TOOL-15 an unknown tool":               {`ecko {"words":"a"}`, `{"words":"a"}`, `did you mean "echo"`, "failed", false},
		"SP-TOOL-15 an error before it ran":        {`refuse {"words":"a"}`, `{"words":"a"}`, "there is no such thing", "failed", false},
		"a result with an error":                   {`report {"words":"bad"}`, `{"words":"bad"}`, `{"error":"bad"}`, "failed", true},
		"a result with an empty error":             {`echo {"words":"{\"error\":null}"}`, `{"words":"{\"error\":null}"}`, "echo", "succeeded", true},
		"a tool that takes too long has timed out": {`late {"words":"a"}`, `{"words":"a"}`, "it took too long", "timed_out", true},
		"a tool that panics fails alone":           {`boom {"words":"a"}`, `{"words":"a"}`, "broke down", "failed", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := turn(t, "call\ntool "+tc.tool+"\ncall\ntext ok", engine.Turn{}, &enginetest.Host{})
			done := r.Host.Done()
			if r.Err != nil || len(done) != 1 {
				t.Fatalf("%v, %+v", r.Err, done)
			}
			if done[0].CallID != "tool-1" || done[0].Status != tc.status || !strings.Contains(done[0].Text, tc.says) || done[0].NotExecuted == tc.executed || (len(r.Tools.Ran()) == 1) != tc.executed {
				t.Errorf("%+v, ran %v", done[0], r.Tools.Ran())
			}
			if !slices.ContainsFunc(r.Host.Log(), func(l string) bool {
				return strings.HasPrefix(l, "call tool-1 ") && strings.HasSuffix(l, tc.args)
			}) {
				t.Errorf("not called with %s: %v", tc.args, r.Host.Log())
			}
			if told := r.Model.Requests()[1].Messages; told[len(told)-1].Text != done[0].Text {
				t.Errorf("the model reads %q", told[len(told)-1].Text)
			}
		})
	}
}

func TestToolLimit(t *testing.T) {
	const round = "call\ntool echo {\"words\":\"a\"}\n"
	t.Run("the call beyond it is proposed and not run", func(t *testing.T) {
		r := turn(t, round+round+"call\ntext More?\ntool echo {\"words\":\"b\"}", engine.Turn{ToolLimit: 2}, &enginetest.Host{})
		log := r.Host.Log()
		want := []string{"join", "message 3", "text message-3 More?", "propose echo", "model 3", "limit 2", "finish message-3"}
		if diff := cmp.Diff(want, log[len(log)-len(want):]); diff != "" || r.Err != nil || len(r.Tools.Ran()) != 2 {
			t.Errorf("%v, ran %v\n%s", r.Err, r.Tools.Ran(), diff)
		}
	})
	t.Run("without words the turn is silent", func(t *testing.T) {
		r := turn(t, round+round, engine.Turn{ToolLimit: 1}, &enginetest.Host{})
		if log := r.Host.Log(); r.Err != nil || log[len(log)-1] != "silent" || log[len(log)-2] != "limit 1" {
			t.Errorf("%v %v", r.Err, log)
		}
	})
	t.Run("an answer within it has no notice", func(t *testing.T) {
		r := turn(t, round+"call\ntext done", engine.Turn{ToolLimit: 1}, &enginetest.Host{})
		if r.Err != nil || slices.Contains(r.Host.Log(), "limit 1") {
			t.Errorf("%v %v", r.Err, r.Host.Log())
		}
	})
	t.Run("it is 30 by default and parallel calls count once", func(t *testing.T) {
		r := turn(t, strings.Repeat(round+"tool echo {\"words\":\"b\"}\n", 31), engine.Turn{}, &enginetest.Host{})
		if r.Err != nil || len(r.Tools.Ran()) != 2*native.DefaultToolLimit || !slices.Contains(r.Host.Log(), "limit 30") {
			t.Errorf("%v, ran %d", r.Err, len(r.Tools.Ran()))
		}
	})
	t.Run("a continued turn tells the model and has a fresh budget", func(t *testing.T) {
		r := turn(t, round+"call\ntext done", engine.Turn{Continue: true, ToolLimit: 1}, &enginetest.Host{Entries: []engine.Entry{
			{Kind: engine.EntryUser, TurnID: "old", Text: "go"},
			{Kind: engine.EntryTool, TurnID: "old", Step: 1, CallID: "c", Tool: "echo", Args: []byte(`{}`), Result: "r"},
		}})
		told := r.Model.Requests()[0].Messages
		if last := told[len(told)-1]; r.Err != nil || !last.Notice || last.Role != provider.RoleUser || !strings.Contains(last.Text, "go on from where you were") {
			t.Errorf("%v, %+v", r.Err, told)
		}
	})
}

func TestRetries(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		calls  int
		took   time.Duration
		code   string // "" for a reply
	}{
		"twice with growing pauses":                  {"call\nerror server retryable\ncall\nerror unreachable retryable\ncall\ntext ok", 3, 3 * time.Second, ""},
		"three attempts at most":                     {strings.Repeat("call\nerror server retryable\n", 4), 3, 3 * time.Second, "server"},
		"as late as the server asks":                 {"call\nerror rate_limit status=429 after=20s retryable\ncall\ntext ok", 2, 20 * time.Second, ""},
		"not for an hour":                            {"call\nerror rate_limit status=429 after=1h retryable", 1, 0, "rate_limit"},
		"not when it cannot help":                    {"call\nerror auth status=401", 1, 0, "auth"},
		"not after a word":                           {"call\ntext par\nerror unreachable", 1, 0, "unreachable"},
		"not after a word, whatever the server says": {"call\nreasoning par\nerror unreachable retryable", 1, 0, "unreachable"},
		"each call has its own":                      {"call\nerror server retryable\ncall\ntool echo {\"words\":\"a\"}\ncall\nerror server retryable\ncall\nerror server retryable\ncall\ntext ok", 5, 4 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := turn(t, tc.script, engine.Turn{}, &enginetest.Host{})
			code, _ := enginetest.FailureOf(r.Err)
			if code != tc.code || len(r.Model.Requests()) != tc.calls || r.Took != tc.took {
				t.Errorf("%v after %d calls and %v", r.Err, len(r.Model.Requests()), r.Took)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		want   engine.Failure
	}{
		"of the server": {"call\nwait 250ms\nerror overflow status=400 it does not fit", engine.Failure{
			Code: "overflow", Message: text.New("turn.overflow-still", "model", "m"), Status: 400, Provider: "scripted", LatencyMS: 250, Raw: "it does not fit",
		}},
		"cut off before a word": {"call\nreasoning long\nfinish length", engine.Failure{Code: "cut_off", Message: text.New("turn.cut-off", "model", "m"), Provider: "test"}},
		"filtered":              {"call\nfinish content_filter", engine.Failure{Code: "filtered", Message: text.New("turn.filtered", "provider", "test"), Provider: "test"}},
		"too many calls":        {"call\n" + strings.Repeat("tool echo {}\n", 65), engine.Failure{Code: "too_many_calls", Message: text.New("turn.too-many-calls", "model", "m", "max", 64), Provider: "test"}},
		"endless":               {"call\n" + strings.Repeat("text "+strings.Repeat("x", 1<<20)+"\n", 17), engine.Failure{Code: "answer_too_long", Message: text.New("turn.answer-too-long", "model", "m", "max", 16<<20), Provider: "test"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := turn(t, tc.script, engine.Turn{}, &enginetest.Host{})
			got, ok := r.Err.(*engine.Failure)
			if !ok {
				t.Fatalf("%v", r.Err)
			}
			plain := *got
			plain.Err = nil
			if diff := cmp.Diff(tc.want, plain); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("no such model", func(t *testing.T) {
		r := turn(t, "", engine.Turn{Model: "test/other"}, &enginetest.Host{})
		if code, message := enginetest.FailureOf(r.Err); code != "not_found" || message.String() != "There is no model test/other. There are: test/m." {
			t.Errorf("%v", r.Err)
		}
	})
	t.Run("cut off in the middle is a reply that says so", func(t *testing.T) {
		r := turn(t, "call\ntext half\nfinish length", engine.Turn{}, &enginetest.Host{})
		if ends := r.Host.Ends(); r.Err != nil || len(ends) != 1 || ends[0].FinishReason != "length" {
			t.Errorf("%v %+v", r.Err, ends)
		}
	})
}

func TestAnEmptyAnswerIsSilence(t *testing.T) {
	for name, script := range map[string]string{"nothing": "call", "white space": "call\ntext \" \\n\"", "thinking only": "call\nreasoning hm"} {
		t.Run(name, func(t *testing.T) {
			r := turn(t, script, engine.Turn{}, &enginetest.Host{})
			if log := r.Host.Log(); r.Err != nil || log[len(log)-1] != "silent" || len(r.Model.Requests()) != 1 {
				t.Errorf("%v %v", r.Err, log)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	for name, tc := range map[string]struct {
		script    string
		estimated bool
		out       int
	}{
		"reported":                        {"call\ntext 12345\nusage 1001 7", false, 7},
		"estimated, 4 characters a token": {"call\nreasoning 123\ntext 12345", true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := turn(t, tc.script, engine.Turn{}, &enginetest.Host{})
			used := r.Host.Used()
			if r.Err != nil || len(used) != 1 {
				t.Fatalf("%v %+v", r.Err, used)
			}
			c, sum := used[0], 0
			var labels []text.Key
			for _, p := range c.Parts {
				sum += p.Tokens
				labels = append(labels, p.Label.Key)
			}
			if diff := cmp.Diff([]text.Key{"usage.system", "usage.conversation", "usage.tools"}, labels); diff != "" {
				t.Errorf("parts:\n%s", diff)
			}
			if c.Estimated != tc.estimated || c.Completion != tc.out || c.ContextWindow != 4096 || sum != c.Prompt || c.Provider != "test" || c.Model != "m" {
				t.Errorf("%+v, parts sum up to %d", c, sum)
			}
			if req := r.Model.Requests()[0]; tc.estimated && c.Parts[0].Tokens != (len([]rune(req.System))+3)/4 {
				t.Errorf("system is estimated as %d", c.Parts[0].Tokens)
			} else if end := r.Host.Ends()[0]; tc.estimated && (end.Prompt != 0 || end.Completion != 0) {
				t.Errorf("SP-AMSG-03: an estimate is not told as the provider's count: %+v", end)
			}
		})
	}
}

// Whatever the model does and whenever the turn is stopped, the reports are well-formed, the turn
// ends in time and no goroutine is left (the bubble would not end).
func TestAnyScriptAnyStop(t *testing.T) {
	lines := []string{
		"text a", `text " "`, "reasoning b", "wait 7ms", `tool echo {"words":"a"}`, `tool ask {"words":"a"}`, `tool rest {"words":"a"}`,
		"tool nope {}", "tool echo {", `tool exit {"words":"a"}`, `tool boom {"words":"a"}`, `args " "`, "usage 3 4",
	}
	ends := []string{"", "finish stop", "finish length", "error server retryable", "error overflow", "hang"}
	rapid.Check(t, func(rt *rapid.T) {
		var script strings.Builder
		for range rapid.IntRange(1, 5).Draw(rt, "calls") {
			script.WriteString("call\n")
			tools := false
			for _, line := range rapid.SliceOfN(rapid.SampledFrom(lines), 0, 6).Draw(rt, "lines") {
				tools = tools || strings.HasPrefix(line, "tool")
				if tools || !strings.HasPrefix(line, "args") {
					script.WriteString(line + "\n")
				}
			}
			script.WriteString(rapid.SampledFrom(ends).Draw(rt, "end") + "\n")
		}
		stopAt := rapid.IntRange(0, 40).Draw(rt, "stop at")
		deadline := time.Duration(rapid.IntRange(0, 8000).Draw(rt, "deadline ms")) * time.Millisecond
		limit := rapid.IntRange(1, 3).Draw(rt, "limit")
		inputs := rapid.IntRange(0, 3).Draw(rt, "inputs")
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			host := &enginetest.Host{StopAt: stopAt, Delay: time.Millisecond}
			host.OnEnd = func() {
				if inputs > 0 {
					inputs--
					host.Send(fmt.Sprint("late ", inputs))
				}
			}
			r := suite.Do(t, ctx, script.String(), engine.Turn{ToolLimit: limit}, host)
			if late := r.Took - deadline; late > 2*time.Second {
				t.Errorf("%v late", late)
			}
			lawsOfContext(t, r)
		})
		if t.Failed() {
			rt.Fatalf("script:\n%s", script.String())
		}
	})
}

// lawsOfContext are what model servers insist on: each call answered right after its message.
func lawsOfContext(t *testing.T, r enginetest.Run) {
	t.Helper()
	for _, req := range r.Model.Requests() {
		var open []string
		for _, m := range req.Messages {
			if m.Role == provider.RoleTool {
				if len(open) == 0 || open[0] != m.CallID || m.Text == "" {
					t.Errorf("result %q does not answer %v", m.CallID, open)
					return
				}
				open = open[1:]
				continue
			}
			if len(open) > 0 || (m.Text == "" && len(m.ToolCalls) == 0) {
				t.Errorf("%+v comes before the results of %v, or is empty", m, open)
			}
			for _, c := range m.ToolCalls {
				open = append(open, c.ID)
			}
		}
		if len(open) > 0 {
			t.Errorf("%v have no result", open)
		}
	}
}

// What is past the line is tried once until it has fallen below.
func TestOneAttemptToMakeRoom(t *testing.T) {
	full := []engine.Entry{{Kind: engine.EntryUser, TurnID: "old", Text: strings.Repeat("word ", 3000)}}
	calls := "call\ntool echo {\"words\":\"a\"}\ncall\ntool echo {\"words\":\"b\"}\ncall\ntext done"
	attempts := func(r enginetest.Run) (n int) {
		for _, line := range r.Host.Log() {
			if line == "compress" {
				n++
			}
		}
		return n
	}
	t.Run("FAIL-F1 a conversation that cannot be shortened is tried once in a turn", func(t *testing.T) {
		if r := turn(t, calls, engine.Turn{}, &enginetest.Host{Entries: full}); r.Err != nil || attempts(r) != 1 {
			t.Errorf("%d attempts, %v", attempts(r), r.Err)
		}
	})
	t.Run("one that has grown again is tried again", func(t *testing.T) {
		host := &enginetest.Host{Entries: full, Shorten: func([]engine.Entry) []engine.Entry {
			return []engine.Entry{{Kind: engine.EntrySummary, Text: "short"}}
		}}
		script := "call\ntool echo {\"words\":\"a\"}\nusage 200 10\ncall\ntool echo {\"words\":\"b\"}\nusage 3500 10\ncall\ntext done"
		if r := turn(t, script, engine.Turn{}, host); r.Err != nil || attempts(r) != 2 {
			t.Errorf("%d attempts, %v", attempts(r), r.Err)
		}
	})
	t.Run("what a server counted before the turn decides", func(t *testing.T) {
		for context, want := range map[int]int{0: 0, 2000: 0, 3500: 1} {
			host := &enginetest.Host{Entries: []engine.Entry{{Kind: engine.EntryUser, TurnID: "old", Text: "few words"}}}
			if r := turn(t, "call\ntext done", engine.Turn{Context: context}, host); attempts(r) != want {
				t.Errorf("%d tokens: %d attempts", context, attempts(r))
			}
		}
	})
	t.Run("FAIL-F1 a model that goes on refusing ends the turn", func(t *testing.T) {
		host := &enginetest.Host{Entries: full[:1:1], Shorten: func(said []engine.Entry) []engine.Entry { return said[:0] }}
		host.Entries = []engine.Entry{{Kind: engine.EntryUser, TurnID: "old", Text: "few words"}}
		r := turn(t, strings.Repeat("call\nerror overflow status=400 too long\n", 5), engine.Turn{}, host)
		if code, _ := enginetest.FailureOf(r.Err); code != "overflow" || attempts(r) != 1 || len(r.Model.Requests()) != 2 {
			t.Errorf("%d attempts, %d calls, %v", attempts(r), len(r.Model.Requests()), r.Err)
		}
	})
}
