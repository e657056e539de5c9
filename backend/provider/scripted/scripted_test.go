package scripted

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/provider"
	"aalis/backend/provider/providertest"
)

func TestScript(t *testing.T) {
	scripts := map[string]string{
		"text and thinking": "call\nreasoning \"hm \"\nreasoning well\ntext Hel\nwait 300ms\ntext \"lo\\n\"\nusage 10 2\n",
		"calls":             "call\ntext let me see\ntool run_command {\"command\":\ntool read_file\nargs {}\nargs \" \"\n",
		"cut off":           "call\ntext abc\nfinish length",
		"error at once":     "call\nerror rate_limit status=429 after=2s retryable try later",
		"error later":       "call\ntext a\nerror unreachable",
	}
	blocks := func(t *testing.T, s providertest.Scenario) provider.Model {
		m := New()
		for range 20 { // the suite asks many times
			calls, err := Parse(scripts[s.Name])
			if err != nil {
				t.Fatal(err)
			}
			m.Add(calls...)
		}
		return m
	}
	providertest.Suite{Model: blocks}.Run(t, []providertest.Scenario{
		{Name: "text and thinking", Want: providertest.Answer{
			Reasoning: "hm well", Text: "Hello\n", Usage: &provider.Usage{Prompt: 10, Completion: 2}, Finish: "stop",
		}},
		{Name: "calls", Want: providertest.Answer{Text: "let me see", Finish: "tool_calls", Calls: []providertest.Call{
			{Name: "run_command", Args: `{"command":`}, {Name: "read_file", Args: "{} "},
		}}},
		{Name: "cut off", Want: providertest.Answer{Text: "abc", Finish: "length"}},
		{Name: "error at once", Want: providertest.Answer{Err: "rate_limit"}},
		{Name: "error later", Want: providertest.Answer{Text: "a", Err: "unreachable"}},
	})
}

func TestBlocksGoToWhoAsks(t *testing.T) {
	ask := func(t *testing.T, m *Model, words string) string {
		return providertest.Collect(t, m.Stream(t.Context(), provider.Request{Messages: []provider.Message{
			{Role: provider.RoleUser, Text: words}, {Role: provider.RoleUser, Text: "a notice", Notice: true},
		}})).Text
	}
	m := New(MustParse("call when=cat\ntext meow\ncall\ntext first\ncall\ntext second")...)
	got := []string{ask(t, m, "dog"), ask(t, m, "a cat"), ask(t, m, "dog")}
	if diff := cmp.Diff([]string{"first", "meow", "second"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if m.Left() != 0 || len(m.Requests()) != 3 || m.Requests()[1].Messages[0].Text != "a cat" {
		t.Errorf("left %d, requests %+v", m.Left(), m.Requests())
	}
	if answer := providertest.Collect(t, m.Stream(t.Context(), provider.Request{})); answer.Err != provider.ErrRefused {
		t.Errorf("an exhausted script gives %+v", answer)
	}
}

func TestGateHoldsUntilOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(MustParse("call\ntext a\ngate door\ntext b")...)
		start := time.Now()
		time.AfterFunc(time.Minute, func() { m.Open("door"); m.Open("door") })
		answer := providertest.Collect(t, m.Stream(t.Context(), provider.Request{}))
		if answer.Text != "ab" || time.Since(start) != time.Minute {
			t.Errorf("%+v after %v", answer, time.Since(start))
		}
	})
}

func TestParseNamesTheMistake(t *testing.T) {
	for script, want := range map[string]string{
		"text a":                      `script line 1: "text" stands before the first "call"`,
		"call\nfinish stop\ntext a":   `script line 3: "text" stands after the end`,
		"call\nfinish sotp":           `finish "sotp" is unknown; known are [stop`,
		"call\nfoo":                   `"foo" is unknown; known are call, text`,
		"call\nwait soon":             `wait wants a duration like 300ms, not "soon"`,
		"call\nargs {}":               `args stands before a tool`,
		"call\ntext \"a":              `"a is not a quoted Go string`,
		"call\nusage 1":               `usage wants two numbers, not "1"`,
		"call\nerror oops":            `error "oops" is unknown; known are`,
		"call\nerror server status=x": `status="x" is not valid`,
		"call who=me":                 `call takes when=WORDS, not "who=me"`,
		"call\ntool":                  `tool needs a name`,
		"call\ngate":                  `gate needs a name`,
		"call\ntext":                  `text needs words`,
	} {
		if _, err := Parse(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, want %q", script, err, want)
		}
	}
}
