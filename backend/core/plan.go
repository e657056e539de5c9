package core

import (
	"fmt"

	"aalis/backend/event"
	"aalis/backend/store"
)

// The bounds of a plan (decisions E8).
const (
	MaxPlanEntries = 50
	MaxPlanTitle   = 120 // characters
)

// SetPlan replaces the to-do list of a session. Without entries it clears it, which does nothing
// where there is none (decisions F14). Turn is the turn that did it, "" outside any.
type SetPlan struct {
	Actor   event.Actor
	Session string
	Turn    string
	Entries []event.PlanEntry
}

func (c SetPlan) run(w *write) (Receipt, error) {
	if len(c.Entries) > MaxPlanEntries {
		return Receipt{}, fmt.Errorf("%w: a plan has at most %d entries", store.ErrInvalid, MaxPlanEntries)
	}
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	if c.Turn != "" {
		if t, err := w.live(c.Turn); err != nil || t.SID != s.SID {
			return Receipt{}, orError(err, ErrTurnOver)
		}
	}
	if len(c.Entries) == 0 {
		if had, err := w.Plan(s.SID); err != nil || len(had.Entries) == 0 {
			return Receipt{SessionID: s.ID}, err
		}
	}
	plan := event.Plan{Entries: c.Entries}
	if plan.Entries == nil {
		plan.Entries = []event.PlanEntry{}
	}
	_, err = w.append(s.SID, event.Draft{Turn: c.Turn, Actor: c.Actor, Payload: plan})
	return Receipt{SessionID: s.ID}, err
}

func orError(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
