package app

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aalis/app/bustest"
	"aalis/backend/wire/session"
)

// The tests on this rig drive the desktop app as it is shipped, E2E_APP, on a desktop of their own: an X server, a
// window manager, a bus with a panel and a notification daemon. Without E2E_APP they are left out.

// desktopRig is such a desktop, and the app on it.
type desktopRig struct {
	t    testing.TB
	home string
	env  []string
	app  string // the program's file

	x       *exec.Cmd // the X server
	process *process
	link    *link
}

func newDesktop(t testing.TB) *desktopRig {
	t.Helper()
	app := os.Getenv("E2E_APP")
	if app == "" {
		t.Skip("E2E_APP names no program")
	}
	home, err := os.MkdirTemp("", "desktop")
	if err != nil {
		t.Fatal(err)
	}
	r := &desktopRig{t: t, home: home, app: app}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	for _, dir := range []string{"run", "bin"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	opened := filepath.Join(home, "opened")
	if err := os.WriteFile(filepath.Join(home, "bin", "xdg-open"), []byte("#!/bin/sh\necho \"$1\" >>'"+opened+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.env = []string{
		"PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=en_GB.UTF-8",
		"XDG_RUNTIME_DIR=" + filepath.Join(home, "run"), "XDG_DATA_HOME=" + filepath.Join(home, "data"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"DBUS_SESSION_BUS_ADDRESS=" + os.Getenv("DBUS_SESSION_BUS_ADDRESS"), "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent",
		"NO_AT_BRIDGE=1", "GTK_A11Y=none", "LIBGL_ALWAYS_SOFTWARE=1",
	}
	r.env = append(r.env, "DISPLAY=:"+r.display())
	manager := r.begin("openbox")
	bustest.Within(t, 30*time.Second, "a window manager", func() bool {
		if manager.over() { // it came before the X server took anybody
			manager = r.begin("openbox")
		}
		return strings.Contains(r.tool("wmctrl", "-m"), "Openbox")
	})
	t.Cleanup(func() {
		if t.Failed() && r.process != nil {
			t.Logf("the app said: %s", r.process.said())
		}
	})
	return r
}

// display starts an X server and gives its number.
func (r *desktopRig) display() string {
	r.t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	// A server that loses its last client starts anew otherwise, with whoever is just coming.
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1400x900x24", "-nolisten", "tcp", "-noreset")
	x.ExtraFiles = []*os.File{write}
	if err := x.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = x.Process.Kill(); _ = x.Wait() })
	r.x = x
	_ = write.Close()
	defer read.Close()
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(number)
}

// process is a program under test.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended

	mu  sync.Mutex // guards out
	out bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *process) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (r *desktopRig) begin(name string, args ...string) *process {
	r.t.Helper()
	p := &process{cmd: exec.Command(name, args...), done: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = r.env, p, p
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	r.t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(5 * time.Second):
			_ = p.cmd.Process.Kill()
			<-p.done
		}
	})
	return p
}

// tool runs a program to its end and gives what it printed; one that fails has printed nothing.
func (r *desktopRig) tool(name string, args ...string) string {
	cmd := exec.CommandContext(r.t.Context(), name, args...)
	cmd.Env, cmd.Stderr = r.env, io.Discard
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// run starts the app and connects to it when it serves.
func (r *desktopRig) run(args ...string) {
	r.t.Helper()
	r.process = r.begin(r.app, args...)
	r.connect()
}

func (r *desktopRig) connect() {
	r.t.Helper()
	bustest.Until(r.t, "the app to serve", func() bool {
		if r.process.over() {
			r.t.Fatalf("the app ended: %s", r.process.said())
		}
		found, err := findRemote(r.dataDir())
		if err != nil {
			return false
		}
		r.link, err = found.dial(context.Background())
		return err == nil
	})
	r.t.Cleanup(r.link.close)
}

func (r *desktopRig) dataDir() string { return filepath.Join(r.home, "data", "aalis") }

// windows are the titles of the windows there are.
func (r *desktopRig) windows() []string {
	var titles []string
	for line := range strings.SplitSeq(r.tool("wmctrl", "-l"), "\n") {
		if fields := strings.Fields(line); len(fields) > 3 {
			titles = append(titles, strings.Join(fields[3:], " "))
		}
	}
	return titles
}

// shown waits until there is one window, and it is viewable or not.
func (r *desktopRig) shown(yes bool) {
	r.t.Helper()
	bustest.Within(r.t, 15*time.Second, "the window to be shown, or not", func() bool {
		id := r.tool("xdotool", "search", "--onlyvisible", "--class", "aalis")
		return (id != "") == yes
	})
}

func (r *desktopRig) ask(method string, params, result any) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer cancel()
	if err := r.link.call(ctx, method, params, result); err != nil {
		r.t.Fatalf("%s: %v", method, err)
	}
}

