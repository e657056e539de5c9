package enginetest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"aalis/backend/tool"
)

// Tools are small real tools for the suite. Ran lists the words of those that acted, in order.
type Tools struct {
	mu  sync.Mutex // guards ran
	ran []string
}

// Ran gives what has acted.
func (s *Tools) Ran() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.ran...)
}

type words struct {
	Words string `json:"words" jsonschema_description:"What to do it with." jsonschema:"minLength=1"`
}

// Definitions are: echo (streams and returns its words), ask (echo that needs approval), exit (ends
// with code 2), report (returns its words as a JSON error), refuse (fails while preparing), late
// (times out), boom (panics), rest (waits until stopped) and stubborn (works for ten seconds
// whatever happens).
func (s *Tools) Definitions() []tool.Definition {
	code := 2
	act := func(w string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ran = append(s.ran, w)
	}
	return []tool.Definition{
		simple("echo", tool.Read, false, act, func(_ context.Context, w string, out tool.Output) (tool.Result, error) {
			out(w)
			return tool.Result{Text: "echo " + w}, nil
		}),
		simple("ask", tool.Write, true, act, func(_ context.Context, w string, _ tool.Output) (tool.Result, error) {
			return tool.Result{Text: "did " + w}, nil
		}),
		simple("exit", tool.Write, false, act, func(_ context.Context, w string, _ tool.Output) (tool.Result, error) {
			return tool.Result{Text: w, ExitCode: &code, Truncated: true}, nil
		}),
		simple("report", tool.Read, false, act, func(_ context.Context, w string, _ tool.Output) (tool.Result, error) {
			raw, err := json.Marshal(map[string]string{"error": w})
			return tool.Result{Text: string(raw)}, err
		}),
		tool.Define(definition("refuse", tool.Read), func(context.Context, tool.Call, words) (tool.Prepared, error) {
			return tool.Prepared{}, tool.Refuse(tool.NotFoundErr, "there is no such thing")
		}),
		simple("late", tool.Write, false, act, func(context.Context, string, tool.Output) (tool.Result, error) {
			return tool.Result{}, tool.Fail(tool.TimedOut, "it took too long")
		}),
		simple("boom", tool.Write, false, act, func(context.Context, string, tool.Output) (tool.Result, error) {
			panic("boom")
		}),
		simple("rest", tool.Write, false, act, func(ctx context.Context, w string, out tool.Output) (tool.Result, error) {
			out("resting")
			<-ctx.Done()
			act("stopped " + w)
			return tool.Result{}, ctx.Err()
		}),
		simple("stubborn", tool.Write, false, act, func(_ context.Context, w string, out tool.Output) (tool.Result, error) {
			time.Sleep(10 * time.Second)
			out("too late")
			return tool.Result{Text: w}, nil
		}),
	}
}

func definition(name string, effect tool.Effect) tool.Definition {
	return tool.Definition{Name: name, Description: "For tests.", Example: json.RawMessage(`{"words":"x"}`), Effect: effect}
}

func simple(name string, effect tool.Effect, asks bool, act func(string), do func(context.Context, string, tool.Output) (tool.Result, error)) tool.Definition {
	return tool.Define(definition(name, effect), func(_ context.Context, _ tool.Call, p words) (tool.Prepared, error) {
		return tool.Prepared{
			Facts: tool.Facts{Command: p.Words}, NeedsApproval: asks,
			Execute: func(ctx context.Context, out tool.Output) (tool.Result, error) {
				act(name + " " + p.Words)
				return do(ctx, p.Words, out)
			},
		}, nil
	})
}
