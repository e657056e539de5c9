package provider

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"aalis/backend/text"
)

// Source is one configured provider.
type Source interface {
	// Model gives the model of that name; whether the server knows it shows when it is called.
	Model(name string) Model
	// ListModels asks which models there are, in the server's order.
	ListModels(ctx context.Context) ([]ModelConfig, error)
}

// Thinker is a Source whose models can be asked to think longer or shorter.
type Thinker interface {
	// Thinking gives the words a model takes, the shortest first; none when it takes none.
	Thinking(model string) []string
}

// DemoType is the kind that stands in when config.yaml names no provider.
const DemoType = "demo"

// Set is the models the owner can choose. It does not change after NewSet, but that it remembers which
// model its first provider named first, and is safe for concurrent use.
type Set struct {
	providers    []member
	defaultModel string
	first        *atomic.Pointer[string] // name of the first model its first provider was asked for
}

type member struct {
	id     string
	kind   string
	models []ModelConfig // empty: asked from the source
	source Source
}

// NewSet builds the providers of config, each by the kind its type names. Without any provider it
// holds the demo engine alone. The error joins one *ConfigError per mistake; no connection is made.
func NewSet(config Config, kinds map[string]Kind) (*Set, error) {
	if len(config.Providers) == 0 {
		config.Providers = []ProviderConfig{{ID: DemoType, Type: DemoType}}
	}
	if err := config.check(kinds); err != nil {
		return nil, err
	}
	set := &Set{defaultModel: config.DefaultModel, first: new(atomic.Pointer[string])}
	for _, p := range config.Providers {
		idle := p.IdleTimeout
		if idle == 0 {
			idle = DefaultIdleTimeout
		}
		set.providers = append(set.providers, member{id: p.ID, kind: p.Type, models: p.Models, source: kinds[p.Type].Open(Settings{
			ID:          p.ID,
			BaseURL:     strings.TrimRight(p.BaseURL, "/"),
			KeyEnv:      p.APIKeyEnv,
			Key:         config.key(p),
			IdleTimeout: idle,
		})})
	}
	return set, nil
}

// Lookup gives the entry with this id; "" gives the default. A provider whose models are not listed
// in config.yaml takes any name. The error is an *Error with ErrNotFound that names what there is.
func (s *Set) Lookup(ctx context.Context, id string) (Entry, error) {
	if id == "" {
		return s.Default(ctx)
	}
	providerID, name, _ := strings.Cut(id, "/")
	for _, p := range s.providers {
		if p.id != providerID || name == "" {
			continue
		}
		if len(p.models) == 0 {
			return p.entry(ModelConfig{Name: name}), nil
		}
		if i := slices.IndexFunc(p.models, func(m ModelConfig) bool { return m.Name == name }); i >= 0 {
			return p.entry(p.models[i]), nil
		}
	}
	return Entry{}, &Error{Code: ErrNotFound, Provider: providerID, Message: text.New("provider.no-entry", "id", id, "known", s.known())}
}

// WithDefault is the set with another default; "" is the first model of the first provider.
func (s *Set) WithDefault(id string) *Set {
	other := *s
	other.defaultModel = id
	return &other
}

// Takes reports whether Lookup would give an entry for an id.
func (s *Set) Takes(id string) bool {
	_, err := s.Lookup(context.Background(), id) // asks nobody for an id that is one
	return id != "" && err == nil
}

// Thinking gives how long the model of an entry can be asked to think, the shortest first.
func (s *Set) Thinking(id string) []string {
	providerID, name, _ := strings.Cut(id, "/")
	for _, p := range s.providers {
		if thinker, ok := p.source.(Thinker); ok && p.id == providerID {
			return thinker.Thinking(name)
		}
	}
	return nil
}

// DefaultNow is the id that Default gives, as far as it is known without asking anybody.
func (s *Set) DefaultNow() (id string, known bool) {
	first := s.providers[0]
	switch {
	case s.defaultModel != "":
		return s.defaultModel, true
	case len(first.models) > 0:
		return first.id + "/" + first.models[0].Name, true
	}
	if name := s.first.Load(); name != nil {
		return first.id + "/" + *name, true
	}
	return "", false
}

// Default gives the model that default_model names, else the first model of the first provider,
// which is asked for its models if config.yaml lists none.
func (s *Set) Default(ctx context.Context) (Entry, error) {
	if s.defaultModel != "" {
		return s.Lookup(ctx, s.defaultModel)
	}
	first := s.providers[0]
	models, err := first.list(ctx)
	if err != nil {
		return Entry{}, err
	}
	s.remember(models)
	if len(models) == 0 {
		return Entry{}, &Error{Code: ErrNotFound, Provider: first.id, Message: text.New("provider.no-models", "provider", first.id)}
	}
	return first.entry(models[0]), nil
}

// listTimeout bounds how long a silent provider can hold up the list of all.
const listTimeout = 10 * time.Second

// List asks all providers at once and gives every entry in the order of config.yaml, the ids
// unique. Providers that cannot be asked are left out and their errors joined, so that one that is
// down does not hide the others.
func (s *Set) List(ctx context.Context) ([]Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	models := make([][]ModelConfig, len(s.providers))
	errs := make([]error, len(s.providers))
	var asking sync.WaitGroup
	for i, p := range s.providers {
		asking.Go(func() { models[i], errs[i] = p.list(ctx) })
	}
	asking.Wait()
	s.remember(models[0])
	var entries []Entry
	for i, p := range s.providers {
		for _, m := range models[i] {
			entries = append(entries, p.entry(m))
		}
	}
	return entries, errors.Join(errs...)
}

func (s *Set) remember(models []ModelConfig) {
	if len(models) > 0 {
		s.first.Store(&models[0].Name)
	}
}

func (s *Set) known() string {
	var ids []string
	for _, p := range s.providers {
		for _, m := range p.models {
			ids = append(ids, p.id+"/"+m.Name)
		}
		if len(p.models) == 0 {
			ids = append(ids, p.id+"/…")
		}
	}
	return strings.Join(ids, ", ")
}

func (p member) list(ctx context.Context) ([]ModelConfig, error) {
	if len(p.models) > 0 {
		return p.models, nil
	}
	return p.source.ListModels(ctx)
}

func (p member) entry(m ModelConfig) Entry {
	window := m.ContextWindow
	if window == 0 {
		window = DefaultContextWindow
	}
	return Entry{ID: p.id + "/" + m.Name, Provider: p.id, Kind: p.kind, Name: m.Name, ContextWindow: window, Model: p.source.Model(m.Name)}
}
