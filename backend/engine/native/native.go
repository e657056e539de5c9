// Package native is our own agent loop: it builds the context, calls the model, streams what it says
// to the host, runs the tools it asks for, and goes round until the model is done. It owns the
// prompt, the retries of a call that has not begun to answer, and the tool limit; it never writes
// the log, decides an approval, or ends a turn that failed or was stopped: package turn does, by
// what Run returns. Package turn calls it through engine.Engine.
//
//	Engine.Run
//	  run.loop               join inputs, one model call, its tools, again
//	    messages             what was said -> what the model reads (context.go)
//	    run.call             one model call with retries (call.go)
//	      answer.take        chunks -> host (answer.go)
//	    run.tool             one tool call: prepare, approve, execute (tool.go)
package native

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"text/template"
	"time"

	"aalis/backend/engine"
	"aalis/backend/provider"
	"aalis/backend/text"
	"aalis/backend/tool"
)

// DefaultToolLimit is used when the turn names none. Spec decisions F9.
const DefaultToolLimit = 30

//go:embed prompt.md
var promptText string

var prompt = template.Must(template.New("prompt.md").Option("missingkey=error").Parse(promptText))

// Config is what the engine works with.
type Config struct {
	Name   string // what she is called; "" is Aalis
	Models *provider.Set
	Tools  *tool.Registry
	Groups []ToolGroup  // of Tools
	Log    *slog.Logger // nil discards
}

// Engine is the native engine. It keeps nothing between turns and is safe for concurrent use.
type Engine struct {
	name   string
	models *provider.Set
	tools  *tool.Registry
	specs  []provider.ToolSpec
	groups map[string]string // a tool's group
	log    *slog.Logger
}

var (
	_ engine.Engine   = (*Engine)(nil)
	_ engine.Measurer = (*Engine)(nil)
)

