// Package settings owns what is set where: the fields that plugins declare (package field), the layers
// they can be set at, which value counts for a session, and who may write what. Global, platform and
// platform-type values stand in the host document (config.yaml), which people edit, too; those of places
// and sessions are rows that commands write. It keeps no value of its own: every answer is read from the
// document in memory and the rows of one instant, so a running turn that asks again sees a change at
// once. It knows no setting and no protocol.
//
//	Service.Session / Layer / Layers / Overrides     what the interface shows
//	Service.WriteSession / WriteLayer
//	  validate                                       layer, place, field, scope, value (decisions C8)
//	  Document.Write                                 in effect, then on the disk
//	  core.SetSessionSetting, SetPlaceSetting        rows, and a note that everybody sees
//	Service.Effective, Resolve                       what a turn goes by
//	Service.Register, Withdraw                       fields come and go
//	Document.Watch                                   hand edits
package settings

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"aalis/backend/core"
	"aalis/backend/settings/field"
	"aalis/backend/store"
	"aalis/backend/text"
)

// Options of a service. Document is required.
type Options struct {
	Document *Document
	Plugins  []field.Plugin
	// Platforms lists those of installed adapters; nil: none.
	Platforms func() []Platform
	// Claims gives the platform whose adapter takes a session's id for its own, "" for none.
	Claims func(sessionID string) string
	// Home is the platform of whoever speaks from nowhere else, such as the host itself.
	Home string
}

// Platform is a chat platform, whatever number of adapter instances serve it.
type Platform struct {
	ID    string
	Types []PlatformType // types of chat windows it declares
}

// PlatformType is one type of chat window.
type PlatformType struct {
	Name  string
	Label text.Text // zero: none declared
}

// Service is the session settings. It is safe for concurrent use.
type Service struct {
	o    Options
	doc  *Document
	loop atomic.Pointer[core.Loop]

	mu      sync.Mutex                     // one registration at a time
	plugins atomic.Pointer[[]field.Plugin] // in order of registration; never changed in place
	known   atomic.Pointer[globals]
}

// New makes a service. A declaration that contradicts itself is a mistake of the program and panics
// before anything is served.
func New(o Options) *Service {
	if o.Platforms == nil {
		o.Platforms = func() []Platform { return nil }
	}
	if o.Claims == nil {
		o.Claims = func(string) string { return "" }
	}
	s := &Service{o: o, doc: o.Document}
	s.plugins.Store(&[]field.Plugin{})
	for _, p := range o.Plugins {
		if err := s.Register(p); err != nil {
			panic("settings: " + err.Error())
		}
	}
	return s
}

// Attach gives the service the log. What is asked before then knows no session and no place; changes of
// the document are told from here on.
func (s *Service) Attach(loop *core.Loop) {
	s.loop.Store(loop)
	s.doc.OnChange(func() { loop.Note(core.Note{Kind: core.NoteHost}) })
}

// Register adds a plugin's fields. It refuses an id that is taken and declarations that contradict
// themselves, a secret among them (Spec decisions C5).
func (s *Service) Register(p field.Plugin) error {
	if err := p.Verify(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := *s.plugins.Load()
	if slices.ContainsFunc(now, func(o field.Plugin) bool { return o.ID == p.ID }) {
		return &taken{p.ID}
	}
	now = append(slices.Clone(now), p)
	s.plugins.Store(&now)
	s.note()
	return nil
}

type taken struct{ id string }

func (t *taken) Error() string { return "the plugin " + t.id + " has registered already" }

// Withdraw takes a plugin's fields away, as when it is switched off. What was written stays, and counts
// again when the fields are back (Spec SP-CONF-29).
func (s *Service) Withdraw(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(*s.plugins.Load()), func(p field.Plugin) bool { return p.ID == id })
	if len(left) == len(*s.plugins.Load()) {
		return
	}
	s.plugins.Store(&left)
	s.note()
}

func (s *Service) note() {
	if loop := s.loop.Load(); loop != nil {
		loop.Note(core.Note{Kind: core.NoteSettings})
	}
}

// field finds a field that is there now.
func (s *Service) field(plugin, key string) (f field.Field, found bool) {
	for _, p := range *s.plugins.Load() {
		if p.ID != plugin {
			continue
		}
		for _, f := range p.Fields {
			if f.Key == key {
				return f, true
			}
		}
	}
	return field.Field{}, false
}

// Global gives the value that counts for the host itself: that of the global layer, else the default;
// nil for neither. It is cheap: the language is asked for with every frame.
func (s *Service) Global(plugin, key string) json.RawMessage {
	says, plugins, id := s.doc.says.Load(), s.plugins.Load(), [2]string{plugin, key}
	known := s.known.Load()
	if known == nil || known.says != says || known.plugins != plugins {
		known = &globals{says: says, plugins: plugins}
	}
	if value, there := known.values[id]; there {
		return value
	}
	var value json.RawMessage
	if f, found := s.field(plugin, key); found {
		value, _ = s.globalOnly().resolve(plugin, f)
	}
	next := &globals{says: says, plugins: plugins, values: maps.Clone(known.values)}
	if next.values == nil {
		next.values = map[[2]string]json.RawMessage{}
	}
	next.values[id] = value
	s.known.Store(next)
	return value
}

// globals are values that were worked out for one state of the document and of the fields; nobody
// changes them.
type globals struct {
	says    *tree
	plugins *[]field.Plugin
	values  map[[2]string]json.RawMessage
}

// Effective gives what counts for a session of a plugin's fields, by key; a field without any value is
// left out. platform is that of whoever speaks, for sessions that have none of their own. It reads rows
// and does not block.
func (s *Service) Effective(rows core.SettingRows, session store.Session, platform, plugin string) (map[string]json.RawMessage, error) {
	c, err := s.sessionChain(rows, session, platform)
	if err != nil {
		return nil, err
	}
	values := map[string]json.RawMessage{}
	for _, p := range *s.plugins.Load() {
		if p.ID != plugin {
			continue
		}
		for _, f := range p.Fields {
			if value, source := c.resolve(plugin, f); source != "" {
				values[f.Key] = value
			}
		}
	}
	return values, nil
}

// Resolve is Effective at this moment. A session that is gone is store.ErrNotFound.
func (s *Service) Resolve(ctx context.Context, sessionID, platform, plugin string) (values map[string]json.RawMessage, err error) {
	err = s.loop.Load().Read(ctx, func(tx *store.ReadTx) error {
		session, err := tx.Session(sessionID)
		if err != nil {
			return err
		}
		values, err = s.Effective(tx, session, platform, plugin)
		return err
	})
	return values, err
}

// windowKey begins the keys of places that are chat windows.
const windowKey = "window:"

func isWindow(place string) bool { return strings.HasPrefix(place, windowKey) }
