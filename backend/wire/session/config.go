package session

import (
	"context"
	"encoding/json"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/settings"
)

// settings gives the settings service (Spec SP-CONF-01).
func (c *Conn) settings() (Settings, error) {
	if s := c.server.current().Settings; s != nil {
		return s, nil
	}
	return nil, absent("wire.service-settings")
}

func (c *Conn) configGet(ctx context.Context, p SessionParams) (ConfigGetResult, error) {
	s, err := c.settings()
	if err != nil {
		return ConfigGetResult{}, err
	}
	rows, err := s.Session(ctx, p.SessionID, c.peer.Caller.Identity.Platform)
	return ConfigGetResult{Items: c.settingRows(rows), Platform: rows.Platform}, err
}

func (c *Conn) configUpdate(ctx context.Context, p ConfigUpdateParams) (ConfigUpdateResult, error) {
	s, err := c.settings()
	if err != nil {
		return ConfigUpdateResult{}, err
	}
	value, err := rawValue(p.Value)
	if err != nil {
		return ConfigUpdateResult{}, err
	}
	rows, err := s.WriteSession(ctx, p.SessionID, c.peer.Caller.Identity.Platform, p.Plugin, p.Key, value)
	return ConfigUpdateResult{Items: c.settingRows(rows), Platform: rows.Platform, Unsaved: c.unsaved(rows)}, err
}

func (c *Conn) configLayers(ctx context.Context, _ Empty) (ConfigLayersResult, error) {
	s, err := c.settings()
	if err != nil {
		return ConfigLayersResult{}, err
	}
	layers, err := s.Layers(ctx)
	result := ConfigLayersResult{Layers: []SettingLayerInfo{}, Order: []LayerLabel{}}
	for _, l := range layers {
		result.Layers = append(result.Layers, SettingLayerInfo{
			Layer: wireLayer(l.Layer), Label: c.server.say(l.Label), Platform: l.Platform, Type: l.Type,
		})
	}
	for _, l := range settings.Order() {
		result.Order = append(result.Order, LayerLabel{Name: SettingLayerName(l.Scope), Label: c.server.say(l.Label)})
	}
	return result, err
}

func (c *Conn) configLayerGet(ctx context.Context, p ConfigLayerGetParams) (ConfigLayerGetResult, error) {
	s, err := c.settings()
	if err != nil {
		return ConfigLayerGetResult{}, err
	}
	rows, err := s.Layer(ctx, ownLayer(p.Layer))
	return ConfigLayerGetResult{Items: c.settingRows(rows)}, err
}

func (c *Conn) configLayerUpdate(ctx context.Context, p ConfigLayerUpdateParams) (ConfigLayerUpdateResult, error) {
	s, err := c.settings()
	if err != nil {
		return ConfigLayerUpdateResult{}, err
	}
	value, err := rawValue(p.Value)
	if err != nil {
		return ConfigLayerUpdateResult{}, err
	}
	rows, err := s.WriteLayer(ctx, ownLayer(p.Layer), p.Plugin, p.Key, value)
	return ConfigLayerUpdateResult{Items: c.settingRows(rows), Unsaved: c.unsaved(rows)}, err
}

func (c *Conn) configOverrides(ctx context.Context, p ConfigOverridesParams) (ConfigOverridesResult, error) {
	s, err := c.settings()
	if err != nil {
		return ConfigOverridesResult{}, err
	}
	all, err := s.Overrides(ctx, p.Plugin)
	result := ConfigOverridesResult{Items: []SettingOverrides{}}
	for _, o := range all {
		item := SettingOverrides{Key: o.Key, Entries: []SettingOverride{}}
		for _, e := range o.Entries {
			item.Entries = append(item.Entries, SettingOverride{Target: c.target(e), Value: Value(e.Value)})
		}
		result.Items = append(result.Items, item)
	}
	return result, err
}

// rawValue gives a value as JSON; nil for null, which takes it out (Spec SP-CONF-47).
func rawValue(value any) (json.RawMessage, error) {
	if value == nil {
		return nil, nil
	}
	return json.Marshal(value)
}

func wireLayer(l settings.Layer) SettingLayer {
	return SettingLayer{Scope: SettingScope(l.Scope), Platform: l.Platform, Type: l.Type, Key: l.Place}
}

