package notify_test

import (
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aalis/app/bustest"
	"aalis/app/notify"
	"aalis/backend/text"
)

type rig struct {
	*notify.Notifier

	mu   sync.Mutex // guards acts, and hold
	acts []string
	hold chan struct{}
}

func start(t *testing.T) *rig {
	t.Helper()
	r := &rig{}
	r.Notifier = notify.Start(notify.Options{
		Name: "Aalis", Icon: "aalis", Language: func() text.Language { return text.Chinese }, Log: slog.New(slog.DiscardHandler),
		Act: func(key, action string) {
			r.mu.Lock()
			r.acts = append(r.acts, action+" "+key)
			hold := r.hold
			r.mu.Unlock()
			if hold != nil {
				<-hold
			}
		},
	})
	t.Cleanup(r.Close)
	return r
}

func (r *rig) told() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.acts)
}

func (r *rig) tells(t *testing.T, want ...string) {
	t.Helper()
	bustest.Until(t, fmt.Sprint(want), func() bool { return slices.Equal(r.told(), want) })
}

var answers = []notify.Action{{ID: "approve", Label: "Approve"}, {ID: "deny", Label: "Deny"}, {ID: notify.Open, Label: "Open"}}

func approval(key string) notify.Note {
	return notify.Note{Key: key, Title: "title " + key, Body: "body", Urgent: true, Actions: answers}
}

func TestShow(t *testing.T) {
	bus := bustest.New(t)
	daemon := bus.Daemon(0, "actions", "body", "body-markup")
	r := start(t)
	r.Show(approval("a"))
	r.Show(approval("a")) // once
	r.Show(notify.Note{Key: "n", Title: "news", Body: "done", Actions: answers[2:]})
	daemon.Titled("news")
	got := daemon.Shown()
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	a, n := got[0], got[1]
	if a.Program != "Aalis" || a.Icon != "aalis" || a.Body != "body" || a.Urgency != 2 || a.Timeout != 0 || !a.Resident ||
		strings.Join(a.Actions, "|") != "approve|Approve|deny|Deny|default|Open|open|Open" {
		t.Errorf("%+v", a)
	}
	if n.Body != "done" || n.Urgency != 1 || n.Timeout != -1 || n.Resident {
		t.Errorf("%+v", n)
	}
	if !r.Available() {
		t.Error("not available")
	}
}

func TestXfceButtons(t *testing.T) {
	bus := bustest.New(t)
	daemon := bus.Daemon(0, "actions")
	daemon.Named("Xfce Notify Daemon")
	r := start(t)
	r.Show(approval("a"))
	if got := strings.Join(daemon.Titled("title a").Actions, "|"); got != "approve|Approve|deny|Deny|default|Open" {
		t.Error(got)
	}
}

func TestPress(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"approve", "approve a"},
		{"deny", "deny a"},
		{"default", "open a"},
		{"open", "open a"},
	} {
		t.Run(c.word, func(t *testing.T) {
			bus := bustest.New(t)
			daemon := bus.Daemon(7, "actions")
			r := start(t)
			r.Show(approval("a"))
			id := daemon.Titled("title a").ID
			daemon.Press(id, "always") // a button it does not have
			daemon.Press(id+1, "approve")
			daemon.Press(id, c.word)
			r.tells(t, c.want)
		})
	}
	t.Run("before the daemon has answered", func(t *testing.T) {
		bus := bustest.New(t)
		daemon := bus.Daemon(0, "actions")
		daemon.Instantly("deny")
		r := start(t)
		for i := range 50 {
			r.Show(approval(fmt.Sprint(i)))
		}
		bustest.Until(t, "every press", func() bool { return len(r.told()) == 50 })
	})
	t.Run("twice is once", func(t *testing.T) {
		bus := bustest.New(t)
		daemon := bus.Daemon(0, "actions")
		r := start(t)
		r.Show(approval("a"))
		r.Show(approval("b"))
		daemon.Press(daemon.Titled("title a").ID, "approve")
		daemon.Press(daemon.Titled("title a").ID, "approve")
		daemon.Press(daemon.Titled("title a").ID, "deny")
		daemon.Press(daemon.Titled("title b").ID, "deny")
		bustest.Until(t, "both", func() bool {
			got := r.told()
			slices.Sort(got)
			return slices.Equal(got, []string{"approve a", "deny b"})
		})
	})
}

