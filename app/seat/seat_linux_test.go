package seat

import (
	"errors"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

var (
	here = State{}
	away = State{Away: true}
)

// keeper plays systemd's session keeper.
type keeper struct {
	*service
	reads atomic.Int32 // of sessions

	mu       sync.Mutex // guards what follows
	sessions map[dbus.ObjectPath]map[string]any
	display  dbus.ObjectPath // of the user; empty: no display
	byPID    dbus.ObjectPath // of this process; empty: none
}

const (
	ownSession = dbus.ObjectPath("/org/freedesktop/login1/session/_32")
	ownUser    = dbus.ObjectPath("/org/freedesktop/login1/user/_0")
)

func newKeeper(t *testing.T, address string, display dbus.ObjectPath) *keeper {
	t.Helper()
	k := &keeper{service: join(t, address), sessions: map[dbus.ObjectPath]map[string]any{}, display: display}
	given := func(path dbus.ObjectPath) (dbus.ObjectPath, *dbus.Error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.sessions[path] == nil {
			return "/", dbus.NewError("org.freedesktop.login1.NoSuchSession", nil)
		}
		return path, nil
	}
	k.export(map[string]any{
		"GetSession": func(id string) (dbus.ObjectPath, *dbus.Error) {
			return given(dbus.ObjectPath("/org/freedesktop/login1/session/_3" + id))
		},
		"GetSessionByPID": func(uint32) (dbus.ObjectPath, *dbus.Error) {
			k.mu.Lock()
			path := k.byPID
			k.mu.Unlock()
			return given(path)
		},
		"GetUser": func(uint32) (dbus.ObjectPath, *dbus.Error) { return ownUser, nil },
	}, loginPath, loginManager)
	k.export(map[string]any{
		"Get": func(string, string) (dbus.Variant, *dbus.Error) {
			shown := struct {
				ID   string
				Path dbus.ObjectPath
			}{"", "/"}
			if display != "" {
				shown.ID, shown.Path = "2", display
			}
			return dbus.MakeVariant(shown), nil
		},
	}, ownUser, properties)
	return k
}

// process puts this process into a session.
func (k *keeper) process(path dbus.ObjectPath) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.byPID = path
}

// heard waits until the seat has read its session and listens to it.
func (k *keeper) heard() {
	k.t.Helper()
	until(k.t, "the seat to listen", func() bool { return k.reads.Load() > 1 })
}

// keep adds a session of this user.
func (k *keeper) keep(path dbus.ObjectPath, more map[string]any) {
	k.t.Helper()
	all := map[string]any{
		"User": struct {
			UID  uint32
			Path dbus.ObjectPath
		}{uint32(os.Getuid()), ownUser},
		"Class": "user", "Type": "wayland", "State": "active", "Active": true,
		"LockedHint": false, "IdleHint": false, "IdleSinceHint": uint64(0),
	}
	maps.Copy(all, more)
	k.mu.Lock()
	k.sessions[path] = all
	k.mu.Unlock()
	k.export(map[string]any{
		"GetAll": func(string) (map[string]any, *dbus.Error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.reads.Add(1)
			return maps.Clone(all), nil
		},
	}, path, properties)
}

// change sets a property, as one that is told, or in silence.
func (k *keeper) change(path dbus.ObjectPath, name string, value any, told bool) {
	k.t.Helper()
	k.mu.Lock()
	k.sessions[path][name] = value
	k.mu.Unlock()
	if told {
		k.emit(path, properties+".PropertiesChanged", loginSession, map[string]dbus.Variant{name: dbus.MakeVariant(value)}, []string{})
	}
}

func newLogin(t *testing.T) (desktop, *keeper) {
	t.Helper()
	d := newDesktop(t)
	k := newKeeper(t, d.system, ownSession)
	k.keep(ownSession, nil)
	k.own(loginName)
	return d, k
}

