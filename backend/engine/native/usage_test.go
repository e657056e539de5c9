package native

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aalis/backend/engine"
	"aalis/backend/provider"
	"aalis/backend/text"
	"aalis/backend/tool"
)

func TestParts(t *testing.T) {
	def := func(name string) tool.Definition { return tool.Definition{Name: name} }
	e := &Engine{groups: map[string]string{}}
	for _, g := range []ToolGroup{{ID: "files", Tools: []tool.Definition{def("read_file"), def("edit_file")}}, {ID: "shell", Tools: []tool.Definition{def("run_command")}}} {
		for _, d := range g.Tools {
			e.groups[d.Name] = g.ID
		}
	}
	words := func(n int) string { return strings.Repeat("好", n) }
	req := provider.Request{
		System: words(100) + words(40) + words(8),
		Tools:  []provider.ToolSpec{{Name: "read_file", Description: words(11)}, {Name: "edit_file", Description: words(11)}, {Name: "run_command", Description: words(9)}, {Name: "own", Description: words(17)}},
		Messages: []provider.Message{
			{Role: provider.RoleUser, Text: words(20)},
			{Role: provider.RoleAssistant, Text: words(8), ToolCalls: []provider.ToolCall{
				{ID: "1", Name: "run_command", Args: json.RawMessage("{}")}, {ID: "2", Name: "read_file", Args: json.RawMessage("{}")},
			}},
			{Role: provider.RoleTool, CallID: "1", Text: words(30)},
			{Role: provider.RoleTool, CallID: "2", Text: words(10)},
		},
	}
	part := func(label text.Key, tokens int, by map[string]int) engine.UsagePart {
		return engine.UsagePart{Label: text.New(label), Tokens: tokens, Injectors: by}
	}
	t.Run("SP-USAGE-02 SP-USAGE-03 every part by its name, with whoever put it there", func(t *testing.T) {
		all := e.weigh(set{persona: words(40), extra: words(8)}, req)
		want := []engine.UsagePart{
			part("usage.system", 25, nil), part("usage.persona", 10, map[string]int{"aalis/persona": 10}), part("usage.extra", 2, map[string]int{"aalis/extraPrompt": 2}),
			part("usage.conversation", 13, nil), part("usage.results", 10, map[string]int{"shell/run_command": 8, "files/read_file": 2}),
			part("usage.tools", 20, map[string]int{"files/read_file": 5, "files/edit_file": 5, "shell/run_command": 5, "aalis/own": 5}),
		}
		if diff := cmp.Diff(want, share(all, estimated(all)), cmp.Comparer(func(a, b text.Text) bool { return a.Key == b.Key })); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what is not there is no part", func(t *testing.T) {
		all := e.weigh(set{}, provider.Request{System: "x"})
		if len(all) != 3 || estimated(all) != 1 {
			t.Errorf("%+v", all)
		}
	})
}

// TestShareAddsUp: whatever the server counts, the parts are all of it, and the injectors all of their
// parts.
func TestShareAddsUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var all []weight
		for range rapid.IntRange(1, 6).Draw(rt, "parts") {
			w := weight{label: "usage.tools", tokens: rapid.IntRange(0, 5000).Draw(rt, "tokens")}
			if rapid.Bool().Draw(rt, "told apart") {
				w.by = rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}/[a-z]{1,3}`), rapid.IntRange(0, 1<<20), 1, 5).Draw(rt, "by")
			}
			all = append(all, w)
		}
		prompt := rapid.IntRange(0, 1_000_000).Draw(rt, "prompt")
		left := prompt
		for i, p := range share(all, prompt) {
			left -= p.Tokens
			if p.Tokens < 0 {
				rt.Errorf("part %d has %d", i, p.Tokens)
			}
			if all[i].by != nil && sum(p.Injectors) != p.Tokens {
				rt.Errorf("part %d has %d, its injectors %d", i, p.Tokens, sum(p.Injectors))
			}
		}
		if left != 0 {
			rt.Errorf("%d of %d are in no part", left, prompt)
		}
	})
}

func TestASummaryIsAPartOfItsOwn(t *testing.T) {
	e := New(Config{})
	said := []engine.Entry{{Kind: engine.EntrySummary, Text: strings.Repeat("long ago ", 40)}, {Kind: engine.EntryUser, TurnID: "t", Text: "now"}}
	req, _ := prepared{}.request(said, true)
	all := e.weigh(set{}, req)
	var labels []text.Key
	for _, w := range all {
		labels = append(labels, w.label)
	}
	if want := []text.Key{"usage.system", "usage.summary", "usage.conversation", "usage.tools"}; !slices.Equal(labels, want) || all[1].tokens < 90 || all[2].tokens != 1 {
		t.Errorf("%v, %+v", labels, all)
	}
}
