// Package enginetest is the conformance suite of engine.Engine, and the Host it records with. Tests
// of the engines call it; the program never does.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"aalis/backend/engine"
	"aalis/backend/text"
)

// Host records what an engine reports, one line per report, and plays the turn's side of it: inputs,
// approvals, stops. Fields are set before Run. It is safe for concurrent use.
type Host struct {
	Entries []engine.Entry
	// Shorten stands for a compression that is wanted: it gives what History gives from then on. nil: none
	// comes about.
	Shorten func(said []engine.Entry) []engine.Entry
	// Decide answers an approval; nil approves.
	Decide func(ctx context.Context, r engine.ApprovalRequest) (engine.Decision, error)
	// Background does the work of a call that may move; nil: there is no background.
	Background func(ctx context.Context, w engine.Work) (engine.ToolResult, error)
	// Delay is how long a report takes to be committed.
	Delay time.Duration
	// StopAt makes the StopAt-th call and all after it fail with ErrStopped; 0 never.
	StopAt int
	// OnText sees each piece before it is recorded.
	OnText func(item, piece string)
	// OnEnd runs when the engine wants to end the turn, before waiting inputs are looked at.
	OnEnd func()
	// TakeBack makes an input that keeps the turn from ending vanish before it can join.
	TakeBack bool

	mu     sync.Mutex // guards all below
	calls  int
	ids    int
	inputs []engine.Input
	log    []string
	items  map[string]*item
	ends   []engine.MessageEnd
	used   []engine.ModelCall
	done   []engine.ToolResult
	wrong  []string
	over   bool
}

// item is a message, reasoning or tool call.
type item struct {
	kind  string // message, reasoning, tool
	state string // open, proposed, called, closed
	text  strings.Builder
}

var _ engine.Host = (*Host)(nil)

// Send lets an input wait to join.
func (h *Host) Send(words string) { h.SendAs(engine.Input{Text: words}) }

// SendAs lets an input of a speaker wait to join.
func (h *Host) SendAs(in engine.Input) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inputs = append(h.inputs, in)
}

// Log gives the reports so far, one line each; pieces of one item that follow each other are one.
func (h *Host) Log() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.log)
}

// Ends gives the completed messages, Used the model calls, Done the completed tool calls.
func (h *Host) Ends() []engine.MessageEnd {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ends)
}

// Used gives the reported model calls.
func (h *Host) Used() []engine.ModelCall {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.used)
}

// Done gives the completed tool calls.
func (h *Host) Done() []engine.ToolResult {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.done)
}

// Output gives the streamed text of an item.
func (h *Host) Output(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if it := h.items[id]; it != nil {
		return it.text.String()
	}
	return ""
}

// Calls is the number of calls so far, for choosing StopAt.
func (h *Host) Calls() int { h.mu.Lock(); defer h.mu.Unlock(); return h.calls }

// Check judges the whole run by what Run returned: reports in a legal order, and after a good end
// nothing open but calls that were proposed and never called. It gives every breach.
func (h *Host) Check(err error) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	wrong := slices.Clone(h.wrong)
	_, failed := errors.AsType[*engine.Failure](err)
	stopped := errors.Is(err, engine.ErrStopped) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	switch {
	case err == nil && !h.over:
		wrong = append(wrong, "Run returned nil before Finish or Silent")
	case err != nil && h.over:
		wrong = append(wrong, fmt.Sprintf("Run returned %v after the turn was over", err))
	case err != nil && !failed && !stopped:
		wrong = append(wrong, fmt.Sprintf("Run returned %v, neither a Failure nor a stop", err))
	}
	if err == nil {
		for id, it := range h.items {
			if it.state == "open" || it.state == "called" {
				wrong = append(wrong, id+" is "+it.state+" at the end of the turn")
			}
		}
	}
	return wrong
}

