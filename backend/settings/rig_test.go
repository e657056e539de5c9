package settings_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsnotify/fsnotify"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/settings"
	"aalis/backend/settings/field"
	"aalis/backend/store"
	"aalis/backend/text"
)

// rig is a service over a log with its writer running and a document on the disk.
type rig struct {
	t      testing.TB
	path   string
	doc    *settings.Document
	loop   *core.Loop
	s      *settings.Service
	cursor *core.Cursor
}

type setup struct {
	document string
	plugins  []field.Plugin
	types    []settings.Platform
	claims   func(string) string
	inject   func(string) store.Failure
	replace  func(path string, data []byte) error
	watcher  func() (*fsnotify.Watcher, error)
	fixed    map[string]any
}

func open(t testing.TB, o setup) *rig {
	t.Helper()
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "config.yaml")}
	if o.document != "" {
		r.write(o.document)
	}
	var err error
	if r.doc, err = settings.OpenDocument(settings.DocumentOptions{Path: r.path, Replace: o.replace, Watcher: o.watcher, Fixed: o.fixed}); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(store.Options{Dir: t.TempDir(), Inject: o.inject})
	if err != nil {
		t.Fatal(err)
	}
	if r.loop, err = core.New(core.Options{Store: st}); err != nil {
		t.Fatal(err)
	}
	r.s = settings.New(settings.Options{
		Document: r.doc, Plugins: o.plugins, Platforms: func() []settings.Platform { return o.types }, Claims: o.claims, Home: "webui",
	})
	r.s.Attach(r.loop)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.loop.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, st.Close()); err != nil {
			t.Error(err)
		}
	})
	r.cursor = r.loop.Cursor()
	return r
}

func (r *rig) write(document string) {
	r.t.Helper()
	if err := os.WriteFile(r.path, []byte(document), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) file() string {
	r.t.Helper()
	b, err := os.ReadFile(r.path)
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(b)
}

func (r *rig) do(cmd core.Command) core.Receipt {
	r.t.Helper()
	got, err := r.loop.Do(context.Background(), cmd)
	if err != nil {
		r.t.Fatalf("%T: %v", cmd, err)
	}
	return got
}

var owner = event.Actor{Kind: "owner", Principal: event.OwnerID, Platform: "webui", UserID: "console", Owner: true}

func (r *rig) session() string {
	r.t.Helper()
	return r.do(core.CreateSession{Actor: owner}).SessionID
}

func (r *rig) child(of string) string {
	r.t.Helper()
	return r.do(core.CreateSession{Actor: owner, Parent: of}).SessionID
}

// room files a group chat on onebot, with a window of its own.
func (r *rig) room(n string) string {
	r.t.Helper()
	address := "onebot:7:group:" + n
	r.do(core.CreateSession{
		Actor: owner, Origin: "im", Kind: "room", ExtKey: address, Platform: "onebot", Account: "7", Place: "window:" + address,
		Chat: &event.Window{Type: "group", MultiParty: true, Name: "crew " + n},
	})
	return address
}

// notes counts what was told since the last call: changed settings, and changed sessions.
func (r *rig) notes() (told int) {
	r.t.Helper()
	r.do(core.MarkSeen{Session: r.mark(), Principal: event.OwnerID}) // behind everything that was noted before
	entries, err := r.cursor.Take()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Note != nil && (e.Note.Kind == core.NoteSettings || e.Note.Kind == core.NoteHost) {
			told++
		}
	}
	return told
}

func (r *rig) mark() string {
	r.t.Helper()
	return r.do(core.CreateSession{Actor: owner, Name: "mark"}).SessionID
}

func (r *rig) rows(session string) settings.Rows {
	r.t.Helper()
	rows, err := r.s.Session(context.Background(), session, "webui")
	if err != nil {
		r.t.Fatal(err)
	}
	return rows
}

func (r *rig) layer(l settings.Layer) settings.Rows {
	r.t.Helper()
	rows, err := r.s.Layer(context.Background(), l)
	if err != nil {
		r.t.Fatal(err)
	}
	return rows
}

// set writes at a layer or, when l is a string, at a session; it must go through. A value that is nil is
// null.
func (r *rig) set(at any, key string, value any) settings.Rows {
	r.t.Helper()
	rows, err := r.try(at, key, value)
	if err != nil {
		r.t.Fatalf("%v %s = %v: %v", at, key, value, err)
	}
	return rows
}

func (r *rig) try(at any, key string, value any) (settings.Rows, error) {
	var raw json.RawMessage
	if value != nil {
		raw = field.Raw(value)
	}
	plugin, key, other := strings.Cut(key, "/")
	if !other {
		plugin, key = "p", plugin
	}
	if session, is := at.(string); is {
		return r.s.WriteSession(context.Background(), session, "webui", plugin, key, raw)
	}
	return r.s.WriteLayer(context.Background(), at.(settings.Layer), plugin, key, raw)
}

// show gives a row as "value effective source".
func show(rows settings.Rows, key string) string {
	for _, r := range rows.Items {
		if r.Field.Key == key {
			return strings.TrimSpace(or(r.Value) + " " + or(r.Effective) + " " + string(r.Source))
		}
	}
	return "not listed"
}

func or(raw json.RawMessage) string {
	if raw == nil {
		return "-"
	}
	return string(raw)
}

func keys(rows settings.Rows) []string {
	all := []string{}
	for _, r := range rows.Items {
		all = append(all, r.Field.Key)
	}
	return all
}

func plugin(fields ...field.Field) []field.Plugin {
	for i := range fields {
		if fields[i].Type == "" {
			fields[i].Type = field.String
		}
		fields[i].Label = text.Plain(fields[i].Key)
	}
	return []field.Plugin{{ID: "p", Fields: fields}}
}

var (
	global   = settings.Layer{Scope: settings.GlobalScope}
	onebot   = settings.Layer{Scope: settings.PlatformScope, Platform: "onebot"}
	webui    = settings.Layer{Scope: settings.PlatformScope, Platform: "webui"}
	groups   = settings.Layer{Scope: settings.TypeScope, Platform: "onebot", Type: "group"}
	home     = place(core.DefaultPlace)
	platform = []settings.Platform{{ID: "webui"}, {ID: "onebot", Types: []settings.PlatformType{{Name: "group", Label: text.Plain("Group chat")}, {Name: "private"}}}}
)

func place(key string) settings.Layer {
	return settings.Layer{Scope: settings.PlaceScope, Place: key}
}

func window(room string) settings.Layer { return place("window:" + room) }

func invalid(t *testing.T, err error) {
	t.Helper()
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("want a refusal of the params, got %v", err)
	}
}