func TestLockedSession(t *testing.T) {
	_, k := newLogin(t)
	s := sit(t, time.Hour, quick)
	k.heard()
	k.change(ownSession, "LockedHint", true, true)
	s.becomes(t, away)
	k.change(ownSession, "LockedHint", false, true)
	s.becomes(t, here)
}

func TestLockedBeforeStart(t *testing.T) {
	_, k := newLogin(t)
	k.change(ownSession, "LockedHint", true, false)
	sit(t, time.Hour, quick).becomes(t, away)
}

func TestWishToLock(t *testing.T) {
	_, k := newLogin(t)
	s := sit(t, time.Hour, quick)
	k.heard()
	k.emit(ownSession, loginSession+".Lock")
	s.becomes(t, away)
	k.emit(ownSession, loginSession+".Unlock")
	s.becomes(t, here)
	k.emit(ownSession, loginSession+".Lock")
	s.becomes(t, away)
	s.becomes(t, here) // nothing locked: the wish alone keeps nobody away
}

func TestIdleHint(t *testing.T) {
	_, k := newLogin(t)
	s := sit(t, 400*time.Millisecond, quick)
	k.heard()
	begun := time.Now()
	k.change(ownSession, "IdleSinceHint", uint64(begun.UnixMicro()), false)
	k.change(ownSession, "IdleHint", true, true)
	s.becomes(t, away)
	if early := time.Until(begun.Add(400 * time.Millisecond)); early > 0 {
		t.Errorf("away %v too early", early)
	}
	k.change(ownSession, "IdleHint", false, true)
	s.becomes(t, here)
}

func TestIdleTerminal(t *testing.T) {
	_, k := newLogin(t)
	k.change(ownSession, "Type", "tty", false) // of a startx
	k.change(ownSession, "IdleHint", true, false)
	sit(t, time.Millisecond, quick).stays(t, "a terminal that nobody uses says nothing of the desktop on it")
}

func TestEnding(t *testing.T) {
	ending := State{Ending: true}
	t.Run("removed", func(t *testing.T) {
		_, k := newLogin(t)
		s := sit(t, time.Hour, quick)
		k.heard()
		k.emit(loginPath, loginManager+".SessionRemoved", "9", dbus.ObjectPath("/org/freedesktop/login1/session/_39"))
		s.stays(t, "that was another one")
		k.emit(loginPath, loginManager+".SessionRemoved", "2", ownSession)
		s.becomes(t, ending)
	})
	t.Run("closing in silence, when it is not in front any more", func(t *testing.T) {
		_, k := newLogin(t)
		s := sit(t, time.Hour, quick)
		k.heard()
		k.change(ownSession, "Active", false, true)
		s.stays(t, "another one is in front")
		k.change(ownSession, "State", "closing", false)
		s.becomes(t, ending)
	})
	t.Run("the machine goes down, and then not", func(t *testing.T) {
		_, k := newLogin(t)
		s := sit(t, time.Hour, quick)
		k.heard()
		k.emit(loginPath, loginManager+".PrepareForShutdown", true)
		s.becomes(t, ending)
		k.emit(loginPath, loginManager+".PrepareForShutdown", false)
		s.becomes(t, here)
	})
}