// New makes the engine. Models is required; without Tools the model is offered none.
func New(config Config) *Engine {
	e := &Engine{name: config.Name, models: config.Models, tools: config.Tools, log: config.Log, groups: map[string]string{}}
	for _, g := range config.Groups {
		for _, t := range g.Tools {
			e.groups[t.Name] = g.ID
		}
	}
	if e.name == "" {
		e.name = "Aalis"
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if e.tools == nil {
		e.tools = tool.NewRegistry()
	}
	for _, s := range e.tools.Specs() {
		e.specs = append(e.specs, provider.ToolSpec{Name: s.Name, Description: s.Description, Params: s.Params})
	}
	return e
}

// Run conducts one turn. See engine.Engine.
func (e *Engine) Run(ctx context.Context, t engine.Turn, host engine.Host) error {
	r := &run{engine: e, turn: t, host: host, counted: true}
	if err := r.reread(ctx); err != nil {
		return err
	}
	r.known, r.knownLen = t.Context, len(r.said)
	for i, e := range r.said {
		if e.TurnID == t.TurnID {
			r.knownLen = min(r.knownLen, i)
			r.step = max(r.step, e.Step) // a turn taken up again numbers on
		}
	}
	return r.loop(ctx)
}

const continueWords = "The last turn stopped at the limit of tool calls. The owner asks you to go on from where you were; you may use tools again."

func (e *Engine) prompt(t engine.Turn, s set) (string, error) {
	var out bytes.Buffer
	err := prompt.Execute(&out, map[string]any{
		"Name": e.name, "Date": time.Now().Format("Monday, 2 January 2006"), "System": runtime.GOOS, "Place": t.Place.Root,
		"Persona": s.persona, "Extra": s.extra, "Subtask": t.Subtask, "Room": t.Room,
	})
	if err != nil {
		return "", fmt.Errorf("rendering prompt: %w", err)
	}
	return out.String(), nil
}

// run is one turn while it runs; it belongs to Run's goroutine.
type run struct {
	engine   *Engine
	turn     engine.Turn
	host     engine.Host
	prepared // of the call under way

	said       []engine.Entry // everything the model is told, the log's entries and ours
	step       int            // model calls of this turn so far
	completion int            // tokens of all calls so far
	counted    bool           // every call so far reported its tokens
	known      int            // tokens a server counted for the first knownLen of said, 0 when none did
	knownLen   int
	tried      bool // the conversation was to be shortened, and is past the line still
	squeezed   bool // it was shortened because the model refused it
}

// loop goes round until the turn is over. Each round takes up the waiting inputs first.
// Spec decisions F3: the join point is before each model call.
func (r *run) loop(ctx context.Context) error {
	owed := false // Finish or Silent said that an input waits
	for rounds := 0; ; {
		joined, err := r.join(ctx)
		if err != nil {
			return err
		}
		if owed && !joined { // the input that waited has been taken back
			if owed, err = waiting(r.host.Silent(ctx)); err != nil || !owed {
				return err
			}
			continue
		}
		if r.prepared, err = r.engine.prepare(ctx, r.turn); err != nil {
			return failure(ctx, err, 0)
		}
		if err := r.makeRoom(ctx); err != nil {
			return err
		}
		a, err := r.call(ctx)
		if err != nil {
			if again, err := r.squeeze(ctx, err); err != nil || !again {
				return err
			}
			continue
		}
		r.record(a)
		if len(a.calls) == 0 || rounds >= r.set.limit {
			if owed, err = r.finish(ctx, a); err != nil || !owed {
				return err
			}
			if len(a.calls) > 0 {
				rounds = 0 // a person spoke: what they ask for has a budget of its own
			}
			continue
		}
		if err := r.tools(ctx, a); err != nil {
			return err
		}
		rounds++
	}
}

func (r *run) join(ctx context.Context) (joined bool, err error) {
	inputs, err := r.host.Join(ctx)
	if err != nil {
		return false, fmt.Errorf("joining inputs: %w", err)
	}
	for _, in := range inputs {
		kind := engine.EntryUser
		if in.Notice {
			kind = engine.EntryNotice
		}
		r.said = append(r.said, engine.Entry{Kind: kind, TurnID: r.turn.TurnID, Text: in.Text, Speaker: in.Speaker, Files: in.Files})
	}
	return len(inputs) > 0, nil
}

// finish ends the turn with a's words, or without a reply when it has none. owed says that the turn
// goes on because an input waits. Calls of a that were not run are left to package turn
// (Spec SP-TOOL-12).
func (r *run) finish(ctx context.Context, a *answer) (owed bool, err error) {
	if len(a.calls) > 0 {
		if err := r.host.ToolLimit(ctx, r.set.limit); err != nil {
			return false, fmt.Errorf("telling the tool limit: %w", err)
		}
	}
	if a.messageID != "" {
		return waiting(r.host.Finish(ctx, r.messageEnd(a)))
	}
	if len(a.calls) == 0 {
		switch a.finish {
		case provider.FinishLength:
			return false, r.failed(a, "cut_off", text.New("turn.cut-off", "model", r.entry.Name))
		case provider.FinishFilter:
			return false, r.failed(a, "filtered", text.New("turn.filtered", "provider", r.entry.Provider))
		}
	}
	return waiting(r.host.Silent(ctx))
}

// waiting tells a turn that must go on from one that is over or broken.
func waiting(err error) (owed bool, _ error) {
	if errors.Is(err, engine.ErrInputWaiting) {
		return true, nil
	}
	return false, err
}

// tools completes a's message and runs its calls in order.
func (r *run) tools(ctx context.Context, a *answer) error {
	if a.messageID != "" {
		if err := r.host.EndMessage(ctx, r.messageEnd(a)); err != nil {
			return fmt.Errorf("completing message: %w", err)
		}
	}
	for _, c := range a.calls {
		entry, err := r.tool(ctx, a.step, c)
		if err != nil {
			return err
		}
		r.said = append(r.said, entry)
	}
	return nil
}

// record keeps what a said for the next call; its tool calls follow with their results.
func (r *run) record(a *answer) {
	for _, e := range []engine.Entry{
		{Kind: engine.EntryReasoning, Text: a.thought.String()},
		{Kind: engine.EntryAgent, Text: a.text.String()},
	} {
		if e.Text != "" {
			e.TurnID, e.Step = r.turn.TurnID, a.step
			r.said = append(r.said, e)
		}
	}
	if r.known = 0; a.usage != nil {
		r.known, r.knownLen = a.usage.Prompt+a.usage.Completion, len(r.said)
	}
}

func (r *run) messageEnd(a *answer) engine.MessageEnd {
	end := engine.MessageEnd{
		MessageID: a.messageID, Text: a.text.String(), FinishReason: string(a.finish),
		Provider: r.entry.Provider, Model: r.entry.Name,
	}
	if a.usage != nil {
		end.Prompt = a.usage.Prompt
	}
	if r.counted {
		end.Completion = r.completion
	}
	return end
}
