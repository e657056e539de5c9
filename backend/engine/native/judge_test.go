package native

import (
	"context"
	"encoding/json"
	"testing"

	"aalis/backend/engine"
	"aalis/backend/rule"
	"aalis/backend/tool"
)

// values are settings that stay as they are.
type values map[string]json.RawMessage

func (v values) Current(context.Context) (map[string]json.RawMessage, error) { return v, nil }

func TestJudge(t *testing.T) {
	type params struct {
		Line string `json:"line" jsonschema_description:"A command."`
	}
	command := tool.Define(tool.Definition{
		Name: "run_command", Description: "For tests.", Effect: tool.Write, Example: json.RawMessage(`{"line":"x"}`),
		Display: &tool.Display{Kind: tool.DisplayCommand, Command: "line"},
	}, func(context.Context, tool.Call, params) (tool.Prepared, error) { return tool.Prepared{}, nil })
	e := New(Config{Tools: tool.NewRegistry(command)})
	judge := func(guests bool, v values, args string) judgement {
		t.Helper()
		r := &run{engine: e, turn: engine.Turn{Guests: guests, Settings: v}}
		j, err := r.judge(t.Context(), "run_command", json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	asks := func(j judgement, command string) bool {
		return j.asks(tool.Prepared{NeedsApproval: true, Facts: tool.Facts{Command: command}})
	}
	allow := values{"allow": json.RawMessage(`["prefix: git status"]`), "deny": json.RawMessage(`["prefix: rm"]`)}
	free := values{"asking": json.RawMessage(`"never"`), "deny": json.RawMessage(`["prefix: rm"]`), "ask": json.RawMessage(`["prefix: mv"]`)}
	t.Run("a rule lets run what it was judged for, and nothing else", func(t *testing.T) {
		j := judge(false, allow, `{"line":"git status"}`)
		if asks(j, "git status") || !asks(j, "git status; rm x") || j.shown().Text != "prefix: git status" {
			t.Errorf("%+v", j)
		}
		if j := judge(false, allow, `{"line":["git status"]}`); !asks(j, "git status") || j.shown() != nil {
			t.Errorf("%+v", j)
		}
	})
	t.Run("FAIL-B17 where nothing is asked, what is always asked about is, and what is forbidden is not run", func(t *testing.T) {
		if j := judge(false, free, `{"line":"ls"}`); asks(j, "ls") || j.shown().Verdict != "allow" {
			t.Errorf("%+v", j)
		}
		if j := judge(false, free, `{"line":"mv a b"}`); !asks(j, "mv a b") {
			t.Errorf("%+v", j)
		}
		if j := judge(false, free, `{"line":"rm a"}`); j.Verdict != rule.Deny {
			t.Errorf("%+v", j)
		}
	})
	t.Run("an always-ask asks about what never asks", func(t *testing.T) {
		if j := judge(false, free, `{"line":"mv a b"}`); !j.asks(tool.Prepared{Facts: tool.Facts{Command: "mv a b"}}) {
			t.Errorf("%+v", j)
		}
	})
	t.Run("where others speak nothing is let through, and prohibitions stand", func(t *testing.T) {
		for _, v := range []values{allow, free} {
			if j := judge(true, v, `{"line":"git status"}`); !asks(j, "git status") || j.shown() != nil {
				t.Errorf("%+v", j)
			}
			if j := judge(true, v, `{"line":"rm x"}`); j.Verdict != rule.Deny {
				t.Errorf("%+v", j)
			}
		}
	})
}