func TestDismiss(t *testing.T) {
	bus := bustest.New(t)
	daemon := bus.Daemon(0, "actions")
	r := start(t)
	r.Show(approval("a"))
	id := daemon.Titled("title a").ID
	daemon.Dismiss(id)
	daemon.Press(id, "approve") // of something that is closed
	r.Show(approval("a"))
	r.Show(approval("b"))
	daemon.Press(daemon.Titled("title b").ID, "deny")
	r.tells(t, "deny b") // FAIL-B5: dismissing decides nothing
	if n := len(daemon.Shown()); n != 2 {
		t.Errorf("FAIL-B5 what was dismissed came back: %d", n)
	}
	r.Withdraw("a")
	r.Show(approval("a"))
	bustest.Until(t, "a key that was withdrawn is new", func() bool { return len(daemon.Shown()) == 3 })
}

func TestForged(t *testing.T) {
	bus := bustest.New(t)
	daemon := bus.Daemon(0, "actions")
	r := start(t)
	r.Show(approval("a"))
	shown := daemon.Titled("title a")
	forger := bus.Connect()
	bus.ForgePress(shown.Sender, shown.ID, "approve")
	bus.Forge(shown.Sender, "/org/freedesktop/DBus", "org.freedesktop.DBus.NameOwnerChanged", "org.freedesktop.Notifications", "", forger.Names()[0])
	bus.Forge(shown.Sender, "/org/freedesktop/Notifications", "org.freedesktop.Notifications.NotificationClosed", shown.ID, uint32(2))
	bus.Forge(shown.Sender, "/org/freedesktop/Notifications", "org.freedesktop.Notifications.ActionInvoked", "malformed")
	daemon.Press(shown.ID, "deny") // it is still shown, by the same daemon
	r.tells(t, "deny a")
	if n := len(daemon.Shown()); n != 1 {
		t.Errorf("a forged signal made it be shown %d times", n)
	}
}

func TestWithdraw(t *testing.T) {
	bus := bustest.New(t)
	daemon := bus.Daemon(0, "actions")
	r := start(t)
	r.Show(approval("a"))
	id := daemon.Titled("title a").ID
	r.Withdraw("a")
	bustest.Within(t, 300*time.Millisecond, "FAIL-B11 answered elsewhere: withdrawn", func() bool { return daemon.Withdrawn(id) })
	daemon.Press(id, "approve")
	r.Withdraw("a")
	r.Withdraw("unknown")

	release := daemon.Hold()
	r.Show(approval("b"))
	b := daemon.Titled("title b").ID
	r.Show(approval("c"))
	r.Withdraw("b") // it is being shown
	r.Withdraw("c") // it waits
	release()
	bustest.Until(t, "withdrawn as soon as its number is known", func() bool { return daemon.Withdrawn(b) })
	r.Show(approval("d"))
	daemon.Press(daemon.Titled("title d").ID, "deny")
	r.tells(t, "deny d")
	if n := len(daemon.Shown()); n != 3 {
		t.Errorf("%d were shown", n)
	}
}

func TestSlowDaemon(t *testing.T) {
	bus := bustest.New(t)
	daemon := bus.Daemon(0, "actions")
	r := start(t)
	r.Show(approval("a"))
	a := daemon.Titled("title a").ID
	release := daemon.Hold()
	began := time.Now()
	for i := range 100 {
		r.Show(approval(fmt.Sprint(i)))
	}
	if took := time.Since(began); took > 100*time.Millisecond {
		t.Errorf("Show waited %v", took)
	}
	bustest.Until(t, "the first reaches it", func() bool { return len(daemon.Shown()) == 2 })
	daemon.Press(a, "approve") // what is shown already can be answered
	r.tells(t, "approve a")
	r.Withdraw("a")
	bustest.Until(t, "and withdrawn", func() bool { return daemon.Withdrawn(a) })
	release()
	bustest.Until(t, "all", func() bool { return len(daemon.Shown()) == 101 })
	for i, s := range daemon.Shown()[1:] {
		if s.Title != fmt.Sprint("title ", i) {
			t.Fatalf("%d: %s", i, s.Title)
		}
	}
}

