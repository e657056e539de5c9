package native

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aalis/backend/engine"
	"aalis/backend/provider"
	"aalis/backend/text"
)

const (
	// attempts is how often a call is made in all while nothing of it has been seen (Spec C15).
	attempts = 3
	// firstPause doubles with each attempt.
	firstPause = time.Second
	// maxPause: a server that wants a longer rest is told to the owner instead of waited for.
	maxPause = time.Minute
)

// call makes one model call and tells the host what it says and what it cost.
func (r *run) call(ctx context.Context) (*answer, error) {
	r.step++
	req, sent := r.request(r.said, true)
	start := time.Now()
	a, err := r.attempt(ctx, req, nil)
	if err != nil && len(sent) > 0 && !a.begun && ctx.Err() == nil && mayBeFiles(err) {
		r.engine.log.Info("model call is repeated without images", "provider", r.entry.Provider, "images", len(sent), "error", err)
		// That it was the images is known when the model answers without them: a session never hangs on
		// what its model refuses, and no model is said to refuse what was not the reason.
		req, _ = r.request(r.said, false)
		a, err = r.attempt(ctx, req, func() error {
			r.remember(r.entry.ID, sent)
			return r.host.FilesRefused(ctx, r.entry.ID, sent)
		})
	}
	if err != nil {
		return nil, failure(ctx, err, time.Since(start))
	}
	return a, r.called(ctx, req, a, time.Since(start))
}

// attempt makes one call, again as long as that may help and nothing of the answer has been seen. begun,
// which may be nil, is called when the first of it comes.
func (r *run) attempt(ctx context.Context, req provider.Request, begun func() error) (*answer, error) {
	for attempt := 1; ; attempt++ {
		a := &answer{run: r, step: r.step, atFirst: begun}
		err := a.take(ctx, req)
		if err == nil {
			return a, nil
		}
		pause, again := r.again(err, attempt)
		if a.begun || !again {
			return a, err
		}
		r.engine.log.Info("model call is repeated", "provider", r.entry.Provider, "attempt", attempt, "pause", pause, "error", err)
		if err := sleep(ctx, pause); err != nil {
			return a, err
		}
	}
}

// Measure estimates the context of a session as its next call would send it. See engine.Measurer.
func (e *Engine) Measure(ctx context.Context, t engine.Turn, said []engine.Entry) (engine.ModelCall, error) {
	next, err := e.prepare(ctx, t)
	if err != nil {
		return engine.ModelCall{}, fmt.Errorf("preparing the call: %w", err)
	}
	req, _ := next.request(said, true)
	weights, entry := e.weigh(next.set, req), next.entry
	c := engine.ModelCall{
		Provider: entry.Provider, Model: entry.Name, ContextWindow: entry.ContextWindow,
		Prompt: estimated(weights), Estimated: true, CompressAt: next.set.line,
	}
	c.Parts = share(weights, c.Prompt)
	return c, nil
}

// again tells whether a call is to be repeated and after what pause.
func (r *run) again(err error, attempt int) (time.Duration, bool) {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || !e.Retryable || attempt == attempts || e.RetryAfter > maxPause {
		return 0, false
	}
	return max(firstPause<<(attempt-1), e.RetryAfter), true
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// called reports the call's tokens: the server's count, else an estimate that says it is one.
func (r *run) called(ctx context.Context, req provider.Request, a *answer, took time.Duration) error {
	c := engine.ModelCall{
		Step: a.step, Provider: r.entry.Provider, Model: r.entry.Name,
		ContextWindow: r.entry.ContextWindow, LatencyMS: took.Milliseconds(), CompressAt: r.set.line,
	}
	weights := r.engine.weigh(r.set, req)
	if a.usage != nil {
		c.Prompt, c.Completion = a.usage.Prompt, a.usage.Completion
		r.completion += a.usage.Completion
	} else {
		r.counted = false
		c.Estimated = true
		c.Prompt = estimated(weights)
		c.Completion = a.estimate()
	}
	c.Parts = share(weights, c.Prompt)
	return r.host.ModelCalled(ctx, c)
}

// failure makes of an error what ends the turn; stops pass as they are.
func failure(ctx context.Context, err error, took time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return err
	}
	return &engine.Failure{
		Code: string(e.Code), Message: e.Message, Retryable: e.Retryable, Status: e.Status,
		Provider: e.Provider, LatencyMS: took.Milliseconds(), Raw: e.Raw, Err: err,
	}
}

// failed ends a turn whose model call went well and yet gave nothing to go on with.
func (r *run) failed(a *answer, code string, message text.Text) error {
	return &engine.Failure{Code: code, Message: message, Provider: r.entry.Provider, LatencyMS: a.took.Milliseconds()}
}