// ownLayer keeps the fields of the layer's scope; what else a client sent is passed over.
func ownLayer(l SettingLayer) settings.Layer {
	own := settings.Layer{Scope: settings.Scope(l.Scope)}
	switch l.Scope {
	case ScopePlatform:
		own.Platform = l.Platform
	case ScopePlatformType:
		own.Platform, own.Type = l.Platform, l.Type
	case ScopePlace:
		own.Place = l.Key
	}
	return own
}

// target names one place of an override (Spec SP-CONF-64).
func (c *Conn) target(o settings.Override) OverrideTarget {
	if o.Layer != nil {
		layer := wireLayer(o.Layer.Layer)
		return OverrideTarget{Layer: &layer, Label: c.server.say(o.Layer.Label)}
	}
	lang := c.server.o.Language()
	at := OverrideSession{ID: o.Session.WireID(), Title: titleOf(*o.Session, lang)}
	if o.Parent != nil {
		at.Parent = &SessionRef{ID: o.Parent.WireID(), Title: titleOf(*o.Parent, lang)}
	}
	return OverrideTarget{Session: &at}
}

// unsaved is the sentence about a change that is in effect and not on the disk, "" when it is.
func (c *Conn) unsaved(rows settings.Rows) string {
	if rows.Unsaved == nil {
		return ""
	}
	return c.server.say(rows.Unsaved.Message)
}

// settingRows renders rows in the owner's language as it is now, which may be what was just written.
// Values stay as they are (Spec SP-I18N-10, -12).
func (c *Conn) settingRows(rows settings.Rows) []SettingRow {
	out := []SettingRow{}
	for _, r := range rows.Items {
		row := SettingRow{
			Plugin: r.Plugin, Key: r.Field.Key, Field: c.settingField(r), Prominence: Prominence(r.Prominence),
			Value: Value(r.Value), Effective: Value(r.Effective), Source: SettingSource(r.Source),
		}
		if r.Actual != nil {
			row.Actual = &ActualValue{Value: Value(r.Actual.Value), Label: c.server.say(r.Actual.Label)}
		}
		out = append(out, row)
	}
	return out
}

// settingField is a declaration without its functions (Spec SP-CONF-04).
func (c *Conn) settingField(r settings.Row) SettingField {
	f := r.Field
	wire := SettingField{
		Type: string(f.Type), Label: c.server.say(f.Label), Description: c.server.say(f.Description), Default: Value(f.Default),
		Required: f.Required, Min: f.Min, Max: f.Max, Integer: f.Integer, Step: f.Step, Pattern: f.Pattern,
		DynamicOptions: f.DynamicOptions, AllowCustom: f.AllowCustom, Preference: f.Preference,
		Session: SessionFieldSpec{
			Prominence: Prominence(f.Session.Prominence), Order: f.Session.Order, Group: f.Session.Group,
			DependsOn: f.Session.DependsOn, Unset: c.server.say(f.Session.Unset),
		},
	}
	for _, o := range f.Options {
		wire.Options = append(wire.Options, FieldOption{Label: c.server.say(o.Label), Value: Value(o.Value)})
	}
	if f.Session.AppliesTo != nil {
		wire.Session.AppliesTo = []SessionKind{}
	}
	for _, k := range f.Session.AppliesTo {
		wire.Session.AppliesTo = append(wire.Session.AppliesTo, SessionKind(k))
	}
	if f.Session.PlaceOnly {
		wire.Session.Narrowest = "place"
	}
	return wire
}

// pushConfig tells that settings are to be read again: values, fields, layers and the host document
// changed, or sessions came or went. One push stands for a whole batch (Spec SP-CONF-68).
func (c *Conn) pushConfig(entries []core.Entry) {
	if c.server.current().Settings == nil {
		return
	}
	for _, e := range entries {
		note := e.Note != nil && (e.Note.Kind == core.NoteSettings || e.Note.Kind == core.NoteHost)
		if note || len(e.Removed) > 0 || e.Fact != nil && e.Fact.Kind == event.SessionCreated {
			c.push("session/config/changed", c.configChanged())
			return
		}
	}
}

// configChanged tells a client of our own the host's language when it is another than it was told last.
func (c *Conn) configChanged() ConfigChanged {
	now := string(c.server.o.Language())
	if now == c.feed.language {
		return ConfigChanged{}
	}
	c.feed.language = now
	return ConfigChanged{Ext: &HostExt{Language: now}}
}

// resyncConfig makes up for entries that were lost.
func (c *Conn) resyncConfig() {
	if c.server.current().Settings != nil {
		c.push("session/config/changed", c.configChanged())
	}
}