func TestWhichSession(t *testing.T) {
	locked := map[string]any{"LockedHint": true}
	with := func(of map[string]any, name string, value any) map[string]any {
		all := maps.Clone(of)
		all[name] = value
		return all
	}
	const other = dbus.ObjectPath("/org/freedesktop/login1/session/_37")
	t.Run("the environment's", func(t *testing.T) {
		_, k := newLogin(t)
		k.keep(other, locked)
		t.Setenv("XDG_SESSION_ID", "7")
		sit(t, time.Hour, quick).becomes(t, away)
	})
	t.Run("the process's", func(t *testing.T) {
		_, k := newLogin(t)
		k.keep(other, locked)
		k.process(other)
		sit(t, time.Hour, quick).becomes(t, away)
	})
	t.Run("the desktop's rather than that of a shell over the network", func(t *testing.T) {
		_, k := newLogin(t)
		k.keep(other, with(locked, "Type", "tty"))
		k.process(other)
		sit(t, time.Hour, quick).stays(t, "the desktop is not locked")
	})
	t.Run("nobody else's", func(t *testing.T) {
		_, k := newLogin(t)
		k.keep(other, with(locked, "User", struct {
			UID  uint32
			Path dbus.ObjectPath
		}{uint32(os.Getuid() + 1), "/x"}))
		t.Setenv("XDG_SESSION_ID", "7")
		sit(t, time.Hour, quick).stays(t, "that session is somebody else's")
	})
	t.Run("one that comes later", func(t *testing.T) {
		k := newKeeper(t, newDesktop(t).system, "")
		k.keep("/org/freedesktop/login1/session/_38", map[string]any{"Class": "greeter"})
		k.process("/org/freedesktop/login1/session/_38")
		k.own(loginName)
		s := sit(t, time.Hour, quick)
		until(t, "the seat to ask", func() bool { return k.reads.Load() > 0 })
		k.keep(other, locked)
		k.process(other)
		k.emit(loginPath, loginManager+".SessionNew", "7", other)
		s.becomes(t, away)
	})
}

func TestForgedSessionSignals(t *testing.T) {
	d, k := newLogin(t)
	forger := join(t, d.system)
	s := sit(t, time.Hour, quick)
	k.heard()
	forger.forge(ownSession, loginSession+".Lock")
	forger.forge(loginPath, loginManager+".SessionRemoved", "2", ownSession)
	forger.forge(loginPath, loginManager+".PrepareForShutdown", true)
	k.change(ownSession, "LockedHint", true, false) // which nobody who may has told of
	forger.forge("/org/freedesktop/DBus", daemon+".NameOwnerChanged", loginName, "", k.conn.Names()[0])
	s.stays(t, "these come from nobody who may say so")
}

func TestKeeperRestarts(t *testing.T) {
	d, k := newLogin(t)
	k.change(ownSession, "LockedHint", true, false)
	s := sit(t, time.Hour, quick)
	s.becomes(t, away)
	_ = k.conn.Close()
	s.becomes(t, here) // nobody is left who says that it is locked
	again := newKeeper(t, d.system, ownSession)
	again.keep(ownSession, map[string]any{"LockedHint": true})
	again.own(loginName)
	s.becomes(t, away)
}

func TestScreenSavers(t *testing.T) {
	for name, path := range savers {
		t.Run(name, func(t *testing.T) {
			d := newDesktop(t)
			saver := join(t, d.session)
			saver.export(map[string]any{"GetActive": func() (bool, *dbus.Error) { return true, nil }}, path, name)
			s := sit(t, time.Hour, quick)
			s.stays(t, "there is none yet")
			saver.own(name)
			s.becomes(t, away) // one that comes later, and is on
			saver.emit(path, name+".ActiveChanged", false)
			s.becomes(t, here)
			saver.emit(path, name+".ActiveChanged", true)
			s.becomes(t, away)
			join(t, d.session).forge(path, name+".ActiveChanged", false)
			s.stays(t, "that was somebody else")
			_ = saver.conn.Close()
			s.becomes(t, here) // nobody is left who says that it is on
		})
	}
}

// monitor plays a window manager that tells of idleness.
type monitor struct {
	*service
	name string
	path dbus.ObjectPath
	idle atomic.Uint64 // milliseconds
	last atomic.Uint32 // the latest watch
	told atomic.Int32  // how often the idle time was asked for
}

func newMonitor(t *testing.T, address, name string) *monitor {
	t.Helper()
	m := &monitor{service: join(t, address), name: name, path: monitors[name]}
	m.export(map[string]any{
		"GetIdletime":        func() (uint64, *dbus.Error) { m.told.Add(1); return m.idle.Load(), nil },
		"AddIdleWatch":       func(uint64) (uint32, *dbus.Error) { return m.last.Add(1), nil },
		"AddUserActiveWatch": func() (uint32, *dbus.Error) { return m.last.Add(1), nil },
	}, m.path, name)
	m.own(name)
	return m
}

