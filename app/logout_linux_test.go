package app

import (
	"syscall"
	"testing"
	"time"

	"aalis/app/bustest"
)

func TestDesktopLogout(t *testing.T) {
	for name, args := range map[string][]string{
		"FAIL-G3 a desktop session that ends takes the hidden program along": {"--hidden"},
		"FAIL-G3 a desktop session that ends takes the window along":         nil,
	} {
		t.Run(name, func(t *testing.T) {
			bus := bustest.New(t)
			r := newDesktop(t)
			panel := bus.Panel(true)
			r.run(args...)
			r.shown(len(args) == 0)
			bustest.Until(t, "the icon", func() bool { return panel.Registrations() > 0 })
			id := r.session("Interrupted", "slow: 300")
			bus.Stop()
			if err := r.x.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			bustest.Within(t, orphanedAfter+5*time.Second, "the program to end", r.process.over)
			// The next session of the desktop.
			bus.Start()
			r.env = append(r.env, "DISPLAY=:"+r.display())
			r.run("--hidden")
			bustest.Until(t, "the turn to be marked", func() bool { return r.history(id, "outcome:aborted") })
		})
	}
}
