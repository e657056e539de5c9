package session_test

import (
	"context"
	"encoding/json"
	"testing"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/settings"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

// put makes a service present or absent.
func put(t *testing.T, all *session.Services, name string, present bool) {
	t.Helper()
	*all = with(*all, name, nil)
	if present {
		*all = with(*all, name, service{})
	}
}

func with(all session.Services, name string, s any) session.Services {
	switch name {
	case "agent":
		all.Agent, _ = s.(session.Agent)
	case "checkpoints":
		all.Checkpoints, _ = s.(session.Checkpoints)
	case "compression":
		all.Compression, _ = s.(session.Compression)
	case "settings":
		all.Settings, _ = s.(session.Settings)
	case "plans":
		all.Plans = s != nil
	case "approvals":
		all.Approvals, _ = s.(session.Approvals)
	default:
		panic("no service " + name)
	}
	return all
}

// service is there and knows nothing: every id is unknown to it.
type service struct{}

var errUnknown = fault.New(fault.NotFound, text.Plain("There is nothing of that name."))

func (service) StopChildren(context.Context, string) error { return errUnknown }

func (service) Undo(context.Context, event.Actor, session.RewindUndoParams) (session.TurnRewindResult, error) {
	return session.TurnRewindResult{}, errUnknown
}

func (service) Rewind(context.Context, event.Actor, session.TurnRewindParams) (session.TurnRewindResult, error) {
	return session.TurnRewindResult{}, errUnknown
}

func (service) Compress(context.Context, string) error { return errUnknown }

func (service) Session(context.Context, string, string) (settings.Rows, error) {
	return settings.Rows{}, errUnknown
}

func (service) WriteSession(context.Context, string, string, string, string, json.RawMessage) (settings.Rows, error) {
	return settings.Rows{}, errUnknown
}

func (service) Layers(context.Context) ([]settings.LayerInfo, error) {
	return []settings.LayerInfo{{Layer: settings.Layer{Scope: settings.GlobalScope}}}, nil
}

func (service) Layer(_ context.Context, l settings.Layer) (settings.Rows, error) {
	return settings.Rows{}, fault.New(fault.Invalid, text.Plain("No layer "+string(l.Scope)+" "+l.Platform+"."))
}

func (service) WriteLayer(context.Context, settings.Layer, string, string, json.RawMessage) (settings.Rows, error) {
	return settings.Rows{}, errUnknown
}

func (service) Overrides(context.Context, string) ([]settings.Overrides, error) {
	return []settings.Overrides{}, nil
}

func (service) Present(string, string, bool) bool { return false }

func (service) Show(string, string, []string) bool { return false }

func (service) Settled(string, string) {}

func (service) Gone(string) {}