// enter begins a report; the caller holds mu until leave.
func (h *Host) enter(ctx context.Context, line string, args ...any) error {
	if h.Delay > 0 {
		timer := time.NewTimer(h.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	h.mu.Lock()
	h.calls++
	if err := ctx.Err(); err != nil {
		return err
	}
	if h.StopAt > 0 && h.calls >= h.StopAt {
		return engine.ErrStopped
	}
	if h.over {
		h.wrong = append(h.wrong, "after the end: "+fmt.Sprintf(line, args...))
	}
	h.log = append(h.log, fmt.Sprintf(line, args...))
	return nil
}

func (h *Host) add(kind, state string) string {
	h.ids++
	id := fmt.Sprintf("%s-%d", kind, h.ids)
	if h.items == nil {
		h.items = map[string]*item{}
	}
	h.items[id] = &item{kind: kind, state: state}
	return id
}

// move takes an item from one state to the next and notes a breach when it is in none of from.
func (h *Host) move(id, kind, to string, from ...string) *item {
	it := h.items[id]
	if it == nil || it.kind != kind || !slices.Contains(from, it.state) {
		h.wrong = append(h.wrong, fmt.Sprintf("%s %q cannot become %s", kind, id, to))
		return &item{}
	}
	it.state = to
	return it
}

// History gives Entries.
func (h *Host) History(ctx context.Context) ([]engine.Entry, error) {
	err := h.enter(ctx, "history")
	defer h.mu.Unlock()
	return slices.Clone(h.Entries), err
}

// Join gives the waiting inputs.
func (h *Host) Join(ctx context.Context) ([]engine.Input, error) {
	err := h.enter(ctx, "join")
	defer h.mu.Unlock()
	if err != nil {
		return nil, err
	}
	for _, in := range h.inputs {
		h.log[len(h.log)-1] += " " + in.Text
	}
	joined := h.inputs
	h.inputs = nil
	return joined, nil
}

// StartMessage opens a message.
func (h *Host) StartMessage(ctx context.Context, step int) (string, error) {
	err := h.enter(ctx, "message %d", step)
	defer h.mu.Unlock()
	if err != nil {
		return "", err
	}
	for id, it := range h.items {
		if it.kind == "message" && it.state == "open" {
			h.wrong = append(h.wrong, "a message begins while "+id+" is open")
		}
	}
	return h.add("message", "open"), nil
}

// StartReasoning opens a reasoning.
func (h *Host) StartReasoning(ctx context.Context, step int) (string, error) {
	err := h.enter(ctx, "reasoning %d", step)
	defer h.mu.Unlock()
	if err != nil {
		return "", err
	}
	return h.add("reasoning", "open"), nil
}

// Text takes a piece.
func (h *Host) Text(id, piece string) error {
	if h.OnText != nil {
		h.OnText(id, piece)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	if h.StopAt > 0 && h.calls >= h.StopAt {
		return engine.ErrStopped
	}
	it := h.items[id]
	if it == nil || (it.state != "open" && it.state != "called") || piece == "" {
		h.wrong = append(h.wrong, fmt.Sprintf("piece %q of %q, which is not open", piece, id))
		return nil
	}
	it.text.WriteString(piece)
	prefix := "text " + id + " "
	if last := len(h.log) - 1; last >= 0 && strings.HasPrefix(h.log[last], prefix) {
		h.log[last] += piece
		return nil
	}
	h.log = append(h.log, prefix+piece)
	return nil
}

// EndReasoning completes a reasoning.
func (h *Host) EndReasoning(ctx context.Context, id, words string) error {
	err := h.enter(ctx, "end %s", id)
	defer h.mu.Unlock()
	if err != nil {
		return err
	}
	h.same(id, h.move(id, "reasoning", "closed", "open"), words)
	return nil
}

func (h *Host) same(id string, it *item, words string) {
	if it.text.String() != words {
		h.wrong = append(h.wrong, fmt.Sprintf("%s ends as %q, its pieces are %q", id, words, it.text.String()))
	}
}

// EndMessage completes a message that is not the last.
func (h *Host) EndMessage(ctx context.Context, m engine.MessageEnd) error {
	err := h.enter(ctx, "end %s", m.MessageID)
	defer h.mu.Unlock()
	if err != nil {
		return err
	}
	h.endMessage(m)
	return nil
}

func (h *Host) endMessage(m engine.MessageEnd) {
	h.same(m.MessageID, h.move(m.MessageID, "message", "closed", "open"), m.Text)
	h.ends = append(h.ends, m)
}

// ModelCalled takes a model call.
func (h *Host) ModelCalled(ctx context.Context, c engine.ModelCall) error {
	err := h.enter(ctx, "model %d", c.Step)
	defer h.mu.Unlock()
	if err == nil {
		h.used = append(h.used, c)
	}
	return err
}

// Compress shortens by Shorten.
func (h *Host) Compress(ctx context.Context, want bool) (bool, error) {
	if !want {
		return false, nil
	}
	err := h.enter(ctx, "compress")
	defer h.mu.Unlock()
	if err != nil || h.Shorten == nil {
		return false, err
	}
	h.Entries = h.Shorten(h.Entries)
	return true, nil
}

// ProposeTool opens a card.
func (h *Host) ProposeTool(ctx context.Context, name string) (string, error) {
	err := h.enter(ctx, "propose %s", name)
	defer h.mu.Unlock()
	if err != nil {
		return "", err
	}
	return h.add("tool", "proposed"), nil
}

// CallTool takes a call whose arguments are complete.
func (h *Host) CallTool(ctx context.Context, c engine.ToolCall) error {
	err := h.enter(ctx, "call %s %s %s %s", c.CallID, c.Effect, c.Name, c.Args)
	defer h.mu.Unlock()
	if err == nil {
		h.move(c.CallID, "tool", "called", "proposed")
	}
	return err
}

// Approve asks Decide.
func (h *Host) Approve(ctx context.Context, r engine.ApprovalRequest) (engine.Decision, error) {
	err := h.enter(ctx, "approve %s %s", r.CallID, r.Facts)
	h.move(r.CallID, "tool", "called", "called")
	h.mu.Unlock()
	if err != nil {
		return engine.Decision{}, err
	}
	if h.Decide == nil {
		return engine.Decision{Approved: true, State: "approved", Source: "answer"}, nil
	}
	return h.Decide(ctx, r)
}

// CompleteTool completes a call.
func (h *Host) CompleteTool(ctx context.Context, r engine.ToolResult) error {
	err := h.enter(ctx, "complete %s %s %s", r.CallID, r.Status, r.Text)
	defer h.mu.Unlock()
	if err == nil {
		h.move(r.CallID, "tool", "closed", "called")
		h.done = append(h.done, r)
	}
	return err
}

// Work does the work of a call: Background moves it, nil has none.
func (h *Host) Work(ctx context.Context, w engine.Work) (engine.ToolResult, error) {
	if h.Background == nil {
		return engine.ToolResult{}, engine.ErrNoBackground
	}
	err := h.enter(ctx, "work %s %s %v", w.CallID, w.Tool, w.AtOnce)
	h.mu.Unlock()
	if err != nil {
		return engine.ToolResult{}, err
	}
	r, err := h.Background(ctx, w)
	if err == nil && r.TaskID != "" {
		err = h.CompleteTool(ctx, r)
	}
	return r, err
}

// Guard takes what a call may change; done must come before the call is completed.
func (h *Host) Guard(ctx context.Context, g engine.Guard) (func(bool), error) {
	err := h.enter(ctx, "guard %s %s %v", g.CallID, strings.Join(g.Paths, " "), g.Anywhere)
	defer h.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return func(bool) { _ = h.enter(context.WithoutCancel(ctx), "guarded %s", g.CallID); h.mu.Unlock() }, nil
}

// ToolLimit takes the notice.
func (h *Host) ToolLimit(ctx context.Context, limit int) error {
	err := h.enter(ctx, "limit %d", limit)
	defer h.mu.Unlock()
	return err
}

// FilesRefused records that a model would not be shown files.
func (h *Host) FilesRefused(ctx context.Context, model string, ids []string) error {
	err := h.enter(ctx, "refused %s %s", model, strings.Join(ids, ","))
	defer h.mu.Unlock()
	return err
}

// Finish ends the turn with a message, unless an input waits.
func (h *Host) Finish(ctx context.Context, m engine.MessageEnd) error {
	if h.OnEnd != nil {
		h.OnEnd()
	}
	err := h.enter(ctx, "finish %s", m.MessageID)
	defer h.mu.Unlock()
	if err != nil {
		return err
	}
	h.endMessage(m)
	return h.end()
}

// Silent ends the turn without a reply, unless an input waits.
func (h *Host) Silent(ctx context.Context) error {
	if h.OnEnd != nil {
		h.OnEnd()
	}
	err := h.enter(ctx, "silent")
	defer h.mu.Unlock()
	if err != nil {
		return err
	}
	return h.end()
}

func (h *Host) end() error {
	if len(h.inputs) > 0 {
		if h.TakeBack {
			h.inputs = nil
		}
		return engine.ErrInputWaiting
	}
	h.over = true
	return nil
}

// FailureOf gives the code and the sentence of the failure a turn ended with, "" for none.
func FailureOf(err error) (code string, message text.Text) {
	if f, ok := errors.AsType[*engine.Failure](err); ok {
		return f.Code, f.Message
	}
	return "", text.Text{}
}
