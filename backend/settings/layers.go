package settings

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"aalis/backend/core"
	"aalis/backend/fault"
	"aalis/backend/settings/field"
	"aalis/backend/store"
	"aalis/backend/text"
)

// Scope names a layer.
type Scope string

// The layers; Default is where a value comes from that no layer has.
const (
	Default       Scope = "default"
	GlobalScope   Scope = "global"
	PlatformScope Scope = "platform"
	TypeScope     Scope = "platformType"
	PlaceScope    Scope = "place"
	SessionScope  Scope = "session"
)

// LayerName is one line of the table of layers.
type LayerName struct {
	Scope Scope
	Label text.Text
}

// Order is the table of layers; later ones count before earlier ones (Spec SP-CONF-15, -16).
func Order() []LayerName {
	return []LayerName{
		{GlobalScope, text.New("settings.layer-global")},
		{PlatformScope, text.New("settings.layer-platform")},
		{TypeScope, text.New("settings.layer-platform-type")},
		{PlaceScope, text.New("settings.layer-place")},
		{SessionScope, text.New("settings.layer-session")},
	}
}

// Layer is one layer outside sessions. Only the fields of its scope count.
type Layer struct {
	Scope    Scope
	Platform string
	Type     string
	Place    string
}

// LayerInfo is a layer as a list of layers shows it. Platform and Type are set for windows.
type LayerInfo struct {
	Layer    Layer
	Label    text.Text
	Platform string
	Type     string
}

// link is one layer's values on the way to a value that counts.
type link struct {
	scope Scope
	value func(plugin string, f field.Field) json.RawMessage // nil where nothing is written
}

// chain is the links from wide to narrow, all of one instant.
type chain struct {
	says     tree
	links    []link
	platform string // whose layer is among them, "" for none
}

// document adds a layer of the host document.
func (c *chain) document(l Layer) { c.links = append(c.links, documentLink(c.says, l)) }

func (c *chain) rows(scope Scope, set []store.Setting) {
	c.links = append(c.links, rowsLink(scope, set))
}

// resolve gives the value that counts and the layer it is from, "" when there is none: the narrowest
// that is written and that the field takes (Spec SP-CONF-08, decisions C6).
func (c chain) resolve(plugin string, f field.Field) (json.RawMessage, Scope) {
	if f.Joined {
		return c.join(plugin, f)
	}
	for _, l := range slices.Backward(c.links) {
		if l.scope == SessionScope && f.Session.PlaceOnly {
			continue
		}
		if raw := l.value(plugin, f); raw != nil && f.Check(raw) == nil {
			return raw, l.scope
		}
	}
	if f.Default != nil {
		return f.Default, Default
	}
	return nil, ""
}

