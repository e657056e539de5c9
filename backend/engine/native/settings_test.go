package native_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"aalis/backend/engine"
	"aalis/backend/engine/enginetest"
	"aalis/backend/engine/native"
	"aalis/backend/provider"
	"aalis/backend/provider/scripted"
	"aalis/backend/settings/field"
	"aalis/backend/text"
	"aalis/backend/tool"
)

// values are what a session is set to; each asking moves on to the next, the last one stays.
type values struct {
	mu  sync.Mutex // guards all
	all []map[string]any
}

func (v *values) Current(context.Context) (map[string]json.RawMessage, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := map[string]json.RawMessage{}
	for key, value := range v.all[0] {
		now[key] = field.Raw(value)
	}
	if len(v.all) > 1 {
		v.all = v.all[1:]
	}
	return now, nil
}

// set runs a turn of a session with these settings, on an engine with a second model and with the tools
// echo and ask in a group of their own.
func set(t *testing.T, script string, about engine.Turn, all ...map[string]any) (r enginetest.Run) {
	t.Helper()
	two := enginetest.Suite{New: func(t *testing.T, script string, tools ...tool.Definition) (engine.Engine, enginetest.Model) {
		model := scripted.New(scripted.MustParse(script)...)
		models, err := provider.NewSet(provider.Config{Providers: []provider.ProviderConfig{
			{ID: "test", Type: "scripted", Models: []provider.ModelConfig{{Name: "m"}, {Name: "other"}}},
		}}, map[string]provider.Kind{"scripted": model.Kind()})
		if err != nil {
			t.Fatal(err)
		}
		words := slices.DeleteFunc(slices.Clone(tools), func(d tool.Definition) bool { return d.Name != "echo" && d.Name != "ask" })
		return native.New(native.Config{Models: models, Tools: tool.NewRegistry(tools...), Groups: []native.ToolGroup{{ID: "words", Tools: words}}}), model
	}}
	about.Settings = &values{all: all}
	synctest.Test(t, func(t *testing.T) { r = two.Do(t, t.Context(), script, about, &enginetest.Host{}) })
	return r
}

const once = "call\ntext ok"

func offered(r provider.Request) (names []string) {
	for _, s := range r.Tools {
		names = append(names, s.Name)
	}
	return names
}

