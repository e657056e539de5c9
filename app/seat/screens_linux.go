package seat

import (
	"context"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// savers are the screen savers and lockers that tell, each under its interface, which is its name on
// the bus too, and the object that it answers on.
var savers = map[string]dbus.ObjectPath{
	freeSaver:                  "/org/freedesktop/ScreenSaver", // KDE and others
	"org.gnome.ScreenSaver":    "/org/gnome/ScreenSaver",
	"org.xfce.ScreenSaver":     "/org/xfce/ScreenSaver",
	"org.cinnamon.ScreenSaver": "/org/cinnamon/ScreenSaver",
	"org.mate.ScreenSaver":     "/org/mate/ScreenSaver",
}

const (
	freeSaver = "org.freedesktop.ScreenSaver"
	// kdeSaver is owned by whoever counts the idle time of freeSaver in milliseconds: the others keep to
	// the specification's seconds.
	kdeSaver = "org.kde.screensaver"
)

// monitors are the window managers that count idle time and tell when it is reached.
var monitors = map[string]dbus.ObjectPath{
	"org.gnome.Mutter.IdleMonitor":    "/org/gnome/Mutter/IdleMonitor/Core",
	"org.cinnamon.Muffin.IdleMonitor": "/org/cinnamon/Muffin/IdleMonitor/Core",
}

// screens are what the desktop says of itself on the session bus.
type screens struct {
	bus  *bus
	most time.Duration
	pace pace

	owners map[string]string // of the names above
	on     map[string]bool   // the screen savers that are active
	clocks map[string]*clock // the monitors that tell

	used  time.Time // when the desktop was used last, as the saver without signals told
	asked time.Time // when it was asked; zero: it does not tell
}

// clock is what a monitor has told.
type clock struct {
	idle       bool
	away, back uint32 // the watches that wait; back fires once and is 0 then
}

func newScreens(b *bus, most time.Duration, p pace) *screens {
	s := &screens{bus: b, most: most, pace: p}
	s.forget()
	return s
}

// forget takes nothing for true that only the bus could take back.
func (s *screens) forget() {
	s.owners, s.on, s.clocks = map[string]string{}, map[string]bool{}, map[string]*clock{}
	s.used, s.asked = time.Time{}, time.Time{}
}

// begin looks at a bus that has just come.
func (s *screens) begin(ctx context.Context) {
	for name := range savers {
		s.bus.listenOwner(ctx, name)
		s.bus.listen(ctx, dbus.WithMatchInterface(name), dbus.WithMatchMember("ActiveChanged"))
	}
	for name := range monitors {
		s.bus.listenOwner(ctx, name)
		s.bus.listen(ctx, dbus.WithMatchInterface(name), dbus.WithMatchMember("WatchFired"))
	}
	for name := range savers {
		s.meet(ctx, name, s.bus.owner(ctx, name))
	}
	for name := range monitors {
		s.meet(ctx, name, s.bus.owner(ctx, name))
	}
}

// take is told of a signal. Only what the owner of an interface's name says of it counts: everybody may
// send anything here.
func (s *screens) take(ctx context.Context, signal *dbus.Signal) {
	if name, owner, ok := newOwner(signal); ok {
		s.meet(ctx, name, owner)
		return
	}
	cut := strings.LastIndexByte(signal.Name, '.')
	if cut < 0 || s.owners[signal.Name[:cut]] != signal.Sender || signal.Sender == "" {
		return
	}
	name := signal.Name[:cut]
	switch signal.Name[cut+1:] {
	case "ActiveChanged":
		var on bool
		if dbus.Store(signal.Body, &on) == nil {
			s.on[name] = on
			if !on && !s.asked.IsZero() { // somebody is back, which the idle time knows as well
				s.askIdle(ctx)
			}
		}
	case "WatchFired":
		var id uint32
		if c := s.clocks[name]; c != nil && dbus.Store(signal.Body, &id) == nil && id != 0 {
			s.fired(ctx, name, c, id)
		}
	}
}

// meet takes over who owns a name now and asks for what it would have told before.
func (s *screens) meet(ctx context.Context, name, owner string) {
	_, saver := savers[name]
	_, monitor := monitors[name]
	if !saver && !monitor || owner == s.owners[name] {
		return
	}
	delete(s.on, name)
	delete(s.clocks, name)
	if name == freeSaver {
		s.used, s.asked = time.Time{}, time.Time{}
	}
	if s.owners[name] = owner; owner == "" {
		return
	}
	if monitor {
		s.wind(ctx, name)
		return
	}
	var on bool
	if err := s.bus.ask(ctx, s.object(name), name+".GetActive", []any{&on}); err == nil {
		s.on[name] = on
	}
	if name == freeSaver {
		s.askIdle(ctx)
	}
}

// object is the owner itself, so that an answer is surely from whoever was met.
func (s *screens) object(name string) dbus.BusObject {
	path, saver := savers[name]
	if !saver {
		path = monitors[name]
	}
	return s.bus.conn.Object(s.owners[name], path)
}

// wind asks a monitor to tell when the desktop has been idle for long enough.
func (s *screens) wind(ctx context.Context, name string) {
	at, c := s.object(name), &clock{}
	if err := s.bus.ask(ctx, at, name+".AddIdleWatch", []any{&c.away}, uint64(s.most.Milliseconds())); err != nil {
		s.bus.log.Info("the desktop does not tell when it is idle", "error", err)
		return
	}
	s.clocks[name] = c
	var idle uint64 // milliseconds
	if err := s.bus.ask(ctx, at, name+".GetIdletime", []any{&idle}); err == nil && idle >= uint64(s.most.Milliseconds()) {
		s.fired(ctx, name, c, c.away) // the watch tells of what is to come only
	}
}

// fired is told that a watch has: the one for idleness stays, the one for the return fires once.
func (s *screens) fired(ctx context.Context, name string, c *clock, id uint32) {
	switch id {
	case c.away:
		if c.back != 0 { // it waits already
			return
		}
		if err := s.bus.ask(ctx, s.object(name), name+".AddUserActiveWatch", []any{&c.back}); err != nil {
			s.bus.log.Info("the desktop does not tell when it is used again", "error", err)
			return // nobody is away whose return would not be noticed
		}
		c.idle = true
	case c.back:
		c.idle, c.back = false, 0
	}
}

// askIdle asks the saver that tells its idle time only when asked.
func (s *screens) askIdle(ctx context.Context) {
	s.asked = time.Time{}
	if s.owners[freeSaver] == "" {
		return
	}
	var idle uint32
	if err := s.bus.ask(ctx, s.object(freeSaver), freeSaver+".GetSessionIdleTime", []any{&idle}); err != nil {
		s.used = time.Time{}
		return // most do not know it, and say so
	}
	unit := time.Second
	if s.bus.owner(ctx, kdeSaver) == s.owners[freeSaver] {
		unit = time.Millisecond
	}
	s.asked = time.Now()
	s.used = s.asked.Add(-time.Duration(idle) * unit)
}

// catchUp asks again what tells nothing by itself, when that could make a difference.
func (s *screens) catchUp(ctx context.Context) {
	if next := s.next(); !next.IsZero() && !time.Now().Before(next) {
		s.askIdle(ctx)
	}
}

// next is the earliest moment at which the answer could be another: when the idle time would be
// reached, or, while nobody is there, a little later. A screen that is locked tells of the return.
func (s *screens) next() time.Time {
	switch {
	case s.asked.IsZero() || s.locked() || len(s.clocks) > 0:
		return time.Time{}
	case s.idle():
		return s.asked.Add(s.pace.ask)
	}
	next := s.used.Add(s.most)
	if least := s.asked.Add(s.pace.ask); next.Before(least) {
		return least
	}
	return next
}

func (s *screens) locked() bool {
	for _, on := range s.on {
		if on {
			return true
		}
	}
	return false
}

// idle is what a monitor says, else what the saver said when it was asked.
func (s *screens) idle() bool {
	for _, c := range s.clocks {
		if c.idle {
			return true
		}
	}
	return len(s.clocks) == 0 && !s.asked.IsZero() && s.asked.Sub(s.used) >= s.most
}
