package provider_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/provider"
	"aalis/backend/provider/demo"
	"aalis/backend/provider/openai"
)

// listing is a source that offers these models, or none.
type listing struct {
	settings provider.Settings
	models   []provider.ModelConfig
	err      error
}

func (l *listing) Model(string) provider.Model { return nil }

func (l *listing) ListModels(ctx context.Context) ([]provider.ModelConfig, error) {
	return l.models, l.err
}

var builtIn = map[string]provider.Kind{"demo": demo.Kind(), "openai": openai.Kind()}

func kindsWith(name string, l *listing) map[string]provider.Kind {
	return map[string]provider.Kind{"demo": demo.Kind(), "openai": openai.Kind(), name: {Open: func(s provider.Settings) provider.Source {
		l.settings = s
		return l
	}}}
}

func TestWithoutProvidersThereIsTheDemo(t *testing.T) {
	set, err := provider.NewSet(provider.Config{}, builtIn)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := set.Default(t.Context())
	if err != nil || entry.ID != "demo/demo" || entry.Provider != "demo" || entry.Kind != provider.DemoType || entry.Name != "demo" || entry.ContextWindow != provider.DefaultContextWindow || entry.Model == nil {
		t.Errorf("%+v, %v", entry, err)
	}
}

func TestLookup(t *testing.T) {
	set, err := provider.NewSet(provider.Config{
		DefaultModel: "local/qwen/qwen3:8b",
		Providers: []provider.ProviderConfig{
			{ID: "open", Type: "openai", BaseURL: "http://127.0.0.1:1/v1"},
			{ID: "local", Type: "openai", BaseURL: "http://127.0.0.1:11434/v1/", Models: []provider.ModelConfig{{Name: "a"}, {Name: "qwen/qwen3:8b", ContextWindow: 40960}}},
		},
	}, builtIn)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]provider.Entry{
		"":                    {ID: "local/qwen/qwen3:8b", Provider: "local", Kind: "openai", Name: "qwen/qwen3:8b", ContextWindow: 40960},
		"local/a":             {ID: "local/a", Provider: "local", Kind: "openai", Name: "a", ContextWindow: 128_000},
		"open/any/thing:free": {ID: "open/any/thing:free", Provider: "open", Kind: "openai", Name: "any/thing:free", ContextWindow: 128_000},
	} {
		got, err := set.Lookup(t.Context(), id)
		got.Model = nil
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", id, err, diff)
		}
	}
	for _, id := range []string{"local/b", "else/a", "local", "local/", "/"} {
		_, err := set.Lookup(t.Context(), id)
		e, ok := errors.AsType[*provider.Error](err)
		if want := "There is no model " + id + ". There are: open/…, local/a, local/qwen/qwen3:8b."; !ok || e.Code != provider.ErrNotFound || e.Message.String() != want {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestListLeavesOutWhoIsDown(t *testing.T) {
	down := errors.New("down")
	set, err := provider.NewSet(provider.Config{Providers: []provider.ProviderConfig{
		{ID: "x", Type: "list"}, {ID: "d", Type: "demo"},
	}}, kindsWith("list", &listing{err: down}))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := set.List(t.Context())
	if !errors.Is(err, down) || len(entries) != 1 || entries[0].ID != "d/demo" {
		t.Errorf("%+v, %v", entries, err)
	}
	if _, err := set.Default(t.Context()); !errors.Is(err, down) {
		t.Errorf("the default is the first provider's, not another's: %v", err)
	}
}

func TestSettings(t *testing.T) {
	environment := map[string]string{"MY_KEY": " k1\n"}
	l := &listing{}
	open := func(p provider.ProviderConfig) {
		t.Helper()
		p.ID, p.Type = "p", "list"
		_, err := provider.NewSet(provider.Config{
			Providers: []provider.ProviderConfig{p},
			Getenv:    func(name string) string { return environment[name] },
			Secret:    func(id string) string { return "kept " + id },
		}, kindsWith("list", l))
		if err != nil {
			t.Fatal(err)
		}
	}
	open(provider.ProviderConfig{APIKeyEnv: "MY_KEY"})
	if l.settings.Key() != "k1" || l.settings.KeyEnv != "MY_KEY" || l.settings.IdleTimeout != 120*time.Second {
		t.Errorf("%+v with key %q", l.settings, l.settings.Key())
	}
	environment["MY_KEY"] = "k2"
	if l.settings.Key() != "k2" {
		t.Errorf("a changed key counts at once, got %q", l.settings.Key())
	}
	open(provider.ProviderConfig{IdleTimeout: time.Second})
	if l.settings.Key() != "kept p" || l.settings.IdleTimeout != time.Second {
		t.Errorf("%+v with key %q", l.settings, l.settings.Key())
	}
}

func TestConfigMistakes(t *testing.T) {
	ok := provider.ProviderConfig{ID: "p", Type: "openai", BaseURL: "https://api.example/v1"}
	with := func(change func(*provider.ProviderConfig)) provider.Config {
		p := ok
		change(&p)
		return provider.Config{Providers: []provider.ProviderConfig{p}}
	}
	for name, tc := range map[string]struct {
		config provider.Config
		want   string
	}{
		"no id":       {with(func(p *provider.ProviderConfig) { p.ID = "" }), `providers[0].id: an id is missing; give each provider a short name such as "local"`},
		"slash in id": {with(func(p *provider.ProviderConfig) { p.ID = "a/b" }), `providers[0].id: "a/b" is not an id; use letters, digits, - and _ (no slash), at most 64`},
		"twice":       {provider.Config{Providers: []provider.ProviderConfig{ok, ok}}, `providers[1].id: the id "p" stands twice; ids must differ`},
		"type":        {with(func(p *provider.ProviderConfig) { p.Type = "openia" }), `providers[0].type: the type "openia" is not known; valid are: demo, openai`},
		"no address":  {with(func(p *provider.ProviderConfig) { p.BaseURL = "" }), `providers[0].base_url: the address is missing; an example is http://127.0.0.1:11434/v1`},
		"demo with address": {
			with(func(p *provider.ProviderConfig) { p.Type = "demo" }), `providers[0].base_url: the type demo has no address; leave base_url out`,
		},
		"scheme":     {with(func(p *provider.ProviderConfig) { p.BaseURL = "localhost:11434" }), `providers[0].base_url: "localhost:11434" is not an http or https address; an example is http://127.0.0.1:11434/v1`},
		"password":   {with(func(p *provider.ProviderConfig) { p.BaseURL = "https://me:pw@api.example/v1" }), `providers[0].base_url: an address must not hold a user, password, query or fragment; name the key's variable in api_key_env`},
		"pasted key": {with(func(p *provider.ProviderConfig) { p.APIKeyEnv = "sk-1234567890" }), `providers[0].api_key_env: "sk-1…" is not the name of an environment variable; an example is LOCAL_KEY. The key itself does not belong here`},
		"idle":       {with(func(p *provider.ProviderConfig) { p.IdleTimeout = -1 }), `providers[0].idle_timeout: an idle_timeout of -1ns is not positive; an example is 120s`},
		"model":      {with(func(p *provider.ProviderConfig) { p.Models = []provider.ModelConfig{{Name: " "}} }), `providers[0].models[0]: a model has no name`},
		"model twice": {
			with(func(p *provider.ProviderConfig) { p.Models = []provider.ModelConfig{{Name: "a"}, {Name: "a"}} }), `providers[0].models[1]: the model "a" stands twice`,
		},
		"window": {
			with(func(p *provider.ProviderConfig) { p.Models = []provider.ModelConfig{{Name: "a", ContextWindow: 128}} }),
			`providers[0].models[0].context_window: a context_window of 128 tokens is too small; at least 1024, or leave it out for 128000`,
		},
		"default": {
			provider.Config{Providers: []provider.ProviderConfig{ok}, DefaultModel: "q/x"}, `default_model: "q/x" is not a model; write <provider id>/<model>. Providers are: p`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := provider.NewSet(tc.config, builtIn)
			mistake, is := errors.AsType[*provider.ConfigError](err)
			if !is || err.Error() != tc.want || strings.TrimSpace(mistake.Message.In("zh-CN")) == "" {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
	t.Run("all at once", func(t *testing.T) {
		_, err := provider.NewSet(provider.Config{Providers: []provider.ProviderConfig{{}}, DefaultModel: "x"}, builtIn)
		if err == nil || strings.Count(err.Error(), "\n") != 2 {
			t.Errorf("%v", err)
		}
	})
}
