package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"

	"aalis/app/desk"
	"aalis/backend"
	"aalis/backend/provider"
	"aalis/backend/provider/demo"
	"aalis/backend/provider/openai"
	"aalis/backend/settings/field"
	"aalis/backend/store"
	"aalis/backend/text"
	"aalis/frontend"
)

// instance is the running program as the shell sees it. It exists so that the window can be tested
// against what a program may do, and so that this file alone knows how one is made.
type instance interface {
	// Run serves until ctx ends and parts from every client within two seconds. ready is called once,
	// when everything accepts.
	Run(ctx context.Context, ready func(ready)) error
	// Connect opens a connection of the session protocol for the window.
	Connect(disconnect func(reason string), send func(frame string)) connection
	// ConnectTray opens one for the tray and the notifications.
	ConnectTray(disconnect func(reason string), send func(frame string)) desk.Connection
	// Options gives the choices of a setting as JSON; see backend.Backend.Options.
	Options(ctx context.Context, source, dependency string) (string, error)
	// Files serves what went with messages to the window's page.
	Files() http.Handler
	// Running is how many turns, and how many background tasks, run now.
	Running() (turns, tasks int)
	// InTabs reports whether somebody is at a browser tab now.
	InTabs() bool
	// Language is that of everything said to the owner, now.
	Language() text.Language
	// Setting gives what counts now of one of shellFields; nil where they are not declared.
	Setting(key string) json.RawMessage
	// OnSettings has fn called as well when Run begins, and after every change of the settings. Before Run.
	OnSettings(fn func())
}

// connection is one connection's end in the session protocol.
type connection interface {
	Receive(frame string)
	Close()
}

// ready is the line that says where the program is reached.
type ready struct {
	URL     string `json:"url"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Epoch   string `json:"epoch"`
}

// opened is package backend's program behind the shell's interface.
type opened struct{ b *backend.Backend }

func (o opened) Run(ctx context.Context, tell func(ready)) error {
	return o.b.Run(ctx, func(r backend.Ready) { tell(ready{r.URL, r.PID, Version, r.Epoch}) })
}

func (o opened) Connect(disconnect func(string), send func(string)) connection {
	return o.b.Connect(disconnect, send)
}

func (o opened) ConnectTray(disconnect func(string), send func(string)) desk.Connection {
	return o.b.ConnectTray(disconnect, send)
}

func (o opened) Options(ctx context.Context, source, dependency string) (string, error) {
	all, err := o.b.Options(ctx, source, dependency)
	if err != nil {
		return "", fmt.Errorf("listing the choices of %s: %w", source, err)
	}
	listing, err := json.Marshal(all)
	return string(listing), err
}

func (o opened) Files() http.Handler { return o.b.Files() }

func (o opened) Running() (turns, tasks int) { return o.b.Running() }

func (o opened) InTabs() bool { return o.b.InTabs() }

func (o opened) Language() text.Language { return o.b.Language() }

func (o opened) Setting(key string) json.RawMessage { return o.b.Setting(key) }

func (o opened) OnSettings(fn func()) { o.b.OnSettings(fn) }

// open starts an instance on the data folder. activate, when set, shows the window at a link; it is
// called from any goroutine. A folder in use gives a *store.Locked.
func (s settings) open(ctx context.Context, log *slog.Logger, activate func(link string) bool) (instance, error) {
	var fields []field.Field
	if hasWindow {
		fields = shellFields()
	}
	b, err := backend.Open(ctx, backend.Config{
		DataDir: s.dataDir, Name: s.name, Language: systemLanguage(), Document: s.configFile, Fixed: s.fixed, Listen: s.listen, Provider: s.providers, LocalRooms: s.localRooms, Fields: fields,
		Pages: frontend.Dist(), Activate: activate, Version: Version, Log: log,
	})
	if err != nil {
		return nil, err
	}
	in := opened{b}
	if hasWindow {
		s.followAutostart(in, log)
	}
	return in, nil
}

const databaseFile = store.FileName

// checkDatabase looks at the database of a folder where nothing runs, and leaves it as it is.
func checkDatabase(dataDir string) error { return store.Check(dataDir) }

// countModels asks all providers; the error names those that did not answer.
func countModels(ctx context.Context, c provider.Config) (int, error) {
	set, err := provider.NewSet(c, map[string]provider.Kind{"openai": openai.Kind(), provider.DemoType: demo.Kind()})
	if err != nil {
		return 0, err
	}
	entries, err := set.List(ctx)
	return len(entries), err
}
