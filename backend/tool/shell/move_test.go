package shell

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/tool"
	"aalis/backend/tool/tooltest"
)

func TestLimitsOfMovedCommands(t *testing.T) {
	for _, c := range []struct {
		name              string
		seconds           int
		foreground, moved time.Duration
	}{
		{"without a limit it may go on for ever", 0, DefaultTimeout, noLimit},
		{"a limit that was named holds there too", 7, 7 * time.Second, 7 * time.Second},
		{"up to the highest", 100_000, MaxTimeout, MaxTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			if foreground, moved := limits(params{TimeoutSeconds: c.seconds}); foreground != c.foreground || moved != c.moved {
				t.Errorf("%v, %v", foreground, moved)
			}
		})
	}
	t.Run("a command that may move runs, and a named limit ends it", func(t *testing.T) {
		prepared, err := tooltest.Prepare(t, Exec(Options{}), tool.Place{Root: t.TempDir()}, `{"command":"echo hi"}`)
		if err != nil || prepared.Move == nil {
			t.Fatalf("%+v, %v", prepared, err)
		}
		if got, err := prepared.Move.Execute(t.Context(), nil); err != nil || got.Text != "hi\n[exit code 0]" {
			t.Errorf("%+v, %v", got, err)
		}
		prepared, err = tooltest.Prepare(t, Exec(Options{}), tool.Place{Root: t.TempDir()}, `{"command":"sleep 60","timeout_seconds":1}`)
		if err != nil {
			t.Fatal(err)
		}
		_, err = prepared.Move.Execute(t.Context(), nil)
		if e, ok := errors.AsType[*tool.Error](err); !ok || e.Code != tool.TimedOut {
			t.Errorf("%v", err)
		}
	})
	t.Run("a timer of that length never fires", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			timer := time.NewTimer(noLimit)
			defer timer.Stop()
			select {
			case <-timer.C:
				t.Error("it fired")
			case <-time.After(365 * 24 * time.Hour):
			}
		})
	})
}