// join gives what all layers say of a list, the widest first, and the narrowest that says anything.
func (c chain) join(plugin string, f field.Field) (json.RawMessage, Scope) {
	var all []string
	var from Scope
	for _, l := range c.links {
		raw := l.value(plugin, f)
		if raw == nil || l.scope == SessionScope && f.Session.PlaceOnly {
			continue
		}
		from = l.scope
		var entries []string
		if json.Unmarshal(raw, &entries) != nil { // a hand edit: whoever reads the list sees that it is none
			entries = []string{strings.Trim(string(raw), `"`)}
		}
		for _, e := range entries {
			if !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	if from == "" {
		return f.Default, map[bool]Scope{true: Default}[f.Default != nil]
	}
	return field.Raw(all), from
}

// path is where a layer's value stands in the host document.
func (l Layer) path(plugin string, f field.Field) []string {
	switch l.Scope {
	case PlatformScope:
		return []string{"settings", "platforms", l.Platform, plugin, f.Key}
	case TypeScope:
		return []string{"settings", "types", l.Platform, l.Type, plugin, f.Key}
	}
	switch {
	case f.Path != nil:
		return f.Path
	case f.Preference:
		return []string{"plugins", plugin, f.Key}
	}
	return []string{"settings", "global", plugin, f.Key}
}

// documentLink reads a layer of a document.
func documentLink(says tree, l Layer) link {
	return link{l.Scope, func(plugin string, f field.Field) json.RawMessage {
		value := at(says, l.path(plugin, f)...)
		if value == nil {
			return nil
		}
		return field.Raw(value)
	}}
}

func rowsLink(scope Scope, rows []store.Setting) link {
	return link{scope, func(plugin string, f field.Field) json.RawMessage {
		for _, r := range rows {
			if r.Plugin == plugin && r.Key == f.Key {
				return r.Value
			}
		}
		return nil
	}}
}

func (s *Service) globalOnly() chain {
	c := chain{says: s.doc.current()}
	c.document(Layer{Scope: GlobalScope})
	return c
}

// platformOf tells which platform's layer counts for a root: the one it was born on, else that of the
// adapter that takes its id, else that of whoever speaks (Spec SP-CONF-39).
func (s *Service) platformOf(birth, id, speaking string) string {
	return cmp.Or(birth, s.o.Claims(id), speaking, s.o.Home)
}

// sessionChain takes all layers by the root session, and its own last: what is set at the root counts
// for the sessions below it unless they are set otherwise (Spec SP-CONF-38 to -41).
func (s *Service) sessionChain(rows core.SettingRows, session store.Session, speaking string) (chain, error) {
	root := session
	if session.RootSID != session.SID {
		var err error
		if root, err = rows.SessionBySID(session.RootSID); err != nil {
			return chain{}, err
		}
	}
	c := s.openChain(s.platformOf(root.Platform, root.WireID(), speaking))
	if root.Chat != nil && root.Chat.Type != "" {
		c.document(Layer{Scope: TypeScope, Platform: c.platform, Type: root.Chat.Type})
	}
	if root.Place != "" {
		set, err := rows.PlaceSettings(root.Place)
		if err != nil {
			return chain{}, err
		}
		c.rows(PlaceScope, set)
	}
	for _, sid := range slices.Compact([]int64{root.SID, session.SID}) {
		set, err := rows.SessionSettings(sid)
		if err != nil {
			return chain{}, err
		}
		c.rows(SessionScope, set)
	}
	return c, nil
}

// openChain begins with the global layer and a platform's.
func (s *Service) openChain(platform string) chain {
	c := s.globalOnly()
	if platform != "" {
		c.platform = platform
		c.document(Layer{Scope: PlatformScope, Platform: platform})
	}
	return c
}

// layerChain is what a layer stands on, and it last (Spec SP-CONF-37).
func (s *Service) layerChain(rows core.SettingRows, l LayerInfo) (chain, error) {
	switch l.Layer.Scope {
	case PlatformScope:
		return s.openChain(l.Layer.Platform), nil
	case TypeScope:
		c := s.openChain(l.Layer.Platform)
		c.document(l.Layer)
		return c, nil
	case PlaceScope:
		c := s.openChain(l.Platform)
		if l.Type != "" {
			c.document(Layer{Scope: TypeScope, Platform: l.Platform, Type: l.Type})
		}
		set, err := rows.PlaceSettings(l.Layer.Place)
		c.rows(PlaceScope, set)
		return c, err
	}
	return s.globalOnly(), nil
}

// layers lists every layer that can be asked for (Spec SP-CONF-19 to -25).
func (s *Service) layers(places []store.Home) []LayerInfo {
	all := []LayerInfo{{Layer: Layer{Scope: GlobalScope}}}
	says, platforms := s.doc.current(), s.o.Platforms()
	written, _ := at(says, "settings", "platforms").(tree)
	types, _ := at(says, "settings", "types").(tree)
	labels := map[string]map[string]text.Text{}
	known := map[string]bool{}
	var ids []string
	add := func(id string) {
		if !known[id] {
			known[id] = true
			ids = append(ids, id)
			labels[id] = map[string]text.Text{}
		}
	}
	for _, p := range platforms {
		add(p.ID)
		for _, t := range p.Types {
			labels[p.ID][t.Name] = t.Label
		}
	}
	for _, id := range slices.Sorted(maps.Keys(written)) {
		add(id)
	}
	for _, id := range ids {
		all = append(all, LayerInfo{Layer: Layer{Scope: PlatformScope, Platform: id}})
	}
	for _, id := range slices.Sorted(maps.Keys(types)) {
		if !known[id] { // a type layer of its own makes no platform layer
			add(id)
		}
	}
	for _, id := range ids {
		all = append(all, typeLayers(id, platforms, types)...)
	}
	return append(all, placeLayers(places, labels)...)
}

// typeLayers lists the types a platform declares, in its order, and those written besides.
func typeLayers(platform string, installed []Platform, written tree) []LayerInfo {
	var all []LayerInfo
	seen := map[string]bool{}
	for _, p := range installed {
		if p.ID != platform {
			continue
		}
		for _, t := range p.Types {
			if !seen[t.Name] {
				seen[t.Name] = true
				all = append(all, LayerInfo{Layer: Layer{Scope: TypeScope, Platform: platform, Type: t.Name}, Label: t.Label})
			}
		}
	}
	types, _ := written[platform].(tree)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if !seen[name] {
			all = append(all, LayerInfo{Layer: Layer{Scope: TypeScope, Platform: platform, Type: name}})
		}
	}
	return all
}

// placeLayers lists the default workspace, the others by name, and the windows.
func placeLayers(places []store.Home, labels map[string]map[string]text.Text) []LayerInfo {
	all := []LayerInfo{{Layer: Layer{Scope: PlaceScope, Place: core.DefaultPlace}, Label: text.New("place.default")}}
	var windows []LayerInfo
	for _, p := range places {
		l := LayerInfo{Layer: Layer{Scope: PlaceScope, Place: p.Key}}
		switch {
		case p.Key == core.DefaultPlace:
			continue
		case isWindow(p.Key):
			l.Platform, l.Type = windowOf(p)
			kind := labels[l.Platform][l.Type]
			if kind.IsZero() {
				kind = text.Plain(l.Type)
			}
			name := p.Key
			if p.Chat != nil && p.Chat.Name != "" {
				name = p.Chat.Name
			}
			l.Label = text.New("settings.place-window", "type", kind, "name", name)
			windows = append(windows, l)
		default:
			l.Label = text.New("settings.place-workspace", "name", cmp.Or(p.Name, strings.TrimPrefix(p.Key, core.WorkspacePlace)))
			all = append(all, l)
		}
	}
	return append(all, windows...)
}

// windowOf tells a window's platform and type; where no session tells, its key does:
// window:<platform>:<account>:<type>:<target> (Spec decisions B33).
func windowOf(p store.Home) (platform, kind string) {
	parts := strings.SplitN(p.Key, ":", 5)
	platform = p.Platform
	if platform == "" && len(parts) > 1 {
		platform = parts[1]
	}
	if p.Chat != nil && p.Chat.Type != "" {
		return platform, p.Chat.Type
	}
	if len(parts) > 3 {
		kind = parts[3]
	}
	return platform, kind
}

// find finds a layer in the list; fault.Invalid for one that is not there (Spec SP-CONF-53).
func (s *Service) find(l Layer, places []store.Home) (LayerInfo, error) {
	for _, info := range s.layers(places) {
		if info.Layer == l {
			return info, nil
		}
	}
	if l.Scope == PlaceScope {
		return LayerInfo{}, fault.New(fault.Invalid, text.New("settings.no-place", "key", l.Place))
	}
	return LayerInfo{}, fault.New(fault.Invalid, text.New("settings.no-layer"))
}

// holds reports whether a layer lists a field: a type layer is for rooms and what they start, a window
// for rooms, a workspace for the owner's sessions, the others for all (Spec SP-CONF-28).
func (l Layer) holds(f field.Field) bool {
	switch {
	case l.Scope == TypeScope:
		return f.Applies(field.Room) || f.Applies(field.Task)
	case l.Scope == PlaceScope && isWindow(l.Place):
		return f.Applies(field.Room)
	case l.Scope == PlaceScope:
		return f.Applies(field.Owner)
	}
	return true
}
