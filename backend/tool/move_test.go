package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"aalis/backend/tool"
)

type mover struct {
	Word string `json:"word" jsonschema_description:"What to say."`
}

func moving(do func(context.Context, tool.Output) (tool.Result, error)) *tool.Registry {
	return tool.NewRegistry(tool.Define(tool.Definition{
		Name: "mover", Description: "For tests.", Effect: tool.Write, Movable: true, Example: json.RawMessage(`{"word":"a"}`),
	}, func(context.Context, tool.Call, mover) (tool.Prepared, error) {
		return tool.Prepared{Execute: do, Move: &tool.Move{Execute: do}}, nil
	}))
}

func say(ctx context.Context, out tool.Output) (tool.Result, error) {
	out(strings.Repeat("x", 2*tool.MaxStreamBytes))
	return tool.Result{Text: "said"}, ctx.Err()
}

func prepared(t *testing.T, args string) tool.Prepared {
	t.Helper()
	p, err := moving(say).Prepare(t.Context(), "mover", tool.Call{Args: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMovable(t *testing.T) {
	t.Run("SP-BG-01 the model may ask for the background, by one more argument that the owner sees too", func(t *testing.T) {
		for args, want := range map[string]bool{
			`{"word":"a"}`: false, `{"word":"a","background":true}`: true, `{"word":"a","background":false}`: false, `{"word":"a","background":null}`: false,
		} {
			p := prepared(t, args)
			if p.Move == nil || p.Move.AtOnce != want {
				t.Errorf("%s: %+v", args, p.Move)
			}
			if want && p.Facts.Params["background"] != true {
				t.Errorf("%v", p.Facts.Params)
			}
		}
		_, err := moving(say).Prepare(t.Context(), "mover", tool.Call{Args: json.RawMessage(`{"word":"a","background":"yes"}`)})
		if e, ok := errors.AsType[*tool.Error](err); !ok || e.Code != tool.InvalidArgs || !strings.Contains(e.Message, `"background" must be true or false`) {
			t.Error(err)
		}
	})
	t.Run("a call runs once, in one of the two ways", func(t *testing.T) {
		p := prepared(t, `{"word":"a"}`)
		if got, err := p.Move.Execute(t.Context(), nil); err != nil || got.Text != "said" {
			t.Errorf("%+v %v", got, err)
		}
		if _, err := p.Execute(t.Context(), nil); err == nil {
			t.Error("it ran again")
		}
	})
	t.Run("SP-BG-24 output is bounded for a card and not for a task", func(t *testing.T) {
		for _, way := range []string{"execute", "move"} {
			p := prepared(t, `{"word":"a"}`)
			execute, n := p.Execute, 0
			if way == "move" {
				execute = p.Move.Execute
			}
			if _, err := execute(t.Context(), func(piece string) { n += len(piece) }); err != nil {
				t.Fatal(err)
			}
			if whole := n == 2*tool.MaxStreamBytes; whole != (way == "move") {
				t.Errorf("%s: %d bytes", way, n)
			}
		}
	})
	t.Run("a panic on the way is the failure of the call", func(t *testing.T) {
		p, err := moving(func(context.Context, tool.Output) (tool.Result, error) { panic("boom") }).Prepare(t.Context(), "mover", tool.Call{Args: json.RawMessage(`{"word":"a"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Move.Execute(t.Context(), nil); !strings.Contains(err.Error(), "broke down") {
			t.Error(err)
		}
	})
}