// session makes one with a title and says something in it.
func (r *desktopRig) session(title, words string) string {
	r.t.Helper()
	var made session.SessionCreateResult
	r.ask("session/create", session.SessionCreateParams{}, &made)
	r.ask("session/rename", session.SessionRenameParams{SessionID: made.Session.ID, Title: title}, &session.Empty{})
	r.say(made.Session.ID, words)
	return made.Session.ID
}

func (r *desktopRig) say(id, words string) {
	r.t.Helper()
	r.ask("turn/send", session.TurnSendParams{SessionID: id, Content: words}, &session.Empty{})
}

// ends waits for the app to end with a code.
func (r *desktopRig) ends(code int) {
	r.t.Helper()
	bustest.Until(r.t, "the app to end", r.process.over)
	if got := r.process.cmd.ProcessState.ExitCode(); got != code {
		r.t.Errorf("it ended with %d, want %d: %s", got, code, r.process.said())
	}
}

func (r *desktopRig) opened() string {
	links, _ := os.ReadFile(filepath.Join(r.home, "opened"))
	return string(links)
}

// click clicks an entry of the tray's menu.
func (r *desktopRig) click(p *bustest.Panel, labels ...string) {
	r.t.Helper()
	var id int32
	bustest.Until(r.t, "an entry "+strings.Join(labels, ", "), func() bool {
		n := p.Menu().Find(labels...)
		if n != nil {
			id = n.ID
		}
		return n != nil
	})
	p.Click(id)
}

// entryOfTray is the request of a session in the tray's menu; nil for none.
func entryOfTray(p *bustest.Panel, who string) *bustest.Node {
	for _, n := range p.Menu().Children {
		if strings.HasPrefix(n.Label, who+": ") {
			return &n
		}
	}
	return nil
}

// noted is the notification whose title begins so and that is shown still; nil for none.
func noted(d *bustest.Daemon, title string) *bustest.Shown {
	all := d.Shown()
	for i := len(all) - 1; i >= 0; i-- {
		if strings.HasPrefix(all[i].Title, title) && !d.Withdrawn(all[i].ID) {
			return &all[i]
		}
	}
	return nil
}

// waiting is the approval that a session waits for.
func (r *desktopRig) waiting(id string) session.Approval {
	r.t.Helper()
	var snapshot struct {
		Approvals []session.Approval `json:"approvals"`
	}
	r.ask("session/subscribe", session.SessionParams{SessionID: id}, &snapshot)
	r.ask("session/unsubscribe", session.SessionParams{SessionID: id}, &session.Empty{})
	if len(snapshot.Approvals) != 1 {
		r.t.Fatalf("%d approvals wait", len(snapshot.Approvals))
	}
	return snapshot.Approvals[0]
}

// running reports whether she works in a session.
func (r *desktopRig) running(id string) bool {
	r.t.Helper()
	var found session.SessionsListResult
	r.ask("sessions/list", session.SessionsListParams{Query: id}, &found)
	return len(found.Sessions) == 1 && found.Sessions[0].Running
}

// configure writes config.yaml by hand, as a person does while the app runs.
func (r *desktopRig) configure(yaml string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dataDir(), "config.yaml"), []byte(yaml), 0o600); err != nil {
		r.t.Fatal(err)
	}
	time.Sleep(time.Second) // it counts when it has been left alone for a moment
}

// history reports whether the history of a session holds some words, as Go prints it.
func (r *desktopRig) history(id string, words ...string) bool {
	r.t.Helper()
	var history any
	r.ask("session/history", map[string]any{"sessionId": id}, &history)
	got := fmt.Sprint(history)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(got, w) })
}

// speaks reports whether a message of hers is being written in a session.
func (r *desktopRig) speaks(id string) bool {
	r.t.Helper()
	var snapshot any
	r.ask("session/subscribe", session.SessionParams{SessionID: id}, &snapshot)
	r.ask("session/unsubscribe", session.SessionParams{SessionID: id}, &session.Empty{})
	return strings.Contains(fmt.Sprint(snapshot), "kind:agent-message")
}
