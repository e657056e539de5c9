package notify

import (
	"log/slog"
	"testing"
	"testing/synctest"
)

func TestCloseWaitsForAct(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	synctest.Test(t, func(t *testing.T) {
		release, closed, acts := make(chan struct{}), false, 0
		n := Start(Options{Log: slog.New(slog.DiscardHandler), Act: func(string, string) { acts++; <-release }})
		it := &note{Note: Note{Key: "a", Actions: []Action{{ID: "deny"}}}}
		n.pressed(it, "deny")
		go func() { n.Close(); closed = true }()
		synctest.Wait()
		if closed {
			t.Error("Close did not wait for Act")
		}
		close(release)
		synctest.Wait()
		n.pressed(it, "deny")
		synctest.Wait()
		if !closed || acts != 1 {
			t.Errorf("closed %t, %d acts", closed, acts)
		}
	})
}