func TestWords(t *testing.T) {
	bus := bustest.New(t)
	const title, body = "rm \u202e\u200b\x00<b>&\xff\nx", "a <i>&amp; \u2066b\n\n\n\n\n\n\nend" // FAIL-B20, FAIL-B21
	wantTitle := "rm ⟨U+202E⟩⟨U+200B⟩⟨U+0000⟩<b>&\uFFFD⏎x"
	for _, c := range []struct {
		can  []string
		body string
	}{
		{[]string{"actions"}, "a <i>&amp; ⟨U+2066⟩b⟨\\n×7⟩end"},
		{[]string{"actions", "body-markup"}, "a &lt;i&gt;&amp;amp; ⟨U+2066⟩b⟨\\n×7⟩end"},
		{[]string{"body-markup"}, "a &lt;i&gt;&amp;amp; ⟨U+2066⟩b⟨\\n×7⟩end\n请在托盘或窗口中答复。"},
	} {
		daemon := bus.Daemon(0, c.can...)
		r := start(t)
		r.Show(notify.Note{Key: "k", Title: title, Body: body, Actions: answers})
		r.Show(notify.Note{Key: "plain", Title: "plain", Body: strings.Repeat("z", 100_000)})
		last := daemon.Titled("plain").Body
		if len(last) > 420 || !strings.Contains(last, "⟨…99611⟩") {
			t.Errorf("%d: %s", len(last), last)
		}
		if got := daemon.Shown()[0]; got.Title != wantTitle || got.Body != c.body || (len(got.Actions) > 0) != slices.Contains(c.can, "actions") {
			t.Errorf("%v:\n%q\n%q %q", c.can, got.Title, got.Body, got.Actions)
		}
		r.Close()
		daemon.Stop()
	}
}

func TestDaemonComesLater(t *testing.T) {
	bus := bustest.New(t)
	r := start(t)
	r.Show(approval("a"))
	r.Show(approval("b"))
	r.Withdraw("a")
	if r.Available() {
		t.Error("available without a daemon")
	}
	daemon := bus.Daemon(0, "actions")
	daemon.Press(daemon.Titled("title b").ID, "approve")
	r.tells(t, "approve b")
	if n := len(daemon.Shown()); n != 1 || !r.Available() {
		t.Errorf("%d shown", n)
	}
}

func TestDaemonRestarts(t *testing.T) {
	bus := bustest.New(t)
	daemon := bus.Daemon(0, "actions")
	r := start(t)
	for _, key := range []string{"dismissed", "waits", "also"} {
		r.Show(approval(key))
	}
	r.Show(notify.Note{Key: "news", Title: "news"})
	daemon.Titled("news")
	daemon.Dismiss(daemon.Titled("title dismissed").ID)
	old := daemon.Titled("title waits").ID
	r.Show(approval("mark"))
	daemon.Press(daemon.Titled("title mark").ID, "deny") // after the dismissal
	r.tells(t, "deny mark")
	r.Withdraw("mark")
	daemon.Stop()
	bustest.Until(t, "the end is seen", func() bool { return !r.Available() })

	daemon = bus.Daemon(100, "actions")
	bustest.Until(t, "what waits is shown again", func() bool { return len(daemon.Shown()) == 2 })
	daemon.Press(old, "approve") // the number of another life
	daemon.Press(daemon.Titled("title waits").ID, "deny")
	r.tells(t, "deny mark", "deny waits")
	r.Withdraw("waits")
	bustest.Until(t, "withdrawn", func() bool { return daemon.Withdrawn(daemon.Titled("title waits").ID) })
	var titles []string
	for _, s := range daemon.Shown() {
		titles = append(titles, s.Title)
	}
	if !slices.Equal(titles, []string{"title waits", "title also"}) {
		t.Error(titles)
	}
}

// TestDaemonKeepsEnding ends the daemon at every note it shows.
func TestDaemonKeepsEnding(t *testing.T) {
	bus := bustest.New(t)
	r := start(t)
	r.Show(approval("poison"))
	shown := 0
	for i := range 8 {
		daemon := bus.Daemon(uint32(i*100), "actions")
		r.Show(notify.Note{Key: fmt.Sprint(i), Title: "mark"})
		daemon.Titled("mark")
		for _, s := range daemon.Shown() {
			if s.Title == "title poison" {
				shown++
			}
		}
		daemon.Stop()
		bustest.Until(t, "the end is seen", func() bool { return !r.Available() })
	}
	if shown != 4 {
		t.Errorf("shown %d times", shown)
	}
}

