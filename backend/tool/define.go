package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"sync/atomic"
)

var namePattern = regexp.MustCompile(`^[a-z_]{1,64}$`)

// Define makes a tool out of its description and the function that prepares a call.
//
// def gives Name, Description, Example, Effect, Display and Movable. The schema is made from P, a struct
// with a `json` and a `jsonschema_description` tag on every field, and bounds in `jsonschema` tags;
// a field with omitempty is optional. A call's arguments are checked against the schema before
// prepare sees them, names in exact case; an optional parameter given as null counts as left out,
// because many models write it so. prepare must not change anything.
//
// Define panics when the definition contradicts itself (a name out of form, an Example that its
// own schema refuses): a mistake of the program, met at start.
func Define[P any](def Definition, prepare func(ctx context.Context, call Call, params P) (Prepared, error)) Definition {
	if !namePattern.MatchString(def.Name) {
		panic("tool: name out of form: " + def.Name)
	}
	schema := schemaOf[P](def.Name, def.Movable)
	def.Description = strings.TrimSpace(def.Description)
	def.Params = schema.raw
	if _, err := schema.check(def.Example); err != nil {
		panic("tool: the example of " + def.Name + " does not meet its schema: " + err.Error())
	}
	schema.example = string(def.Example)

	def.prepare = func(ctx context.Context, call Call) (Prepared, error) {
		args, err := schema.check(call.Args)
		if err != nil {
			return Prepared{}, err
		}
		var params P
		if err := json.Unmarshal(args.present, &params); err != nil {
			return Prepared{}, schema.refuse(fmt.Sprintf("they do not decode: %v", err))
		}
		prepared, err := prepare(ctx, call, params)
		if err != nil {
			return Prepared{}, nothingDone(err)
		}
		prepared.Facts.Params = args.literal
		var ran atomic.Bool // by either way
		execute := guard(prepared.Execute, &ran)
		prepared.Execute = func(ctx context.Context, out Output) (Result, error) { return execute(ctx, capStream(out)) }
		prepared.Move = movable(prepared.Move, args, &ran)
		return prepared, nil
	}
	return def
}

func movable(m *Move, args arguments, ran *atomic.Bool) *Move {
	if m == nil {
		return nil
	}
	atOnce, _ := args.literal[BackgroundArg].(bool)
	execute := guard(m.Execute, ran)
	return &Move{AtOnce: atOnce, Execute: func(ctx context.Context, out Output) (Result, error) {
		if out == nil {
			out = func(string) {}
		}
		return execute(ctx, out)
	}}
}

// guard holds Execute to its promises: once, and a panic is one call's failure.
func guard(execute func(context.Context, Output) (Result, error), ran *atomic.Bool) func(context.Context, Output) (Result, error) {
	return func(ctx context.Context, out Output) (result Result, err error) {
		if ran.Swap(true) {
			return Result{}, Refuse(Failed, "this call has run already")
		}
		if err := ctx.Err(); err != nil {
			return Result{}, &Error{Code: Failed, Message: "the call was stopped before it began", NotExecuted: true, Err: err}
		}
		defer func() {
			if v := recover(); v != nil {
				result, err = Result{}, panicked(v)
			}
		}()
		return execute(ctx, out)
	}
}

// PanicError is the cause of a call that failed because its tool panicked; Stack is for the log.
type PanicError struct {
	Value any
	Stack []byte
}

// Error is for logs.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

func panicked(v any) *Error {
	return &Error{Code: Failed, Message: "the tool broke down; what it did is unknown", Err: &PanicError{Value: v, Stack: debug.Stack()}}
}

// nothingDone makes err an *Error that says so; ctx's own errors keep their identity as the cause.
func nothingDone(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		refused := *e
		refused.NotExecuted = true
		return &refused
	}
	return &Error{Code: Failed, Message: err.Error(), NotExecuted: true, Err: err}
}

// Spec is what a model is told of a tool.
type Spec struct {
	Name        string
	Description string
	Params      json.RawMessage
	Effect      Effect
}

// Registry is a fixed set of tools. It is safe for concurrent use.
type Registry struct {
	byName map[string]Definition
	specs  []Spec
}

// NewRegistry panics on a name that stands twice and on a Definition that Define did not make.
func NewRegistry(defs ...Definition) *Registry {
	r := &Registry{byName: make(map[string]Definition, len(defs))}
	for _, def := range defs {
		if def.prepare == nil {
			panic("tool: not made by Define: " + def.Name)
		}
		if _, twice := r.byName[def.Name]; twice {
			panic("tool: defined twice: " + def.Name)
		}
		r.byName[def.Name] = def
		r.specs = append(r.specs, Spec{Name: def.Name, Description: def.Description, Params: def.Params, Effect: def.Effect})
	}
	return r
}

// Specs lists the tools in the order they were given, always the same, so that a model server can
// cache its prompt.
func (r *Registry) Specs() []Spec { return append([]Spec(nil), r.specs...) }

// Get finds a tool by its exact name.
func (r *Registry) Get(name string) (Definition, bool) {
	def, ok := r.byName[name]
	return def, ok
}

// Prepare checks one call and says what it would do; nothing has happened when it returns. Every
// error is an *Error with NotExecuted, an unknown name included.
func (r *Registry) Prepare(ctx context.Context, name string, call Call) (prepared Prepared, err error) {
	def, known := r.byName[name]
	if !known {
		return Prepared{}, r.unknown(name)
	}
	defer func() {
		if v := recover(); v != nil {
			prepared, err = Prepared{}, nothingDone(panicked(v))
		}
	}()
	return def.prepare(ctx, call)
}

func (r *Registry) unknown(name string) error {
	names := make([]string, 0, len(r.specs))
	for _, spec := range r.specs {
		names = append(names, spec.Name)
	}
	if near := nearest(name, names); near != "" {
		return Refuse(UnknownTool, "there is no tool %s; did you mean %q?", quoteShort(name), near)
	}
	if len(names) == 0 {
		return Refuse(UnknownTool, "there is no tool %s; no tools are available", quoteShort(name))
	}
	return Refuse(UnknownTool, "there is no tool %s; the tools are: %s", quoteShort(name), strings.Join(names, ", "))
}
