package turn

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
)

// host is one running turn as its engine sees it: reports become commands.
type host struct {
	reactor *Reactor
	turn    *running
	sid     int64
	harness string
	told    engine.Turn

	mu      sync.Mutex      // guards all below
	step    int             // of the model call under way: cards are proposed without one
	limited bool            // the tool limit was told, and the turn ends by it
	expired map[string]bool // calls whose approval nobody answered in time
	over    bool            // Finish or Silent ended the turn
	summary int64           // seq of the summary that the engine has read, 0 for none
}

var _ engine.Host = (*host)(nil)

func (h *host) ended() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.over
}

// do gives a command to the loop. Whatever says that the turn goes no further is ErrStopped.
func (h *host) do(ctx context.Context, doing string, cmd core.Command) (core.Receipt, error) {
	got, err := h.reactor.loop.Do(ctx, cmd)
	return got, h.wrap(ctx, doing, err)
}

func (h *host) wrap(ctx context.Context, doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, errors.Is(err, core.ErrTurnOver), errors.Is(err, core.ErrItemClosed), errors.Is(err, core.ErrClosed):
		return fmt.Errorf("%s: %w (%w)", doing, engine.ErrStopped, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// History gives the conversation before and within this turn.
func (h *host) History(ctx context.Context) ([]engine.Entry, error) {
	var c conversation
	err := h.reactor.loop.Read(ctx, func(tx *store.ReadTx) error { return c.read(tx, h.sid, h.reactor.options.Files) })
	h.mu.Lock()
	h.summary = c.head.CompactedSeq
	h.mu.Unlock()
	return c.said, h.wrap(ctx, "reading the conversation", err)
}

// Join takes up every waiting input.
func (h *host) Join(ctx context.Context) ([]engine.Input, error) {
	got, err := h.do(ctx, "joining inputs", core.JoinInputs{Turn: h.turn.id})
	if err != nil {
		return nil, err
	}
	if got.Spent {
		return nil, &engine.Failure{Code: "subtask_tokens", Message: text.New("subtask.spent")}
	}
	inputs := make([]engine.Input, 0, len(got.Inputs))
	for _, in := range got.Inputs {
		if in.Notice != nil {
			inputs = append(inputs, engine.Input{EventID: in.EventID, Text: body(*in.Notice), Notice: true})
			continue
		}
		inputs = append(inputs, engine.Input{EventID: in.EventID, Text: words(in.Input), Speaker: speaker(in.Input), Files: files{read: h.reactor.options.Files}.of(in.Input)})
	}
	return inputs, nil
}

// StartMessage opens a message.
func (h *host) StartMessage(ctx context.Context, step int) (string, error) {
	h.at(step)
	got, err := h.do(ctx, "starting a message", core.StartMessage{Turn: h.turn.id, Step: step})
	return got.ItemID, err
}

// StartReasoning opens a stretch of thinking.
func (h *host) StartReasoning(ctx context.Context, step int) (string, error) {
	h.at(step)
	got, err := h.do(ctx, "starting a thought", core.StartReasoning{Turn: h.turn.id, Step: step})
	return got.ItemID, err
}

func (h *host) at(step int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.step = step
}

// Text streams a piece of an open item.
func (h *host) Text(itemID, piece string) error {
	if h.turn.stopped.Load() {
		return engine.ErrStopped
	}
	return h.wrap(context.Background(), "streaming", h.reactor.loop.Text(itemID, piece))
}

// EndReasoning completes a stretch of thinking; its text is what was streamed.
func (h *host) EndReasoning(ctx context.Context, itemID, _ string) error {
	_, err := h.do(ctx, "completing a thought", core.EndReasoning{Turn: h.turn.id, ItemID: itemID})
	return err
}

// EndMessage completes a message that is not the last.
func (h *host) EndMessage(ctx context.Context, m engine.MessageEnd) error {
	_, err := h.do(ctx, "completing a message", core.EndMessage{Turn: h.turn.id, Message: message(m)})
	return err
}

func message(m engine.MessageEnd) event.Message {
	return event.Message{
		MessageID: m.MessageID, Text: m.Text, Finish: m.FinishReason, Provider: m.Provider, Model: m.Model, Prompt: m.Prompt, Completion: m.Completion,
		Aborted: m.FinishReason == event.FinishRetry,
	}
}

// ModelCalled accounts for one call of a model.
func (h *host) ModelCalled(ctx context.Context, c engine.ModelCall) error {
	h.at(c.Step + 1)
	_, err := h.do(ctx, "accounting for a model call", core.RecordModelCall{Turn: h.turn.id, Call: modelCall(c)})
	return err
}

func modelCall(c engine.ModelCall) event.ModelCall {
	call := event.ModelCall{
		Step: c.Step, Provider: c.Provider, Model: c.Model, Prompt: c.Prompt, Completion: c.Completion, Estimated: c.Estimated,
		Window: c.ContextWindow, LatencyMS: c.LatencyMS, CompressAt: c.CompressAt,
	}
	for _, p := range c.Parts {
		call.Parts = append(call.Parts, event.UsagePart(p))
	}
	return call
}

// ProposeTool shows a card while its arguments are written.
func (h *host) ProposeTool(ctx context.Context, name string) (string, error) {
	h.mu.Lock()
	step := h.step
	h.mu.Unlock()
	got, err := h.do(ctx, "proposing a call", core.ProposeTool{Turn: h.turn.id, Tool: name, Step: step})
	return got.ItemID, err
}

// CallTool records a call with its arguments.
func (h *host) CallTool(ctx context.Context, c engine.ToolCall) error {
	_, err := h.do(ctx, "recording a call", core.CallTool{
		Turn: h.turn.id, CallID: c.CallID, Tool: c.Name, Args: c.Args, Effect: c.Effect, Step: c.Step, Rule: (*event.Rule)(c.Rule),
	})
	return err
}

// Approve asks the owner and waits for the settlement, which may be there already.
func (h *host) Approve(ctx context.Context, r engine.ApprovalRequest) (engine.Decision, error) {
	asked, err := h.do(ctx, "asking for approval", core.RequestAction{Turn: h.turn.id, CallID: r.CallID, Tool: r.Tool, Facts: r.Facts})
	if err != nil {
		return engine.Decision{}, err
	}
	for {
		again := h.turn.settled.wait()
		d, settled, err := h.decision(ctx, asked.EventID)
		if err != nil {
			return d, h.wrap(ctx, "reading the answer", err)
		}
		if settled {
			h.note(r.CallID, d)
			return d, nil
		}
		select {
		case <-again:
		case <-ctx.Done():
			return engine.Decision{}, h.wrap(ctx, "waiting for the answer", context.Cause(ctx))
		}
	}
}

func (h *host) note(callID string, d engine.Decision) {
	if d.State != event.StateExpired {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.expired == nil {
		h.expired = map[string]bool{}
	}
	h.expired[callID] = true
}

func (h *host) decision(ctx context.Context, id string) (d engine.Decision, settled bool, err error) {
	err = h.reactor.loop.Read(ctx, func(tx *store.ReadTx) error {
		a, found, err := tx.Action(id)
		if err != nil || found && a.State == "pending" {
			return err
		}
		e, _, err := tx.Event(a.Resolved)
		if err != nil {
			return err
		}
		r, ok := e.Payload.(event.Resolution)
		if !ok { // erased with its session
			return core.ErrTurnOver
		}
		settled = true
		d = engine.Decision{Approved: r.State == event.StateApproved, State: r.State, Source: r.Source, Note: r.Note}
		return nil
	})
	return d, settled, err
}

// CompleteTool ends a call. It goes through after a stop, too: what the tool said until then is
// worth keeping, and core marks the call as cancelled.
func (h *host) CompleteTool(ctx context.Context, r engine.ToolResult) error {
	_, err := h.do(context.WithoutCancel(ctx), "completing a call", core.CompleteTool{Turn: h.turn.id, Result: event.Result{
		CallID: r.CallID, Status: string(r.Status), Text: r.Text, ErrorKind: h.errorKind(r), DurationMS: r.DurationMS,
		ExitCode: r.ExitCode, Truncated: r.Truncated, NotExecuted: r.NotExecuted,
	}})
	return err
}

// Guard keeps what a call is about to change. A call that cannot be guarded runs, because undo is less
// than the work itself; its turn then says so when it is rewound.
func (h *host) Guard(ctx context.Context, g engine.Guard) (func(bool), error) {
	guard := h.reactor.options.Guard
	if guard == nil {
		return func(bool) {}, nil
	}
	done, err := guard(ctx, h.turn.id, h.told.Place, g)
	if ctx.Err() != nil {
		return nil, h.wrap(ctx, "keeping what the call may change", context.Cause(ctx))
	}
	if err != nil {
		h.reactor.log.Error("a call's changes are not protected", "turn", h.turn.id, "call", g.CallID, "err", err)
		return func(bool) {}, nil
	}
	return func(moved bool) {
		if err := done(context.WithoutCancel(ctx), moved); err != nil {
			h.reactor.log.Error("what a call changed is not recorded", "turn", h.turn.id, "call", g.CallID, "err", err)
		}
	}, nil
}

// errorKind is the word of /v1 for how a call failed (kernel 4.2).
func (h *host) errorKind(r engine.ToolResult) string {
	switch {
	case r.Status == engine.ToolSucceeded:
		return ""
	case r.Status == engine.ToolDenied && r.Forbidden:
		return "forbidden"
	case r.Status == engine.ToolDenied:
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.expired[r.CallID] {
			return "expired"
		}
		return "rejected"
	case r.Status == engine.ToolCancelled:
		return "cancelled"
	case r.Status == engine.ToolTimedOut:
		return "unknown"
	case r.NotExecuted:
		return "invalid"
	}
	return "internal"
}

// ToolLimit tells the owner that the turn ends by the limit and can be continued.
// Spec SP-NOTICE-08, decisions F17.
func (h *host) ToolLimit(ctx context.Context, limit int) error {
	h.setLimited(true)
	_, err := h.do(ctx, "telling the tool limit", core.AddNotice{Turn: h.turn.id, Notice: event.Notice{
		Topic: noticeLimit, Text: text.New("turn.tool-limit", "limit", limit), CanContinue: true,
	}})
	return err
}

func (h *host) setLimited(to bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.limited = to
}

func (h *host) isLimited() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.limited
}

// Finish completes the last message and ends the turn, unless an input waits.
func (h *host) Finish(ctx context.Context, m engine.MessageEnd) error {
	got, err := h.do(ctx, "finishing the turn", core.EndMessage{Turn: h.turn.id, Message: message(m), Last: true, Limit: h.isLimited()})
	return h.finished(got, err)
}

// Silent ends the turn without a reply, unless an input waits.
func (h *host) Silent(ctx context.Context) error {
	got, err := h.do(ctx, "ending the turn in silence", core.EndSilent{Turn: h.turn.id, Limit: h.isLimited()})
	return h.finished(got, err)
}

func (h *host) finished(got core.Receipt, err error) error {
	if err != nil {
		return err
	}
	if got.Waiting {
		h.setLimited(false) // the turn goes on with a budget of its own for what was said
		return engine.ErrInputWaiting
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	return nil
}
