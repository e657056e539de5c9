package jsonrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"

	"aalis/backend/wire"
)

// Table maps method names to what serves them on a connection of type C.
type Table[C any] map[string]Entry[C]

// Shapes lists the methods for a contract, sorted by name.
func (t Table[C]) Shapes() []wire.Method {
	shapes := make([]wire.Method, 0, len(t))
	for _, name := range sortedKeys(t) {
		shapes = append(shapes, wire.Method{Name: name, Params: t[name].params, Result: t[name].result})
	}
	return shapes
}

// Rules say how a method is served; the server of the connection keeps them.
type Rules struct {
	// BeforeHandshake: the method is served on a connection that has not shaken hands, and only there.
	BeforeHandshake bool
	// Concurrent: its requests need not wait for those before them on the connection.
	Concurrent bool
	// Large: its requests may be large frames.
	Large bool
	// Needs is the right a caller must have, or empty.
	Needs string
}

// Option changes the rules of one method.
type Option func(*Rules)

// BeforeHandshake is an Option, see Rules.
func BeforeHandshake(r *Rules) { r.BeforeHandshake = true }

// Concurrent is an Option, see Rules.
func Concurrent(r *Rules) { r.Concurrent = true }

// Large is an Option, see Rules.
func Large(r *Rules) { r.Large = true }

// Needs makes an Option, see Rules.
func Needs(right string) Option { return func(r *Rules) { r.Needs = right } }

// Entry is one method.
type Entry[C any] struct {
	Rules

	params, result reflect.Type
	handle         func(C, context.Context, any) (any, error)
}

// Method makes an entry of a handler. P is filled from the request's params after they have passed the
// published schema. It panics for a P that cannot be filled, which is a mistake of the program.
func Method[C, P, R any](handler func(C, context.Context, P) (R, error), options ...Option) Entry[C] {
	decodable(reflect.TypeFor[P]())
	e := Entry[C]{
		params: reflect.TypeFor[P](),
		result: reflect.TypeFor[R](),
		handle: func(c C, ctx context.Context, tree any) (any, error) {
			var params P
			if err := decode("params", tree, reflect.ValueOf(&params).Elem()); err != nil {
				return nil, err
			}
			return handler(c, ctx, params)
		},
	}
	for _, option := range options {
		option(&e.Rules)
	}
	return e
}

// Panic is what a handler panicked with. To a client it is an internal error like any other; Stack is
// for the log.
type Panic struct {
	Value any
	Stack []byte
}

// Error is for the log.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Call checks raw params against the shape and hands them to the handler. Absent params are {}. A
// handler that panics has failed; the connection lives on.
func (e Entry[C]) Call(ctx context.Context, c C, shape *Shape, raw json.RawMessage) (result any, err error) {
	defer func() {
		if value := recover(); value != nil {
			result, err = nil, &Panic{Value: value, Stack: debug.Stack()}
		}
	}()
	var tree any = map[string]any{}
	if raw != nil {
		// What can still fail in valid JSON is a number beyond a double's range.
		if err := json.Unmarshal(raw, &tree); err != nil {
			return nil, Refuse(InvalidParams, "wire.params-other", "path", "params")
		}
	}
	misfit, err := shape.Check("params", tree)
	if err != nil {
		return nil, err
	}
	if !misfit.IsZero() {
		return nil, &Error{Code: InvalidParams, Message: misfit}
	}
	return e.handle(c, ctx, tree)
}
