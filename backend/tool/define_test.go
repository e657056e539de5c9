package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type sample struct {
	Path  string `json:"path" jsonschema:"minLength=1" jsonschema_description:"A path."`
	Count int    `json:"count,omitempty" jsonschema:"minimum=1,maximum=9" jsonschema_description:"How many."`
	Mode  string `json:"mode,omitempty" jsonschema:"enum=fast,enum=slow" jsonschema_description:"How."`
	All   bool   `json:"all,omitempty" jsonschema_description:"Whether all."`
}

func sampleTool(prepare func(context.Context, Call, sample) (Prepared, error)) Definition {
	return Define(Definition{Name: "do_it", Description: "\nDoes it.\n", Example: json.RawMessage(`{"path":"a"}`), Effect: Read}, prepare)
}

func accept(got *sample) func(context.Context, Call, sample) (Prepared, error) {
	return func(_ context.Context, _ Call, p sample) (Prepared, error) {
		*got = p
		return Prepared{Execute: func(context.Context, Output) (Result, error) { return Result{Text: "done"}, nil }}, nil
	}
}

func TestSchemaIsWhatAModelShouldSee(t *testing.T) {
	want := `{"properties":{"path":{"type":"string","minLength":1,"description":"A path."},` +
		`"count":{"type":"integer","maximum":9,"minimum":1,"description":"How many."},` +
		`"mode":{"type":"string","enum":["fast","slow"],"description":"How."},` +
		`"all":{"type":"boolean","description":"Whether all."}},` +
		`"additionalProperties":false,"type":"object","required":["path"]}`
	var got sample
	def := sampleTool(accept(&got))
	if diff := cmp.Diff(want, string(def.Params)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if def.Description != "Does it." {
		t.Errorf("description %q", def.Description)
	}
}

func TestArguments(t *testing.T) {
	var got sample
	registry := NewRegistry(sampleTool(accept(&got)))
	for _, c := range []struct {
		name, args string
		want       sample
		params     map[string]any
	}{
		{"all given", `{"path":"a","count":2,"mode":"slow","all":true}`, sample{"a", 2, "slow", true}, map[string]any{"path": "a", "count": json.Number("2"), "mode": "slow", "all": true}},
		{"an optional one as null counts as left out, and is shown as given", `{"path":"a","count":null}`, sample{Path: "a"}, map[string]any{"path": "a", "count": nil}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got = sample{}
			prepared, err := registry.Prepare(t.Context(), "do_it", Call{Args: json.RawMessage(c.args)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.params, prepared.Facts.Params); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
	const tail = ` Parameters: path (a string that is not empty), count (an integer from 1 to 9, optional), mode (one of "fast", "slow", optional), all (true or false, optional). Example: {"path":"a"}`
	for _, c := range []struct{ name, args, want string }{
		{"no arguments", ``, `"path" is missing; it must be a string that is not empty.`},
		{"a slip in a name", `{"pth":"a"}`, `"path" is missing; it must be a string that is not empty; "pth" is not a parameter, did you mean "path"?.`},
		{"wrong case", `{"path":"a","Count":2}`, `"Count" is not a parameter, did you mean "count"?.`},
		{
			"everything at once", `{"path":5,"count":10,"mode":"x","all":"yes","zzzzz":1}`,
			`"path" must be a string that is not empty, got 5; "count" must be an integer from 1 to 9, got 10; "mode" must be one of "fast", "slow", got "x"; "all" must be true or false, got "yes"; "zzzzz" is not a parameter.`,
		},
		{"a name twice", `{"path":"shown","path":"run"}`, `"path" stands twice.`},
		{"no object", `["a"]`, `they must be one JSON object, got ["a"].`},
		{"not UTF-8", "{\"path\":\"\xff\"}", `they are not valid UTF-8.`},
		{"cut off", `{"path":"a`, `they are not JSON: unexpected EOF.`},
		{"a long value is cut in the sentence", `{"path":"a","count":"` + strings.Repeat("é", 100) + `"}`, `"count" must be an integer from 1 to 9, got "` + strings.Repeat("é", 29) + `….`},
		{"too deep", `{"path":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, `they are nested deeper than 64 levels.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := registry.Prepare(t.Context(), "do_it", Call{Args: json.RawMessage(c.args)})
			want := &Error{Code: InvalidArgs, NotExecuted: true, Message: "the arguments of do_it are wrong: " + c.want + tail}
			if diff := cmp.Diff(error(want), err); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRegistry(t *testing.T) {
	var got sample
	def := sampleTool(accept(&got))
	other := def
	other.Name = "do_more"
	t.Run("lists the tools in the order given", func(t *testing.T) {
		want := []Spec{{"do_more", "Does it.", def.Params, Read}, {"do_it", "Does it.", def.Params, Read}}
		if diff := cmp.Diff(want, NewRegistry(other, def).Specs()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("names the nearest tool for an unknown one", func(t *testing.T) {
		for name, want := range map[string]string{
			"doit": `there is no tool "doit"; did you mean "do_it"?`, "Do-More": `there is no tool "Do-More"; did you mean "do_more"?`,
			"read_file": `there is no tool "read_file"; the tools are: do_it, do_more`,
		} {
			_, err := NewRegistry(def, other).Prepare(t.Context(), name, Call{})
			if diff := cmp.Diff(error(&Error{Code: UnknownTool, NotExecuted: true, Message: want}), err); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
	t.Run("mistakes of the program panic at start", func(t *testing.T) {
		for name, build := range map[string]func(){
			"twice":          func() { NewRegistry(def, def) },
			"without Define": func() { NewRegistry(Definition{Name: "x"}) },
			"bad name":       func() { Define(Definition{Name: "Bad Name"}, accept(&got)) },
			"bad example": func() {
				Define(Definition{Name: "x", Example: json.RawMessage(`{"count":1}`)}, accept(&got))
			},
			"no description of a parameter": func() {
				Define(Definition{Name: "x", Example: json.RawMessage(`{"a":""}`)}, func(context.Context, Call, struct {
					A string `json:"a"`
				},
				) (Prepared, error) {
					return Prepared{}, nil
				})
			},
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				build()
			}()
		}
	})
}

func TestPanicsFailOneCall(t *testing.T) {
	bad := sampleTool(func(_ context.Context, _ Call, p sample) (Prepared, error) {
		if p.All {
			panic("in prepare")
		}
		return Prepared{Execute: func(context.Context, Output) (Result, error) { panic("in execute") }}, nil
	})
	_, err := NewRegistry(bad).Prepare(t.Context(), "do_it", Call{Args: json.RawMessage(`{"path":"a","all":true}`)})
	e, ok := errors.AsType[*Error](err)
	if !ok || !e.NotExecuted || e.Code != Failed {
		t.Fatalf("prepare: %v", err)
	}
	prepared, err := NewRegistry(bad).Prepare(t.Context(), "do_it", Call{Args: json.RawMessage(`{"path":"a"}`)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = prepared.Execute(t.Context(), nil)
	if e, ok = errors.AsType[*Error](err); !ok || e.NotExecuted {
		t.Fatalf("execute: %v", err)
	}
	cause, ok := errors.AsType[*PanicError](err)
	if !ok || cause.Value != "in execute" || !strings.Contains(string(cause.Stack), "define_test.go") {
		t.Errorf("the cause for the log: %v", cause)
	}
	if strings.Contains(e.Message, "in execute") {
		t.Errorf("the model reads the panic: %s", e.Message)
	}
}