func (m *monitor) fire(id uint32) { m.emit(m.path, m.name+".WatchFired", id) }

func TestIdleMonitors(t *testing.T) {
	for name := range monitors {
		t.Run(name, func(t *testing.T) {
			d := newDesktop(t)
			m := newMonitor(t, d.session, name)
			s := sit(t, time.Hour, quick)
			until(t, "the seat to ask", func() bool { return m.told.Load() > 0 })
			m.fire(1)
			s.becomes(t, away)
			m.fire(1) // again, before anybody came back: no second watch
			m.fire(2)
			s.becomes(t, here)
			m.fire(1)
			s.becomes(t, away)
			join(t, d.session).forge(m.path, name+".WatchFired", uint32(3))
			s.stays(t, "that was somebody else")
			m.fire(3)
			s.becomes(t, here)
		})
	}
	t.Run("idle before the start", func(t *testing.T) {
		d := newDesktop(t)
		m := newMonitor(t, d.session, "org.gnome.Mutter.IdleMonitor")
		m.idle.Store(uint64(time.Hour.Milliseconds()))
		s := sit(t, time.Hour, quick)
		s.becomes(t, away)
		m.fire(2)
		s.becomes(t, here)
	})
}

func TestIdleByAsking(t *testing.T) {
	newSaver := func(t *testing.T, on bool, idle func() (uint32, *dbus.Error)) *service {
		t.Helper()
		saver := join(t, newDesktop(t).session)
		saver.export(map[string]any{
			"GetActive":          func() (bool, *dbus.Error) { return on, nil },
			"GetSessionIdleTime": idle,
		}, savers[freeSaver], freeSaver)
		saver.own(freeSaver)
		return saver
	}
	t.Run("in milliseconds by KDE, in seconds by others", func(t *testing.T) {
		twoHundred := func() (uint32, *dbus.Error) { return 200, nil }
		saver := newSaver(t, false, twoHundred)
		saver.own(kdeSaver)
		sit(t, 150*time.Second, quick).stays(t, "200 ms are not long")
		newSaver(t, false, twoHundred)
		sit(t, 150*time.Second, quick).becomes(t, away)
	})
	t.Run("when it could be reached, and then for the return", func(t *testing.T) {
		var asked atomic.Int32
		var used atomic.Int64
		used.Store(time.Now().UnixMilli())
		saver := newSaver(t, false, func() (uint32, *dbus.Error) {
			asked.Add(1)
			return uint32(time.Now().UnixMilli() - used.Load()), nil
		})
		saver.own(kdeSaver)
		s := sit(t, time.Second, quick)
		s.stays(t, "it is in use")
		s.becomes(t, away)
		if n := asked.Load(); n > 3 { // at the start, when it is due, and once more where it was a moment short
			t.Errorf("asked %d times in a second", n)
		}
		used.Store(time.Now().UnixMilli())
		s.becomes(t, here)
	})
	t.Run("not while the screen is locked, which tells of the return", func(t *testing.T) {
		var asked atomic.Int32
		saver := newSaver(t, true, func() (uint32, *dbus.Error) {
			return map[bool]uint32{true: 3600, false: 0}[asked.Add(1) == 1], nil
		})
		s := sit(t, time.Minute, quick)
		s.becomes(t, away)
		s.stays(t, "it is locked")
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times while locked", n)
		}
		saver.emit(savers[freeSaver], freeSaver+".ActiveChanged", false)
		s.becomes(t, here)
	})
	t.Run("never again whom it does not know", func(t *testing.T) {
		var asked atomic.Int32
		newSaver(t, false, func() (uint32, *dbus.Error) {
			asked.Add(1)
			return 0, dbus.MakeFailedError(errors.New("not supported"))
		})
		s := sit(t, time.Millisecond, quick)
		s.stays(t, "it does not tell")
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}