func TestDaemonEndsWhileShowing(t *testing.T) {
	bus := bustest.New(t)
	daemon := bus.Daemon(0, "actions")
	release := daemon.Hold()
	r := start(t)
	r.Show(approval("a"))
	daemon.Titled("title a")
	daemon.Stop()
	release()
	daemon = bus.Daemon(50, "actions")
	daemon.Press(daemon.Titled("title a").ID, "approve")
	r.tells(t, "approve a")
	if n := len(daemon.Shown()); n != 1 {
		t.Errorf("shown %d times", n)
	}
}

func TestDaemonRefuses(t *testing.T) {
	bus := bustest.New(t)
	daemon := bus.Daemon(0, "actions")
	daemon.Refuse(true)
	r := start(t)
	r.Show(approval("a"))
	bustest.Until(t, "a refusal", func() bool { return daemon.Refused() == 1 })
	daemon.Refuse(false)
	r.Show(approval("b"))
	daemon.Press(daemon.Titled("title b").ID, "deny")
	bustest.Until(t, "the next one works", func() bool { return slices.Contains(r.told(), "deny b") })
}

func TestActivatable(t *testing.T) {
	bus := bustest.Missing(t)
	bus.Activatable("org.freedesktop.Notifications")
	bus.Start()
	r := start(t)
	bustest.Until(t, "available before it runs", r.Available)
	r.Show(approval("a"))
	bustest.Until(t, "that it cannot be started", func() bool { return !r.Available() })
	daemon := bus.Daemon(0, "actions")
	daemon.Press(daemon.Titled("title a").ID, "approve")
	r.tells(t, "approve a")
}

func TestBusMissing(t *testing.T) {
	bus := bustest.Missing(t)
	r := start(t)
	r.Show(approval("a"))
	if r.Available() {
		t.Error("available without a bus")
	}
	bus.Start()
	daemon := bus.Daemon(0, "actions")
	id := daemon.Titled("title a").ID
	bus.Stop()
	bustest.Until(t, "the end of the bus is seen", func() bool { return !r.Available() })
	bus.Start()
	daemon = bus.Daemon(10, "actions")
	again := daemon.Titled("title a").ID
	daemon.Press(id, "approve")
	daemon.Press(again, "deny")
	r.tells(t, "deny a")
}

func TestClose(t *testing.T) {
	bus := bustest.New(t)
	daemon := bus.Daemon(0, "actions")
	before := runtime.NumGoroutine()
	r := start(t)
	r.Show(approval("a"))
	r.Show(approval("b"))
	a, b := daemon.Titled("title a").ID, daemon.Titled("title b").ID
	hold := make(chan struct{})
	r.mu.Lock()
	r.hold = hold
	r.mu.Unlock()
	daemon.Press(a, "deny")
	r.tells(t, "deny a")
	closed := make(chan struct{})
	go func() { r.Close(); close(closed) }()
	bustest.Until(t, "both are withdrawn", func() bool { return daemon.Withdrawn(a) && daemon.Withdrawn(b) })
	close(hold)
	<-closed
	r.Close()
	r.Show(approval("c"))
	r.Withdraw("c")
	bustest.Until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })

	without := start(t)
	began := time.Now()
	without.Close()
	if took := time.Since(began); took > time.Second {
		t.Errorf("closing took %v", took)
	}
}

// TestCloseWhileShowing withdraws what a slow daemon is only just showing.
func TestCloseWhileShowing(t *testing.T) {
	bus := bustest.New(t)
	daemon := bus.Daemon(0, "actions")
	for i := range 20 {
		release := daemon.Hold()
		r := start(t)
		r.Show(approval(fmt.Sprint(i)))
		id := daemon.Titled(fmt.Sprint("title ", i)).ID
		var wg sync.WaitGroup
		wg.Go(r.Close)
		wg.Go(release)
		wg.Wait()
		bustest.Until(t, "withdrawn", func() bool { return daemon.Withdrawn(id) })
	}
}
