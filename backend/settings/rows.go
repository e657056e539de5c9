package settings

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"aalis/backend/core"
	"aalis/backend/settings/field"
	"aalis/backend/store"
)

// Row is one field at one place: what is written there, and what counts.
type Row struct {
	Plugin     string
	Field      field.Field
	Prominence field.Prominence // after surplus rows of the composer were demoted
	Value      json.RawMessage  // written at exactly this place; nil for nothing
	Effective  json.RawMessage  // nil: none
	Source     Scope            // "" without an effective value
	Actual     *field.Actual    // only without one
}

// Rows is everything of one place.
type Rows struct {
	Items []Row
	// Platform is the one whose layer was looked at, of a session.
	Platform string
	// Unsaved is why what was just written is in effect but not on the disk; nil: it is.
	Unsaved *Unsaved
}

// Session gives the rows of a session. speaking is the platform of the connection that asks. A session
// that nobody filed has rows all the same, without a place (Spec SP-CONF-42).
func (s *Service) Session(ctx context.Context, sessionID, speaking string) (rows Rows, err error) {
	err = s.loop.Load().Read(ctx, func(tx *store.ReadTx) error {
		session, err := tx.Session(sessionID)
		if errors.Is(err, store.ErrNotFound) {
			rows = s.strangerRows(sessionID, speaking)
			return nil
		}
		if err == nil {
			rows, err = s.sessionRows(tx, session, speaking)
		}
		return err
	})
	return rows, err
}

func (s *Service) strangerRows(sessionID, speaking string) Rows {
	kind := field.Owner
	if s.o.Claims(sessionID) != "" {
		kind = field.Room
	}
	c := s.openChain(s.platformOf("", sessionID, speaking))
	return Rows{Platform: c.platform, Items: s.rows(c, nil, func(f field.Field) bool { return f.Applies(kind) && !f.Session.PlaceOnly })}
}

func (s *Service) sessionRows(tx core.SettingRows, session store.Session, speaking string) (Rows, error) {
	c, err := s.sessionChain(tx, session, speaking)
	if err != nil {
		return Rows{}, err
	}
	kind := field.Kind(session.Kind)
	return Rows{Platform: c.platform, Items: s.rows(c, &c.links[len(c.links)-1], func(f field.Field) bool {
		return f.Applies(kind) && !f.Session.PlaceOnly
	})}, nil
}

// Layer gives the rows of a layer; fault.Invalid for one that is not there.
func (s *Service) Layer(ctx context.Context, l Layer) (rows Rows, err error) {
	err = s.loop.Load().Read(ctx, func(tx *store.ReadTx) error {
		places, err := tx.Places()
		if err != nil {
			return err
		}
		info, err := s.find(l, places)
		if err == nil {
			rows, err = s.layerRows(tx, info)
		}
		return err
	})
	return rows, err
}

func (s *Service) layerRows(tx core.SettingRows, l LayerInfo) (Rows, error) {
	c, err := s.layerChain(tx, l)
	if err != nil {
		return Rows{}, err
	}
	return Rows{Items: s.rows(c, &c.links[len(c.links)-1], l.Layer.holds)}, nil
}

// Layers lists the layers that can be asked for.
func (s *Service) Layers(ctx context.Context) (all []LayerInfo, err error) {
	err = s.loop.Load().Read(ctx, func(tx *store.ReadTx) error {
		places, err := tx.Places()
		all = s.layers(places)
		return err
	})
	return all, err
}

// rows makes the rows of a chain. here is the link whose values are the rows' own; nil for none.
func (s *Service) rows(c chain, here *link, lists func(field.Field) bool) []Row {
	items := []Row{}
	for _, p := range *s.plugins.Load() {
		for _, f := range p.Fields {
			if !lists(f) {
				continue
			}
			r := Row{Plugin: p.ID, Field: f, Prominence: cmp.Or(f.Session.Prominence, field.Advanced)}
			if here != nil {
				r.Value = here.value(p.ID, f)
			}
			if r.Effective, r.Source = c.resolve(p.ID, f); r.Source == "" && f.Actual != nil {
				if actual, known := f.Actual(); known {
					r.Actual = &actual
				}
			}
			items = append(items, r)
		}
	}
	slices.SortFunc(items, compareRows)
	demote(items)
	slices.SortFunc(items, compareRows)
	return items
}

var ranks = map[field.Prominence]int{field.Composer: 0, field.Common: 1, field.Advanced: 2}

// compareRows orders by prominence, then as declared, those without an order last (Spec SP-CONF-30).
func compareRows(a, b Row) int {
	return cmp.Or(
		cmp.Compare(ranks[a.Prominence], ranks[b.Prominence]), cmp.Compare(order(a.Field), order(b.Field)),
		cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Field.Key, b.Field.Key),
	)
}

func order(f field.Field) float64 {
	if f.Session.Order == nil {
		return math.Inf(1)
	}
	return *f.Session.Order
}

// perGroup is how many rows of one group stay in the composer.
const perGroup = 2

// demote makes surplus rows of the composer common (Spec SP-CONF-31, decisions C2). items are in order.
func demote(items []Row) {
	kept := map[string]int{}
	for i := range items {
		r := &items[i]
		if r.Prominence != field.Composer {
			continue
		}
		group := cmp.Or(r.Field.Session.Group, r.Plugin)
		if kept[group]++; kept[group] > perGroup {
			r.Prominence = field.Common
		}
	}
}
