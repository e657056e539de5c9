package survey

import (
	"os"
	"strings"
	"testing"

	"aalis/app/bustest"
)

func TestLook(t *testing.T) {
	t.Run("no bus", func(t *testing.T) {
		bustest.Missing(t)
		if d := Look(t.Context()); d.Problem == nil {
			t.Errorf("%+v", d)
		}
	})
	t.Run("a bus with nobody on it", func(t *testing.T) {
		bustest.New(t)
		if d := Look(t.Context()); d != (Desktop{}) {
			t.Errorf("%+v", d)
		}
	})
	t.Run("a daemon that is started when it is needed is not started", func(t *testing.T) {
		b := bustest.Missing(t)
		b.Activatable(notifyName)
		b.Start()
		if d := Look(t.Context()); d != (Desktop{Notes: Notes{Startable: true}}) {
			t.Errorf("%+v", d)
		}
	})
	t.Run("a panel and a daemon", func(t *testing.T) {
		b := bustest.New(t)
		panel := b.Panel(false)
		b.Daemon(0, "actions", "body").Named("dunst")
		own, err := os.ReadFile("/proc/self/comm")
		if err != nil {
			t.Fatal(err)
		}
		want := Desktop{Tray: Tray{Watcher: strings.TrimSpace(string(own))}, Notes: Notes{Name: "dunst", Version: "1", Actions: true}}
		if d := Look(t.Context()); d != want {
			t.Errorf("%+v, not %+v", d, want)
		}
		panel.Hosting(true)
		want.Tray.Host = true
		if d := Look(t.Context()); d != want {
			t.Errorf("%+v, not %+v", d, want)
		}
	})
	t.Run("a daemon without buttons", func(t *testing.T) {
		b := bustest.New(t)
		b.Daemon(0, "body")
		if d := Look(t.Context()); d.Notes.Actions || d.Notes.Name == "" || d.Notes.Problem != nil {
			t.Errorf("%+v", d)
		}
	})
}
