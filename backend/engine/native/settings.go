package native

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"aalis/backend/engine"
	"aalis/backend/provider"
	"aalis/backend/rule"
)

// set is what one call of the model goes by: what the session is set to now, and what the turn is bound
// to.
type set struct {
	model    string // entry id, "" for the default
	thinking string
	all      bool     // no groups are chosen: every tool is on
	groups   []string // those that are on otherwise
	limit    int
	persona  string
	extra    string
	line     float64 // share of the window at which the conversation is shortened, 0 for never
	rules    rule.Set
}

// allGroups is a group that stands for every one.
const allGroups = "*"

// current reads what a turn goes by. Values that are not of their field's type never come here.
func current(ctx context.Context, t engine.Turn) (set, error) {
	var values map[string]json.RawMessage
	if t.Settings != nil {
		var err error
		if values, err = t.Settings.Current(ctx); err != nil {
			return set{}, fmt.Errorf("reading the settings: %w", err)
		}
	}
	s, err := read(values)
	s.model = cmp.Or(t.Model, s.model)
	s.limit = cmp.Or(t.ToolLimit, s.limit, DefaultToolLimit)
	return s, err
}

// read takes the engine's own settings out of all.
func read(values map[string]json.RawMessage) (set, error) {
	var s set
	percent := float64(DefaultCompressAt)
	var model, asking string
	for key, into := range map[string]any{
		KeyModel: &model, keyThinking: &s.thinking, keyToolGroups: &s.groups, keyToolLimit: &s.limit, keyPersona: &s.persona, keyExtra: &s.extra,
		keyDeny: &s.rules.Deny, keyAsk: &s.rules.Ask, keyAllow: &s.rules.Allow, keyAsking: &asking,
		keyCompress: &percent,
	} {
		if raw, given := values[key]; given {
			if err := json.Unmarshal(raw, into); err != nil {
				return set{}, fmt.Errorf("reading the setting %s: %w", key, err)
			}
		}
	}
	_, chosen := values[keyToolGroups]
	s.all = !chosen || slices.Contains(s.groups, allGroups)
	s.line = percent / 100
	s.model = model
	s.rules.Free = asking == askNever
	s.persona, s.extra = strings.TrimSpace(s.persona), strings.TrimSpace(s.extra)
	return s, nil
}

// offers reports whether a tool is on.
func (e *Engine) offers(s set, tool string) bool {
	group, grouped := e.groups[tool]
	return s.all || !grouped || slices.Contains(s.groups, group)
}

// offered gives the tools that are on, in the registry's order.
func (e *Engine) offered(s set) []provider.ToolSpec {
	if s.all {
		return e.specs
	}
	var on []provider.ToolSpec
	for _, spec := range e.specs {
		if e.offers(s, spec.Name) {
			on = append(on, spec)
		}
	}
	return on
}

// prepared is everything a call of the model needs beside what was said.
type prepared struct {
	set    set
	entry  provider.Entry
	system string
	tools  []provider.ToolSpec
}

// prepare works out the next call of a turn as things are set now.
func (e *Engine) prepare(ctx context.Context, t engine.Turn) (prepared, error) {
	s, err := current(ctx, t)
	if err != nil {
		return prepared{}, err
	}
	p := prepared{set: s, tools: e.offered(s)}
	if p.entry, err = e.models.Lookup(ctx, s.model); err != nil {
		return prepared{}, err
	}
	p.system, err = e.prompt(t, s)
	return p, err
}

// request puts what was said to the model. sent are the ids of the images that go with it, none without
// images.
func (p prepared) request(said []engine.Entry, images bool) (req provider.Request, sent []string) {
	s := showing{model: p.entry.ID, images: images}
	files := s.all(said)
	return provider.Request{Model: p.entry.Name, System: p.system, Messages: messages(said, files...), Tools: p.tools, Thinking: p.set.thinking}, s.sent
}

// GroupsOn says which groups of tools are on by the settings of a session.
func GroupsOn(values map[string]json.RawMessage) (func(group string) bool, error) {
	s, err := read(values)
	return func(group string) bool { return s.all || slices.Contains(s.groups, group) }, err
}
