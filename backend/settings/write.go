package settings

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"aalis/backend/core"
	"aalis/backend/fault"
	"aalis/backend/settings/field"
	"aalis/backend/store"
	"aalis/backend/text"
)

// WriteSession writes a value at a session, or takes it out when value is nil, and gives its rows as
// they are then. fault.NotFound without the session, fault.Invalid for what may not stand there; then
// nothing has changed (Spec SP-CONF-46 to -55).
func (s *Service) WriteSession(ctx context.Context, sessionID, speaking, plugin, key string, value json.RawMessage) (Rows, error) {
	loop := s.loop.Load()
	var kind field.Kind
	if err := loop.Read(ctx, func(tx *store.ReadTx) error {
		session, err := tx.Session(sessionID)
		if errors.Is(err, store.ErrNotFound) {
			return core.NoSession(sessionID)
		}
		kind = field.Kind(session.Kind)
		return err
	}); err != nil {
		return Rows{}, err
	}
	f, err := s.writable(plugin, key)
	if err != nil {
		return Rows{}, err
	}
	if value != nil {
		switch {
		case !f.Applies(kind):
			err = refuse(f, "settings.not-for-kind")
		case f.Session.PlaceOnly:
			err = refuse(f, "settings.place-only")
		default:
			err = f.Check(value)
		}
		if err != nil {
			return Rows{}, err
		}
	}
	if _, err := loop.Do(ctx, core.SetSessionSetting{Session: sessionID, Plugin: plugin, Key: key, Value: value}); err != nil {
		return Rows{}, err
	}
	return s.Session(ctx, sessionID, speaking)
}

// WriteLayer is WriteSession for a layer. Rows.Unsaved is set when the host document has not been saved
// (Spec SP-CONF-56 to -61).
func (s *Service) WriteLayer(ctx context.Context, l Layer, plugin, key string, value json.RawMessage) (Rows, error) {
	loop := s.loop.Load()
	var info LayerInfo
	if err := loop.Read(ctx, func(tx *store.ReadTx) error {
		places, err := tx.Places()
		if err == nil {
			info, err = s.find(l, places)
		}
		return err
	}); err != nil {
		return Rows{}, err
	}
	f, err := s.writable(plugin, key)
	if err != nil {
		return Rows{}, err
	}
	if value != nil {
		if !l.holds(f) {
			return Rows{}, refuse(f, "settings.not-for-layer")
		}
		if err := f.Check(value); err != nil {
			return Rows{}, err
		}
	}
	var unsaved *Unsaved
	if l.Scope == PlaceScope {
		if _, err := loop.Do(ctx, core.SetPlaceSetting{Place: l.Place, Plugin: plugin, Key: key, Value: value}); err != nil {
			return Rows{}, err
		}
	} else {
		e := Edit{Path: l.path(plugin, f)}
		if value != nil {
			_ = json.Unmarshal(value, &e.Value) // Check has read it
		}
		_, unsaved = s.doc.Write(e)
	}
	// The layer may have gone with its last value; its rows are told all the same.
	var rows Rows
	err = loop.Read(ctx, func(tx *store.ReadTx) (err error) {
		rows, err = s.layerRows(tx, info)
		return err
	})
	rows.Unsaved = unsaved
	return rows, err
}

func (s *Service) writable(plugin, key string) (field.Field, error) {
	f, found := s.field(plugin, key)
	if !found {
		return f, fault.New(fault.Invalid, text.New("settings.no-field", "plugin", plugin, "key", key))
	}
	return f, nil
}

func refuse(f field.Field, key text.Key) error {
	return fault.New(fault.Invalid, text.New(key, "field", f.Label))
}

// Overrides is where one field is written outside the global layer.
type Overrides struct {
	Key     string
	Entries []Override
}

// Override is one such place and its raw value: a layer, or one session.
type Override struct {
	Layer   *LayerInfo
	Session *store.Session
	Parent  *store.Session // of a sub-session
	Value   json.RawMessage
}

// Overrides lists them by field, in the order of declaration; those of a plugin that is not there are
// none (Spec SP-CONF-63 to -66).
func (s *Service) Overrides(ctx context.Context, plugin string) (all []Overrides, err error) {
	var p field.Plugin
	for _, o := range *s.plugins.Load() {
		if o.ID == plugin {
			p = o
		}
	}
	byKey := map[string][]Override{}
	err = s.loop.Load().Read(ctx, func(tx *store.ReadTx) error {
		places, err := tx.Places()
		if err != nil {
			return err
		}
		layers := s.layers(places)
		for _, f := range p.Fields {
			byKey[f.Key] = s.documentOverrides(layers, plugin, f)
		}
		set, err := tx.PluginSettings(plugin)
		if err != nil {
			return err
		}
		for _, one := range set {
			o, err := override(tx, one, layers)
			if err != nil {
				return err
			}
			byKey[one.Key] = append(byKey[one.Key], o)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all = []Overrides{}
	for _, f := range p.Fields {
		if entries := byKey[f.Key]; len(entries) > 0 {
			all = append(all, Overrides{f.Key, entries})
		}
	}
	return all, nil
}

func (s *Service) documentOverrides(layers []LayerInfo, plugin string, f field.Field) []Override {
	var all []Override
	for i, l := range layers {
		if l.Layer.Scope != PlatformScope && l.Layer.Scope != TypeScope {
			continue
		}
		if raw := documentLink(s.doc.current(), l.Layer).value(plugin, f); raw != nil {
			all = append(all, Override{Layer: &layers[i], Value: raw})
		}
	}
	return all
}

func override(tx *store.ReadTx, one store.PlacedSetting, layers []LayerInfo) (Override, error) {
	o := Override{Value: one.Value}
	if one.Place != "" {
		i := slices.IndexFunc(layers, func(l LayerInfo) bool { return l.Layer == Layer{Scope: PlaceScope, Place: one.Place} })
		o.Layer = &layers[i] // every place with settings is among the places
		return o, nil
	}
	o.Session = &one.Session
	if one.Session.ParentSID != 0 {
		parent, err := tx.SessionBySID(one.Session.ParentSID)
		if err != nil {
			return o, err
		}
		o.Parent = &parent
	}
	return o, nil
}
