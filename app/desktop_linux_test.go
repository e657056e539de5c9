package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aalis/app/bustest"
)

func TestDesktopInTheTray(t *testing.T) {
	bus := bustest.New(t)
	r := newDesktop(t)
	panel := bus.Panel(true)
	began := time.Now()
	r.run("--hidden")
	bustest.Until(t, "the icon", func() bool { return panel.Registrations() > 0 })
	t.Logf("the icon came after %v", time.Since(began))
	if got := r.windows(); len(got) != 0 {
		t.Fatalf("windows: %q", got)
	}
	if children := r.tool("pgrep", "-P", fmt.Sprint(r.process.cmd.Process.Pid)); children != "" {
		t.Errorf("a web view runs already: %q", children)
	}

	t.Run("FAIL-B7 an approval is asked and answered without any window", func(t *testing.T) {
		id := r.session("Garden", "run: touch by-the-tray")
		r.click(panel, "Garden: touch by-the-tray", "Approve")
		bustest.Until(t, "the file", func() bool {
			_, err := os.Stat(filepath.Join(r.dataDir(), "workspace", "by-the-tray"))
			return err == nil
		})
		bustest.Until(t, "who answered", func() bool {
			var got any
			r.ask("session/history", map[string]any{"sessionId": id}, &got)
			return strings.Contains(fmt.Sprint(got), "approved")
		})
	})
	t.Run("the first Show makes the window, closing hides it, and Show brings it back", func(t *testing.T) {
		began := time.Now()
		r.click(panel, "Show")
		r.shown(true)
		t.Logf("the window came after %v", time.Since(began))
		r.tool("wmctrl", "-c", "Aalis")
		r.shown(false)
		if r.process.over() {
			t.Fatal("it ended")
		}
		r.click(panel, "Show")
		r.shown(true)
	})
	t.Run("a tab is opened signed in", func(t *testing.T) {
		r.click(panel, "Open in browser")
		bustest.Until(t, "the link", func() bool { return strings.Contains(r.opened(), "/signin#") })
	})
	t.Run("FAIL-G3 Quit ends the program", func(t *testing.T) {
		r.click(panel, "Quit")
		r.ends(0)
		if _, err := os.Stat(filepath.Join(r.dataDir(), "run", "server.json")); err == nil {
			t.Error("server.json is left")
		}
	})
}

func TestDesktopIsNeverOutOfReach(t *testing.T) {
	t.Run("FAIL-H4 without a tray closing the window ends the program, and a second start raises it", func(t *testing.T) {
		bustest.Missing(t)
		r := newDesktop(t)
		r.run()
		r.shown(true)
		r.tool("xdotool", "search", "--class", "aalis", "windowminimize")
		r.shown(false)
		second := r.begin(r.app)
		bustest.Until(t, "the second start to end", second.over)
		if code := second.cmd.ProcessState.ExitCode(); code != 0 || !strings.Contains(second.said(), "raised") {
			t.Errorf("%d %s", code, second.said())
		}
		r.shown(true)
		r.tool("wmctrl", "-c", "Aalis")
		r.ends(0)
	})
	t.Run("FAIL-H4 a panel that goes away and stays away gives the hidden window back; one that restarts does not", func(t *testing.T) {
		bus := bustest.New(t)
		r := newDesktop(t)
		panel := bus.Panel(true)
		r.run()
		r.shown(true)
		bustest.Until(t, "the icon", func() bool { return panel.Registrations() > 0 })
		r.tool("wmctrl", "-c", "Aalis")
		r.shown(false)
		panel.Stop()
		panel = bus.Panel(true)
		bustest.Until(t, "the icon again", func() bool { return panel.Registrations() > 0 })
		r.click(panel, "Show")
		r.shown(true)
		r.tool("wmctrl", "-c", "Aalis")
		r.shown(false)
		if n := len(r.windows()); n != 0 {
			t.Fatalf("%d windows", n)
		}
		panel.Stop()
		bustest.Within(t, orphanedAfter+10*time.Second, "the window in the list", func() bool { return len(r.windows()) == 1 })
	})
	t.Run("FAIL-H4 started hidden where no tray ever comes, it stands in the list of windows", func(t *testing.T) {
		bustest.New(t)
		r := newDesktop(t)
		r.run("--hidden")
		if n := len(r.windows()); n != 0 {
			t.Errorf("%d windows at once", n)
		}
		bustest.Within(t, orphanedAfter+10*time.Second, "the window in the list", func() bool { return len(r.windows()) == 1 })
		r.shown(false)
	})
}

func TestDesktopStartsAndEnds(t *testing.T) {
	bus := bustest.New(t)
	t.Run("a second start with a link makes the window of a hidden one, and a hidden second start does nothing", func(t *testing.T) {
		r := newDesktop(t)
		bus.Panel(true)
		r.run("--hidden")
		second := r.begin(r.app, "--hidden")
		bustest.Until(t, "the second start to end", second.over)
		if code := second.cmd.ProcessState.ExitCode(); code != 0 || len(r.windows()) != 0 {
			t.Errorf("%d %s; windows %q", code, second.said(), r.windows())
		}
		third := r.begin(r.app, "aalis://new")
		bustest.Until(t, "the third start to end", third.over)
		r.shown(true)
		wrong := r.begin(r.app, "aalis://format/disk")
		bustest.Until(t, "a wrong one to end", wrong.over)
		if code := wrong.cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(wrong.said(), "aalis://session/ID") {
			t.Errorf("%d %s", code, wrong.said())
		}
	})
	t.Run("SIGTERM ends a hidden one in good order", func(t *testing.T) {
		r := newDesktop(t)
		bus.Panel(true)
		r.run("--hidden")
		r.session("Busy", "slow: 300")
		began := time.Now()
		if err := r.process.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		r.ends(0)
		if took := time.Since(began); took > 2500*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
	t.Run("FAIL-H1 a newer file is offered, and Restart starts it, hidden as before, with the queue kept", func(t *testing.T) {
		r := newDesktop(t)
		panel := bus.Panel(true)
		real, own := r.app, filepath.Join(r.home, "aalis")
		if err := os.Link(real, own); err != nil {
			data, err := os.ReadFile(real)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(own, data, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		r.app = own
		r.run("--hidden")
		bustest.Until(t, "the icon", func() bool { return panel.Registrations() > 0 })
		id := r.session("Waits", "slow: 4")
		fakeProgram(t, own, fmt.Sprintf(`if [ "$1" = version ]; then echo '{"version":"9.9.9","commit":"x"}'; exit; fi; touch '%s/started-again'; exec '%s' "$@"`, r.home, real))
		second := r.begin(real) // a look at the window looks for a newer file, too
		bustest.Until(t, "the second start to end", second.over)
		r.shown(true)
		panel.Activate()
		r.click(panel, "Restart to use version 9.9.9")
		_ = id
		bustest.Until(t, "another start", func() bool {
			_, err := os.Stat(filepath.Join(r.home, "started-again"))
			return err == nil
		})
		r.link.close()
		r.connect()
	})
}