func TestTheEngineObeys(t *testing.T) {
	first := func(t *testing.T, r enginetest.Run) provider.Request {
		t.Helper()
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		return r.Model.Requests()[0]
	}
	t.Run("the model", func(t *testing.T) {
		if got := first(t, set(t, once, engine.Turn{}, map[string]any{"model": "test/other"})).Model; got != "other" {
			t.Errorf("called %s", got)
		}
		if got := first(t, set(t, once, engine.Turn{Model: "test/m"}, map[string]any{"model": "test/other"})).Model; got != "m" {
			t.Errorf("a turn that is bound to a model called %s", got)
		}
		r := set(t, "", engine.Turn{}, map[string]any{"model": "test/gone"})
		if code, _ := enginetest.FailureOf(r.Err); code != "not_found" {
			t.Errorf("a model that is gone: %v", r.Err)
		}
	})
	t.Run("the thinking", func(t *testing.T) {
		if got := first(t, set(t, once, engine.Turn{}, map[string]any{"thinking": "high"})).Thinking; got != "high" {
			t.Errorf("%q", got)
		}
	})
	t.Run("persona and further instructions", func(t *testing.T) {
		plain := first(t, set(t, once, engine.Turn{}, map[string]any{"persona": "  ", "extraPrompt": ""})).System
		if strings.Contains(plain, "owner's words") || strings.Contains(plain, "keep in mind here") {
			t.Errorf("headings over nothing:\n%s", plain)
		}
		full := first(t, set(t, once, engine.Turn{}, map[string]any{"persona": "A cat.", "extraPrompt": "No {{.Name}}."})).System
		at, after := strings.Index(full, "A cat."), strings.Index(full, "No {{.Name}}.")
		if at < 0 || after < at {
			t.Errorf("%d %d in:\n%s", at, after, full)
		}
	})
	t.Run("the groups of tools", func(t *testing.T) {
		everything := offered(first(t, set(t, once, engine.Turn{}, map[string]any{})))
		for name, groups := range map[string][]string{"chosen": {"words"}, "all by a star": {"*"}, "none": {}, "another": {"other"}} {
			got := offered(first(t, set(t, once, engine.Turn{}, map[string]any{"toolGroups": groups})))
			has := slices.Contains(got, "echo") && slices.Contains(got, "ask")
			lacks := !slices.Contains(got, "echo") && !slices.Contains(got, "ask")
			if on := name == "chosen" || name == "all by a star"; on && !has || !on && !lacks || !slices.Contains(got, "exit") {
				t.Errorf("%s: %v of %v", name, got, everything)
			}
		}
	})
	t.Run("a tool that is off is not run, whoever asks for it", func(t *testing.T) {
		r := set(t, "call\ntool echo {\"words\":\"a\"}\ncall\ntext ok", engine.Turn{}, map[string]any{"toolGroups": []string{}})
		if ran := r.Tools.Ran(); r.Err != nil || len(ran) != 0 {
			t.Errorf("%v %v", r.Err, ran)
		}
	})
	t.Run("one that is switched off after the model asked for it", func(t *testing.T) {
		r := set(t, "call\ntool echo {\"words\":\"a\"}\ncall\ntext ok", engine.Turn{}, map[string]any{}, map[string]any{"toolGroups": []string{}})
		if ran := r.Tools.Ran(); r.Err != nil || len(ran) != 0 {
			t.Errorf("%v %v", r.Err, ran)
		}
	})
	t.Run("the limit of rounds, lowered while it runs", func(t *testing.T) {
		round := "call\ntool exit {\"words\":\"a\"}\n"
		// Asked before each call, and by each tool.
		r := set(t, strings.Repeat(round, 9), engine.Turn{}, map[string]any{"toolLimit": 8}, map[string]any{"toolLimit": 8}, map[string]any{"toolLimit": 8}, map[string]any{"toolLimit": 8}, map[string]any{"toolLimit": 1})
		if got := len(r.Tools.Ran()); got != 2 || !slices.Contains(r.Host.Log(), "limit 1") {
			t.Errorf("%d rounds: %v", got, r.Host.Log())
		}
	})
	t.Run("a change counts at the next call of the running turn", func(t *testing.T) {
		now := map[string]any{"model": "test/other", "thinking": "low", "extraPrompt": "Be kind.", "toolGroups": []string{}}
		r := set(t, "call\ntool exit {\"words\":\"a\"}\ncall\ntext ok", engine.Turn{}, map[string]any{}, map[string]any{}, now)
		all := r.Model.Requests()
		if r.Err != nil || len(all) != 2 {
			t.Fatalf("%v %d", r.Err, len(all))
		}
		if got := all[0]; got.Model != "m" || got.Thinking != "" || strings.Contains(got.System, "Be kind.") || !slices.Contains(offered(got), "echo") {
			t.Errorf("before: %+v", got)
		}
		if got := all[1]; got.Model != "other" || got.Thinking != "low" || !strings.Contains(got.System, "Be kind.") || slices.Contains(offered(got), "echo") {
			t.Errorf("after: %+v", got)
		}
		if ends := r.Host.Ends(); ends[len(ends)-1].Model != "other" {
			t.Errorf("the message is told of %+v", ends)
		}
	})
}

func TestFields(t *testing.T) {
	models, err := provider.NewSet(provider.Config{Providers: []provider.ProviderConfig{
		{ID: "test", Type: "scripted", Models: []provider.ModelConfig{{Name: "m"}}}, {ID: "open", Type: "scripted"},
	}}, map[string]provider.Kind{"scripted": scripted.New().Kind()})
	if err != nil {
		t.Fatal(err)
	}
	p := native.Fields("aalis", models)
	if err := p.Verify(); err != nil {
		t.Fatal(err)
	}
	check := func(key string, value any) error {
		for _, f := range p.Fields {
			if f.Key == key {
				return f.Check(field.Raw(value))
			}
		}
		t.Fatalf("there is no field %s", key)
		return nil
	}
	t.Run("SP-CONF-50 values that the engine could not go by are refused", func(t *testing.T) {
		for key, c := range map[string]struct{ yes, no []any }{
			"model":       {[]any{"test/m", "open/any/thing"}, []any{"test/other", "nobody/m", "m", 7}},
			"thinking":    {[]any{"none", "high", "xhigh"}, []any{"", "very long indeed", true, []string{}}},
			"toolGroups":  {[]any{[]string{}, []string{"shell", "*"}}, []any{"shell", []string{""}}},
			"toolLimit":   {[]any{1, 30, 500}, []any{0, 501, 1.5, "3"}},
			"persona":     {[]any{"", "A cat."}, []any{7}},
			"extraPrompt": {[]any{"", "two\nlines"}, []any{nil}},
		} {
			for _, v := range c.yes {
				if err := check(key, v); err != nil {
					t.Errorf("%s = %v: %v", key, v, err)
				}
			}
			for _, v := range c.no {
				if check(key, v) == nil {
					t.Errorf("%s = %v was taken", key, v)
				}
			}
		}
	})
	t.Run("SP-CONF-10 the model in use, when none is set", func(t *testing.T) {
		actual, known := p.Fields[0].Actual()
		if !known || string(actual.Value) != `"test/m"` || actual.Label.In(text.English) != "The first there is (now: test/m)" {
			t.Errorf("%s %q %v", actual.Value, actual.Label, known)
		}
	})
}
