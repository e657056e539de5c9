package seat

import (
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

func TestBuses(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		desktop{}.announce(t)
		t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent")
		s := sit(t, time.Millisecond, quick)
		s.stays(t, "nothing tells")
		s.Close()
		s.Close()
	})
	t.Run("come later and go", func(t *testing.T) {
		at := socket(t)
		desktop{"unix:path=/nonexistent", "unix:path=" + at}.announce(t)
		const gnome = "org.gnome.ScreenSaver"
		s := sit(t, time.Hour, quick)
		s.stays(t, "nothing tells")
		t.Setenv("PATH", "/usr/bin:/bin")
		for range 2 {
			address, stop := startBus(t, at)
			saver := join(t, address)
			saver.export(map[string]any{"GetActive": func() (bool, *dbus.Error) { return true, nil }}, savers[gnome], gnome)
			saver.own(gnome)
			s.becomes(t, away)
			stop()
			s.becomes(t, here)
		}
	})
	t.Run("at the usual place", func(t *testing.T) {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
		dir := t.TempDir()
		t.Setenv("XDG_RUNTIME_DIR", dir)
		if address, err := sessionAddress(); err == nil {
			t.Errorf("found %s", address)
		}
		if err := os.WriteFile(dir+"/bus", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if address, err := sessionAddress(); err != nil || address != "unix:path="+dir+"/bus" {
			t.Errorf("found %s, %v", address, err)
		}
	})
	t.Run("a start that ends at once", func(t *testing.T) {
		_, k := newLogin(t)
		k.change(ownSession, "LockedHint", true, false)
		told := make(chan State, 1)
		s := Start(Options{Changed: func(s State) { told <- s }})
		select {
		case <-told:
		case <-time.After(patience):
			t.Error("not told")
		}
		s.Close()
	})
}

func TestWhoTells(t *testing.T) {
	d, k := newLogin(t)
	newMonitor(t, d.session, "org.gnome.Mutter.IdleMonitor")
	saver := join(t, d.session)
	saver.export(map[string]any{
		"GetActive":          func() (bool, *dbus.Error) { return false, nil },
		"GetSessionIdleTime": func() (uint32, *dbus.Error) { return 0, nil },
	}, savers[freeSaver], freeSaver)
	saver.own(freeSaver)
	want := Sources{Lock: []string{freeSaver, loginName}, Idle: []string{freeSaver, loginName, "org.gnome.Mutter.IdleMonitor"}}
	slices.Sort(want.Lock)
	slices.Sort(want.Idle)
	if got := Look(t.Context()); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	k.change(ownSession, "Type", "tty", false)
	if got := Look(t.Context()); slices.Contains(got.Idle, loginName) || !slices.Contains(got.Lock, loginName) {
		t.Errorf("of a terminal: %v", got)
	}
	desktop{"unix:path=/nonexistent", "unix:path=/nonexistent"}.announce(t)
	if got := Look(t.Context()); got.Lock != nil || got.Idle != nil {
		t.Errorf("without a bus: %v", got)
	}
}
