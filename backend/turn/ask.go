package turn

import (
	"context"
	"fmt"

	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// Usage measures the context of a session as its next model call would send it (Spec SP-SUB-07).
// store.ErrNotFound without the session, fault.Unsupported where its engine cannot tell.
func (r *Reactor) Usage(ctx context.Context, sessionID string) (event.ModelCall, error) {
	session, measurer, err := asked[engine.Measurer](ctx, r, sessionID)
	if err != nil {
		return event.ModelCall{}, err
	}
	said, err := r.history(ctx, session.SID)
	if err != nil {
		return event.ModelCall{}, fmt.Errorf("reading the conversation: %w", err)
	}
	call, err := measurer.Measure(ctx, r.told(session, ""), said)
	return modelCall(call), err
}

// Title has a session's engine name its conversation; errors are those of Usage and of the model.
func (r *Reactor) Title(ctx context.Context, sessionID, question, answer string) (string, error) {
	session, titler, err := asked[engine.Titler](ctx, r, sessionID)
	if err != nil {
		return "", err
	}
	return titler.Title(ctx, r.told(session, ""), question, answer)
}

// asked gives a session and its engine, if that can do E.
func asked[E any](ctx context.Context, r *Reactor, sessionID string) (session store.Session, able E, err error) {
	if err = r.loop.Read(ctx, func(tx *store.ReadTx) (err error) {
		session, err = tx.Session(sessionID)
		return err
	}); err != nil {
		return session, able, fmt.Errorf("reading the session: %w", err)
	}
	able, ok := r.options.Engines[session.Harness].(E)
	if !ok {
		err = fault.New(fault.Unsupported, text.New("turn.no-engine", "harness", session.Harness))
	}
	return session, able, err
}
