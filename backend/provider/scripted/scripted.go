// Package scripted is a model that says what a test wrote down for it. It owns the script format and
// the replay; it never decides anything. Tests and testkit call it; the program never does.
//
// A script is text, so that a transcript can hold it. Each block is one call of the model; calls
// take the blocks in order, each once. Lines:
//
//	call                        begins a block
//	call when=WORDS             taken only by a request whose last user message contains WORDS
//	text WORDS                  a piece of the answer
//	reasoning WORDS             a piece of the thinking
//	tool NAME [JSON]            a tool call, its arguments in one piece
//	args PIECE                  a further piece of the last tool call's arguments
//	usage PROMPT COMPLETION     tokens, told before the finish
//	finish REASON               stop, tool_calls, length, content_filter; without it the block ends
//	                            with stop, or tool_calls when it has calls
//	error CODE [status=N] [after=DURATION] [retryable] [WORDS]
//	                            ends the block with a provider.Error
//	wait DURATION               waits, 300ms for example
//	gate NAME                   waits until the test calls Open(NAME)
//	hang                        waits until the call is cancelled
//
// WORDS run to the end of the line; in double quotes they are a Go string, which can hold newlines
// and outer spaces. Empty lines and lines that begin with # are left out. A call that no block is
// left for fails with provider.ErrRefused, which no engine repeats.
package scripted

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"aalis/backend/provider"
	"aalis/backend/text"
)

// Call is one block: what the model does in one call.
type Call struct {
	When  string // taken only by a request whose last user message contains this
	Steps []Step
}

// Step is one line of a block; one field is set.
type Step struct {
	Chunk provider.Chunk
	Err   error
	Wait  time.Duration
	Gate  string
	Hang  bool
}

// Model replays a script. It is safe for concurrent use.
type Model struct {
	mu       sync.Mutex // guards all below
	calls    []Call
	requests []provider.Request
	gates    map[string]chan struct{}
	opened   map[string]bool
}

// New makes a model of blocks.
func New(calls ...Call) *Model {
	return &Model{calls: slices.Clone(calls), gates: map[string]chan struct{}{}, opened: map[string]bool{}}
}

// Kind is a provider kind under which every model name is m, for provider.NewSet.
func (m *Model) Kind() provider.Kind {
	return provider.Kind{Open: func(provider.Settings) provider.Source { return source{m} }}
}

type source struct{ model *Model }

func (s source) Model(string) provider.Model { return s.model }

func (s source) ListModels(context.Context) ([]provider.ModelConfig, error) {
	return []provider.ModelConfig{{Name: "script"}}, nil
}

// Add appends blocks.
func (m *Model) Add(calls ...Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, calls...)
}

// Requests gives what the model was called with so far, oldest first.
func (m *Model) Requests() []provider.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Left is the number of blocks no call has taken.
func (m *Model) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.calls)
}

// Open lets everything through that waits, or will wait, at the gate.
func (m *Model) Open(gate string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.opened[gate] {
		m.opened[gate] = true
		close(m.gate(gate))
	}
}

// gate needs mu.
func (m *Model) gate(name string) chan struct{} {
	ch := m.gates[name]
	if ch == nil {
		ch = make(chan struct{})
		m.gates[name] = ch
	}
	return ch
}

// Stream plays the next block that fits.
func (m *Model) Stream(ctx context.Context, req provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		call, err := m.take(req)
		if err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		for _, s := range call.Steps {
			if err := m.pause(ctx, s); err != nil {
				yield(provider.Chunk{}, err)
				return
			}
			if s.Err != nil {
				yield(provider.Chunk{}, s.Err)
				return
			}
			if s.Chunk != (provider.Chunk{}) && !yield(s.Chunk, nil) {
				return
			}
		}
	}
}

func (m *Model) take(req provider.Request) (Call, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	req.Messages = slices.Clone(req.Messages)
	m.requests = append(m.requests, req)
	last := lastUser(req.Messages)
	for i, c := range m.calls {
		if c.When == "" || strings.Contains(last, c.When) {
			m.calls = slices.Delete(slices.Clone(m.calls), i, i+1)
			return c, nil
		}
	}
	words := fmt.Sprintf("the script has no block for call %d; the last user message is %q", len(m.requests), last)
	return Call{}, &provider.Error{Code: provider.ErrRefused, Provider: "scripted", Message: text.Plain(words), Raw: words}
}

func (m *Model) pause(ctx context.Context, s Step) error {
	var until <-chan struct{}
	switch {
	case s.Wait > 0:
		timer := time.NewTimer(s.Wait)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	case s.Gate != "":
		m.mu.Lock()
		until = m.gate(s.Gate)
		m.mu.Unlock()
	case !s.Hang:
		return ctx.Err()
	}
	select {
	case <-until: // nil for hang
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func lastUser(messages []provider.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == provider.RoleUser && !m.Notice {
			return m.Text
		}
	}
	return ""
}
