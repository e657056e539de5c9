package native_test

import (
	"testing"

	"aalis/backend/engine"
	"aalis/backend/engine/enginetest"
	"aalis/backend/engine/native"
	"aalis/backend/provider"
	"aalis/backend/provider/scripted"
	"aalis/backend/tool"
)

var suite = enginetest.Suite{New: open}

func open(t *testing.T, script string, tools ...tool.Definition) (engine.Engine, enginetest.Model) {
	t.Helper()
	calls, err := scripted.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	model := scripted.New(calls...)
	set, err := provider.NewSet(provider.Config{
		Providers: []provider.ProviderConfig{{ID: "test", Type: "scripted", Models: []provider.ModelConfig{{Name: "m", ContextWindow: 4096}}}},
	}, map[string]provider.Kind{"scripted": model.Kind()})
	if err != nil {
		t.Fatal(err)
	}
	return native.New(native.Config{Models: set, Tools: tool.NewRegistry(tools...)}), model
}

func TestConformance(t *testing.T) { suite.Run(t) }
