package session_test

import (
	"context"
	"testing"

	"aalis/backend/fault"
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

func (service) Rewind(context.Context, session.TurnRewindParams) (session.TurnRewindResult, error) {
	return session.TurnRewindResult{}, errUnknown
}

func (service) Compress(context.Context, string) error { return errUnknown }

func (service) Session(context.Context, string, string, text.Language) (session.ConfigGetResult, error) {
	return session.ConfigGetResult{}, errUnknown
}

func (service) WriteSession(context.Context, session.ConfigUpdateParams, string, text.Language) (session.ConfigUpdateResult, error) {
	return session.ConfigUpdateResult{}, errUnknown
}

func (service) Layers(context.Context, text.Language) (session.ConfigLayersResult, error) {
	return session.ConfigLayersResult{Layers: []session.SettingLayerInfo{{Layer: session.SettingLayer{Scope: session.ScopeGlobal}}}, Order: []session.LayerLabel{}}, nil
}

func (service) Layer(_ context.Context, layer session.SettingLayer, _ text.Language) (session.ConfigLayerGetResult, error) {
	return session.ConfigLayerGetResult{}, fault.New(fault.Invalid, text.Plain("No layer "+string(layer.Scope)+" "+layer.Platform+"."))
}

func (service) WriteLayer(context.Context, session.ConfigLayerUpdateParams, text.Language) (session.ConfigLayerUpdateResult, error) {
	return session.ConfigLayerUpdateResult{}, errUnknown
}

func (service) Overrides(context.Context, string, text.Language) (session.ConfigOverridesResult, error) {
	return session.ConfigOverridesResult{Items: []session.SettingOverrides{}}, nil
}

func (service) Present(string, string, bool) bool { return false }

func (service) Show(string, string, []string) bool { return false }

func (service) Settled(string, string) {}

func (service) Gone(string) {}
