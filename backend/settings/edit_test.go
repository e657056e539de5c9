package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const byHand = `# Written by hand.
name: Mira   # her name

# Where she thinks.
providers:
- id: local          # the box in the cellar
  type: openai
  models: [qwen3:8b,   "big one"]

default_model: local/qwen3:8b  # the quick one
Language: en
settings:
  # rooms are quiet
  platforms:
    onebot:
      agent:
        thinking: none # they are in a hurry
        extraPrompt: |
          # no heading
          Be brief.

  global: {agent: {toolLimit: 12, persona: "a: b"}}
# the end
`

func TestRewrite(t *testing.T) {
	path := func(s string) []string { return strings.Split(s, "/") }
	for name, c := range map[string]struct {
		doc, path string
		value     any
		want      string // what stands there instead; "" is the same document
		cut, put  string
	}{
		"a value keeps its comment":             {path: "default_model", value: "local/big one", cut: "local/qwen3:8b  #", put: "local/big one  #"},
		"a value deep inside":                   {path: "settings/platforms/onebot/agent/thinking", value: "high", cut: "none #", put: "high #"},
		"case of keys counts":                   {path: "language", value: "en", cut: "# the end\n", put: "# the end\nlanguage: en\n"},
		"a text of several lines":               {path: "settings/platforms/onebot/agent/extraPrompt", value: "one\n# two\n", cut: "          # no heading\n          Be brief.\n", put: "          one\n          # two\n"},
		"a text becomes one line":               {path: "settings/platforms/onebot/agent/extraPrompt", value: "x", cut: "|\n          # no heading\n          Be brief.\n", put: "x\n"},
		"a further key in a map":                {path: "settings/platforms/onebot/agent/toolLimit", value: 3.0, cut: "Be brief.\n", put: "Be brief.\n        toolLimit: 3\n"},
		"a further map in a map":                {path: "settings/platforms/irc/agent/toolLimit", value: 3.0, cut: "Be brief.\n", put: "Be brief.\n    irc:\n      agent:\n        toolLimit: 3\n"},
		"inside braces":                         {path: "settings/global/agent/toolLimit", value: 13.0, cut: "toolLimit: 12", put: "toolLimit: 13"},
		"taken out of braces":                   {path: "settings/global/agent/toolLimit", cut: "toolLimit: 12, ", put: ""},
		"a further key in braces":               {path: "settings/global/host/x", value: true, cut: `"a: b"}}`, put: `"a: b"}, host: {x: true}}`},
		"taken out, comment and all of its own": {path: "settings/platforms/onebot/agent/thinking", cut: "        thinking: none # they are in a hurry\n", put: ""},
		"what was never there":                  {path: "plugins/agent/x"},
		"a list":                                {path: "plugins/agent/groups", value: []any{"a", "b"}, cut: "# the end\n", put: "# the end\nplugins:\n  agent:\n    groups:\n      - a\n      - b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			want := byHand
			if c.cut != "" {
				if strings.Count(byHand, c.cut) != 1 {
					t.Fatalf("%q stands %d times", c.cut, strings.Count(byHand, c.cut))
				}
				want = strings.Replace(byHand, c.cut, c.put, 1)
			}
			got, err := rewrite([]byte(byHand), Edit{Path: path(c.path), Value: c.value})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRewriteOddDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		doc   string
		path  []string
		value any
		want  string
	}{
		"nothing yet":                 {"", []string{"language"}, "en", "language: en\n"},
		"comments only":               {"# hello\n", []string{"language"}, "en", "# hello\nlanguage: en\n"},
		"no newline at the end":       {"name: x", []string{"language"}, "en", "name: x\nlanguage: en\n"},
		"the lines of another system": {"name: x\r\nlanguage: en # y\r\n", []string{"language"}, "zh-CN", "name: x\r\nlanguage: zh-CN # y\r\n"},
		"a mark at the beginning":     {"\ufeffname: x\n", []string{"name"}, "z", "\ufeffname: z\n"},
		"a key without a value":       {"settings:\nname: x\n", []string{"settings", "global", "agent", "x"}, 1.0, "settings:\n  global:\n    agent:\n      x: 1\nname: x\n"},
		"empty braces":                {"settings: {}  # none\nname: x\n", []string{"settings", "global", "a", "x"}, 1.0, "settings:\n  global:\n    a:\n      x: 1\nname: x\n"},
		"the last one takes its map along": {
			"a: 1\nsettings: # here\n  global:\n    # keep me\n    agent:\n      x: 1\n# end\n",
			[]string{"settings", "global", "agent", "x"},
			nil, "a: 1\n    # keep me\n# end\n",
		},
		"the last of all":                 {"language: en\n", []string{"language"}, nil, ""},
		"a list at the column of its key": {"models:\n- a\n- b\nname: x\n", []string{"models"}, []any{"c"}, "models:\n  - c\nname: x\n"},
		"a wide key before the value":     {"人: {名: a} # 注\n", []string{"人", "名"}, "b", "人: {名: b} # 注\n"},
		"all in braces":                   {"{name: x}\n", []string{"language"}, "en", "{name: x, language: en}\n"},
		"quotes that needed them":         {"name: 'it''s' # '\n", []string{"name"}, "x: y", "name: 'x: y' # '\n"},
		"an indented document":            {"  name: x\n  language: en\n", []string{"language"}, "zh-CN", "  name: x\n  language: zh-CN\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := rewrite([]byte(c.doc), Edit{Path: c.path, Value: c.value})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
	for name, doc := range map[string]string{
		"a value where a map should be": "settings: 5\n", "broken": "a: [1\n", "several documents": "a: 1\n---\nb: 2\n", "a list": "- a\n",
	} {
		t.Run("refused: "+name, func(t *testing.T) {
			if got, err := rewrite([]byte(doc), Edit{Path: []string{"settings", "global"}, Value: "x"}); err == nil {
				t.Errorf("%s", got)
			}
		})
	}
}

// Whatever is written and taken out, in any order: the document says exactly that, everything else in
// it says what it said, and every comment on a line of its own is still there, in order.
func TestAnyEditsOfADocument(t *testing.T) {
	values := []any{"x", "a: b", "two\nlines", "# no comment", "", 3.0, -1.5, true, []any{"a", 2.0}, []any{}, map[string]any{"k": "v"}, "  outer  ", "null", "trail \n\n"}
	keys := []string{"model", "thinking", "toolLimit", "default_model", "键"}
	rapid.Check(t, func(rt *rapid.T) {
		doc := []byte(rapid.SampledFrom([]string{byHand, "", "# only this\n", strings.ReplaceAll(byHand, "\n", "\r\n")}).Draw(rt, "document"))
		before, err := parse(doc)
		if err != nil {
			rt.Fatal(err)
		}
		model, comments := before.tree, comments(doc)
		for range rapid.IntRange(1, 8).Draw(rt, "edits") {
			p := rapid.SampledFrom([][]string{{"language"}, {"default_model"}, {"plugins", "agent"}, {"settings", "global", "agent"}, {"settings", "platforms", "onebot", "agent"}, {"settings", "types", "onebot", "group", "host"}}).Draw(rt, "where")
			if len(p) > 1 {
				p = append(slices.Clone(p), rapid.SampledFrom(keys).Draw(rt, "key"))
			}
			e := Edit{Path: p}
			if rapid.Bool().Draw(rt, "sets") {
				e.Value = rapid.SampledFrom(values).Draw(rt, "value")
			}
			out, err := rewrite(doc, e)
			if err != nil {
				rt.Fatalf("%v: %v\n%s", e, err, doc)
			}
			want, _ := edited(model, e)
			got, err := parse(withoutMark(out))
			if err != nil || !same(got.tree, want) {
				rt.Fatalf("%v: %v says %s, want %s\n%s", e, err, js(got.tree), js(want), out)
			}
			if again, err := rewrite(out, e); err != nil || string(again) != string(out) {
				rt.Fatalf("the same edit again changes %q to %q (%v)", out, again, err)
			}
			doc, model = out, want
		}
		left := string(doc)
		for _, c := range comments {
			_, rest, found := strings.Cut(left, c)
			if !found {
				rt.Fatalf("%q is gone or moved:\n%s", c, doc)
			}
			left = rest
		}
	})
}

// comments are the lines that are nothing else, outside texts.
func comments(doc []byte) []string {
	var all []string
	for line := range strings.Lines(string(doc)) {
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "#") && trimmed != "# no heading" {
			all = append(all, trimmed)
		}
	}
	return all
}

func js(v any) string {
	b, err := json.Marshal(v)
	return fmt.Sprintf("%s%v", b, map[bool]any{true: "", false: err}[err == nil])
}
