package app

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aalis/app/bustest"
	"aalis/backend/wire/session"
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

	t.Run("an approval is asked and answered without any window", func(t *testing.T) {
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
	t.Run("the first Show makes the window, closing hides it and says so once, and Show brings it back", func(t *testing.T) {
		daemon := bus.Daemon(1, "actions", "body")
		defer daemon.Stop()
		began := time.Now()
		r.click(panel, "Show")
		r.shown(true)
		t.Logf("the window came after %v", time.Since(began))
		r.tool("wmctrl", "-c", "Aalis")
		r.shown(false)
		if r.process.over() {
			t.Fatal("it ended")
		}
		first := noted(daemon, "Aalis goes on")
		r.click(panel, "Show")
		r.shown(true)
		r.tool("wmctrl", "-c", "Aalis")
		r.shown(false)
		panel.Activate()
		r.shown(true)
		if all := daemon.Shown(); first == nil || len(all) != 1 {
			t.Errorf("said: %+v", all)
		}
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
		r.tool("xdotool", "search", "--onlyvisible", "--class", "aalis", "windowminimize")
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
	panel := bustest.New(t).Panel(true)
	t.Run("a second start with a link makes the window of a hidden one, and a hidden second start does nothing", func(t *testing.T) {
		r := newDesktop(t)
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
	t.Run("FAIL-H1 SIGTERM ends a hidden one in good order: the turn is marked, what was queued is taken up by the next", func(t *testing.T) {
		r := newDesktop(t)
		r.run("--hidden")
		id := r.session("Busy", "slow: 300")
		bustest.Until(t, "her to speak", func() bool { return r.speaks(id) }) // before that, what is said joins the turn
		r.say(id, "and then hello")
		began := time.Now()
		if err := r.process.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		r.ends(0)
		if took := time.Since(began); took > 2500*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		r.run("--hidden")
		var got string
		bustest.Within(t, 30*time.Second, "the queued message to be answered", func() bool {
			var history any
			r.ask("session/history", map[string]any{"sessionId": id}, &history)
			got = fmt.Sprint(history)
			return strings.Contains(got, "replied")
		})
		if strings.Count(got, "outcome:aborted") != 1 || strings.Count(got, "and then hello") < 1 {
			t.Error(got)
		}
	})
	t.Run("FAIL-H1 a newer file is offered, and Restart starts it, with the window as it was", func(t *testing.T) {
		r := newDesktop(t)
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
		fakeProgram(t, own, fmt.Sprintf(`if [ "$1" = version ]; then echo '{"version":"9.9.9","commit":"x"}'; exit; fi; touch '%s/started-again'; exec '%s' "$@"`, r.home, real))
		second := r.begin(real) // a look at the window looks for a newer file, too
		bustest.Until(t, "the second start to end", second.over)
		r.shown(true)
		panel.Activate()
		r.click(panel, "Restart to use version 9.9.9")
		bustest.Until(t, "another start", func() bool {
			_, err := os.Stat(filepath.Join(r.home, "started-again"))
			return err == nil
		})
		r.connect()
		r.shown(true)
		if dead := r.tool("ps", "--ppid", fmt.Sprint(r.process.cmd.Process.Pid), "-o", "stat=,comm="); strings.Contains(dead, "Z") {
			t.Errorf("dead children of the one before: %s", dead)
		}
	})
}

// surfaces are the ways in which a request is answered: each says how it is called.
var surfaces = []string{"tray", "notification", "another client"}

func TestDesktopAnswersAnywhere(t *testing.T) {
	bus := bustest.New(t)
	r := newDesktop(t)
	panel, daemon := bus.Panel(true), bus.Daemon(1, "actions", "body")
	r.run("--hidden")
	bustest.Until(t, "the icon", func() bool { return panel.Registrations() > 0 && len(panel.Menu().Children) > 0 })
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 0))
	marks := filepath.Join(r.home, "marks")
	if err := os.Mkdir(marks, 0o700); err != nil {
		t.Fatal(err)
	}
	lines := func(n int) int {
		data, _ := os.ReadFile(filepath.Join(marks, fmt.Sprint(n)))
		return strings.Count(string(data), "\n")
	}
	command := func(n int) string { return fmt.Sprintf("echo done >> %s/%d", marks, n) }

	t.Run("FAIL-B11 FAIL-B23 ten approvals of three sessions, answered at random and twice at once: each counts once and is gone everywhere within 300 ms", func(t *testing.T) {
		titles, ids := []string{"Garden", "Kitchen", "Cellar"}, make([]string, 3)
		for i, title := range titles {
			ids[i] = r.session(title, "hello")
		}
		next, asked := 0, map[int]int{} // which session asks for what
		ask := func(i int) {
			if next < 10 {
				r.say(ids[i], "run: "+command(next))
				asked[i] = next
				next++
			}
		}
		for i := range titles {
			ask(i)
		}
		for len(asked) > 0 {
			i := dice.IntN(3)
			n, waits := asked[i]
			if !waits {
				continue
			}
			who := titles[i]
			bustest.Until(t, "the request in tray and notification", func() bool {
				return entryOfTray(panel, who) != nil && noted(daemon, who+" asks") != nil
			})
			entry, note, approval := entryOfTray(panel, who), noted(daemon, who+" asks"), r.waiting(ids[i])
			approve := dice.IntN(2) == 0
			word, decision, action := "Deny", session.Deny, "deny"
			if approve {
				word, decision, action = "Approve", session.Approve, "approve"
			}
			ways := map[string]func(){
				surfaces[0]: func() { panel.ClickBlind(entry.Find(word).ID) },
				surfaces[1]: func() { daemon.Press(note.ID, action) },
				surfaces[2]: func() {
					_ = r.link.respond(t.Context(), approval, decision, "") // too late is no failure
				},
			}
			for _, way := range dice.Perm(3)[:1+dice.IntN(2)] {
				ways[surfaces[way]]()
			}
			bustest.Within(t, 300*time.Millisecond, "the request to be gone", func() bool {
				e := entryOfTray(panel, who)
				return (e == nil || e.ID != entry.ID) && daemon.Withdrawn(note.ID)
			})
			panel.ClickBlind(entry.Find("Approve").ID) // in a menu that was open
			daemon.Press(note.ID, "approve")           // on a notification that was fading
			bustest.Until(t, "the turn to end", func() bool { return !r.running(ids[i]) })
			if got, want := lines(n), map[bool]int{true: 1}[approve]; got != want {
				t.Fatalf("request %d ran %d times, want %d (approved: %v)", n, got, want, approve)
			}
			delete(asked, i)
			ask(i)
		}
	})
	t.Run("FAIL-B5 a notification that is dismissed decides nothing, and the request stays in the tray", func(t *testing.T) {
		id := r.session("Dismissed", "run: "+command(20))
		bustest.Until(t, "the notification", func() bool { return noted(daemon, "Dismissed asks") != nil })
		daemon.Dismiss(noted(daemon, "Dismissed asks").ID)
		time.Sleep(100 * time.Millisecond)
		if e := entryOfTray(panel, "Dismissed"); e == nil || !r.running(id) {
			t.Fatalf("tray: %s", panel.Menu())
		}
		r.click(panel, entryOfTray(panel, "Dismissed").Label, "Approve")
		bustest.Until(t, "the command to run", func() bool { return lines(20) == 1 })
	})
	t.Run("a failure and a long turn are told to who does not look, and can be silenced", func(t *testing.T) {
		id := r.session("Failing", "fail: out of luck")
		bustest.Until(t, "the notification", func() bool { return noted(daemon, "Failing: something went wrong") != nil })
		bustest.Until(t, "the icon to say so", func() bool { return strings.Contains(fmt.Sprint(panel.Property("ToolTip")), "failed") })
		r.say(id, "slow: 2")
		bustest.Until(t, "the end", func() bool { return !r.running(id) })
		for _, n := range daemon.Shown() {
			if strings.Contains(n.Title, "done") {
				t.Errorf("a short turn was told: %+v", n)
			}
		}
		r.configure("desktop:\n  long_turn: 1\n  notify_failed: false\n")
		r.say(id, "slow: 12")
		bustest.Until(t, "the end to be told", func() bool { return noted(daemon, "Failing: done") != nil })
		r.say(id, "fail: again")
		bustest.Until(t, "the end", func() bool { return !r.running(id) })
		time.Sleep(100 * time.Millisecond)
		count := 0
		for _, n := range daemon.Shown() {
			if strings.Contains(n.Title, "something went wrong") {
				count++
			}
		}
		if count != 1 {
			t.Errorf("a failure was told %d times", count)
		}
	})
	t.Run("a click on a notification shows the window at its session, and what ended is no news any more", func(t *testing.T) {
		id := r.session("Shown", "run: "+command(30))
		bustest.Until(t, "the notification", func() bool { return noted(daemon, "Shown asks") != nil })
		done := noted(daemon, "Failing: done")
		daemon.Press(noted(daemon, "Shown asks").ID, "default")
		r.shown(true)
		bustest.Until(t, "the old news to be taken back", func() bool { return daemon.Withdrawn(done.ID) })
		if !r.running(id) || lines(30) != 0 {
			t.Error("a click on the notification itself decided")
		}
	})
}

func TestDesktopOnAFullDisk(t *testing.T) {
	bus := bustest.New(t)
	r := newDesktop(t)
	data := filepath.Join(r.home, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("no disk of our own can be made here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(data, syscall.MNT_DETACH) })
	panel, daemon := bus.Panel(true), bus.Daemon(1, "actions", "body")
	r.run("--hidden")
	bustest.Until(t, "the icon", func() bool { return panel.Registrations() > 0 && len(panel.Menu().Children) > 0 })
	id := r.session("Full", "hello")
	bustest.Until(t, "the end", func() bool { return !r.running(id) })

	filler := filepath.Join(data, "filler")
	fill := func() {
		t.Helper()
		f, err := os.Create(filler)
		if err != nil {
			t.Fatal(err)
		}
		for block := make([]byte, 4096); err == nil; {
			_, err = f.Write(block)
		}
		_ = f.Close()
	}
	t.Run("FAIL-D14 a disk that fills while she is hidden: said, nothing lost, and on it goes when there is room", func(t *testing.T) {
		r.say(id, "slow: 20")
		bustest.Until(t, "her to work", func() bool { return r.running(id) })
		fill()
		time.Sleep(3 * time.Second) // the turn would have ended
		err := r.link.call(t.Context(), "turn/send", session.TurnSendParams{SessionID: id, Content: "never taken"}, &session.Empty{})
		if err == nil || !strings.Contains(err.Error(), "no room left on the disk") {
			t.Errorf("a message was taken by a full disk: %v", err)
		}
		if r.process.over() {
			t.Fatal("the app ended")
		}
		// The tray answers, and the window comes.
		r.click(panel, "Show")
		r.shown(true)
		r.tool("wmctrl", "-c", "Aalis")
		r.shown(false)
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		bustest.Until(t, "a message to be taken", func() bool {
			return r.link.call(t.Context(), "turn/send", session.TurnSendParams{SessionID: id, Content: "run: echo room"}, &session.Empty{}) == nil
		})
		bustest.Until(t, "the request", func() bool { return entryOfTray(panel, "Full") != nil && noted(daemon, "Full asks") != nil })
		daemon.Press(noted(daemon, "Full asks").ID, "approve")
		bustest.Until(t, "the end", func() bool { return !r.running(id) })
		var history any
		r.ask("session/history", map[string]any{"sessionId": id}, &history)
		if got := fmt.Sprint(history); !strings.Contains(got, "hello") || !strings.Contains(got, "echo room") || strings.Contains(got, "never taken") {
			t.Error(got)
		}
	})
	r.click(panel, "Quit")
	r.ends(0)
}
