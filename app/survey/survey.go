// Package survey looks at what the desktop has for a program that lives in it: a session bus, somebody who
// shows tray icons, somebody who shows notifications. It changes nothing and starts nothing, and says
// nothing to people; the doctor of package app does.
package survey

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"aalis/app/bus"
)

// within bounds one question.
const within = 2 * time.Second

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	watcherPath = "/StatusNotifierWatcher"
	notifyName  = "org.freedesktop.Notifications"
	notifyPath  = "/org/freedesktop/Notifications"
)

// Desktop is what was found.
type Desktop struct {
	// Problem is why there is no session bus; then nothing else is known.
	Problem error
	Tray    Tray
	Notes   Notes
}

// Tray is who keeps the list of icons.
type Tray struct {
	Watcher string // the name of its process; "" for nobody
	Host    bool   // somebody shows the icons
}

// Notes is who shows notifications.
type Notes struct {
	Name, Version string // "" for nobody
	Actions       bool   // it shows buttons
	Startable     bool   // nobody yet, and the bus starts somebody when one is needed
	Problem       error  // it is there and does not answer
}

// Look asks the session bus.
func Look(ctx context.Context) Desktop {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tooLate := time.AfterFunc(within, cancel) // a bus that takes calls and answers none
	conn, err := bus.Dial(ctx)
	tooLate.Stop()
	if err != nil {
		return Desktop{Problem: err}
	}
	defer conn.Close()
	s := survey{conn}
	return Desktop{Tray: s.tray(ctx), Notes: s.notes(ctx)}
}

type survey struct{ conn *dbus.Conn }

func (s survey) ask(ctx context.Context, name string, path dbus.ObjectPath, method string, answer []any, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return s.conn.Object(name, path).CallWithContext(ctx, method, dbus.FlagNoAutoStart, args...).Store(answer...)
}

func (s survey) tray(ctx context.Context) Tray {
	owner := s.owner(ctx, watcherName)
	if owner == "" {
		return Tray{}
	}
	t := Tray{Watcher: s.process(ctx, owner)}
	var hosted dbus.Variant
	if s.ask(ctx, owner, watcherPath, "org.freedesktop.DBus.Properties.Get", []any{&hosted}, watcherName, "IsStatusNotifierHostRegistered") == nil {
		t.Host, _ = hosted.Value().(bool)
	}
	return t
}

func (s survey) notes(ctx context.Context) Notes {
	owner := s.owner(ctx, notifyName)
	if owner == "" {
		var names []string
		err := s.ask(ctx, bus.Name, bus.Path, bus.Name+".ListActivatableNames", []any{&names})
		return Notes{Startable: err == nil && slices.Contains(names, notifyName)}
	}
	var vendor, protocol string
	n := Notes{}
	n.Problem = s.ask(ctx, owner, notifyPath, notifyName+".GetServerInformation", []any{&n.Name, &vendor, &n.Version, &protocol})
	if n.Name == "" {
		n.Name = s.process(ctx, owner)
	}
	var can []string
	if s.ask(ctx, owner, notifyPath, notifyName+".GetCapabilities", []any{&can}) == nil {
		n.Actions = slices.Contains(can, "actions")
	}
	return n
}

func (s survey) owner(ctx context.Context, name string) string {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	owner, err := bus.Owner(ctx, s.conn, name)
	if err != nil {
		return ""
	}
	return owner
}

// process names the process behind a connection, or the connection where that cannot be told.
func (s survey) process(ctx context.Context, owner string) string {
	var pid uint32
	if s.ask(ctx, bus.Name, bus.Path, bus.Name+".GetConnectionUnixProcessID", []any{&pid}, owner) != nil {
		return owner
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return strings.TrimSpace(string(name))
}
