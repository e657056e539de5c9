package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"aalis/app/bustest"
	"aalis/backend/wire/session"
)

// BenchmarkDesktop measures the app as it is shipped, E2E_APP, on a desktop of its own: what build/bench.sh
// prints. It asserts nothing; run it with -benchtime 1x. BENCH_QUICK takes fewer rounds and looks for less
// long.
//
//	PSS-MB           memory of all its processes, shared pages divided among those who share them
//	wakes/s          how often their threads are woken while nothing happens
func BenchmarkDesktop(b *testing.B) {
	rounds, look := 7, 60*time.Second
	if os.Getenv("BENCH_QUICK") != "" {
		rounds, look = 3, 15*time.Second
	}
	b.Run("hidden", func(b *testing.B) { benchHidden(b, rounds, look) })
	b.Run("window", func(b *testing.B) { benchWindow(b, rounds, look) })
	b.Run("approval", func(b *testing.B) { benchApproval(b, 10*rounds) })
}

// benchHidden starts it hidden in the tray, where it stays.
func benchHidden(b *testing.B, rounds int, look time.Duration) {
	bus := bustest.New(b)
	r := newDesktop(b)
	var toTray, toReady []float64
	for round := range rounds + 1 { // the first makes a data folder, and reads from the disk
		panel := bus.Panel(true)
		began := time.Now()
		r.process = r.begin(r.app, "--hidden")
		every(b, "the icon", func() bool { return panel.Registrations() > 0 })
		toTray = append(toTray, ms(time.Since(began)))
		r.connect()
		toReady = append(toReady, ms(time.Since(began)))
		if round < rounds {
			r.quit(b, panel)
		}
	}
	b.ReportMetric(middle(toTray[1:]), "start-to-tray-ms")
	b.ReportMetric(middle(toReady[1:]), "start-to-ready-ms")
	r.idle(b, look, "")
}

// benchWindow shows the window, and hides it again.
func benchWindow(b *testing.B, rounds int, look time.Duration) {
	bus := bustest.New(b)
	r := newDesktop(b)
	var toPage []float64
	var panel *bustest.Panel
	for round := range rounds + 1 {
		panel = bus.Panel(true)
		_ = os.Remove(r.log()) // of the round before; none at first
		r.run("--hidden", "--log-level", "debug")
		every(b, "the menu", func() bool { return panel.Menu().Find("Show") != nil })
		began := time.Now()
		panel.ClickBlind(panel.Menu().Find("Show").ID)
		every(b, "the page", func() bool { return r.logged("the page of the window is there") })
		toPage = append(toPage, ms(time.Since(began)))
		r.shown(true)
		if round < rounds {
			r.quit(b, panel)
		}
	}
	b.ReportMetric(middle(toPage[1:]), "click-to-page-ms")
	r.idle(b, look, "")
	r.tool("wmctrl", "-c", "Aalis")
	r.shown(false)
	r.idle(b, look, "hidden-again-")
	began := time.Now()
	panel.ClickBlind(panel.Menu().Find("Show").ID)
	every(b, "the window", func() bool { return r.tool("xdotool", "search", "--onlyvisible", "--class", "aalis") != "" })
	b.ReportMetric(ms(time.Since(began)), "click-to-window-ms") // a look takes some of them
}

// benchApproval has her ask again and again.
func benchApproval(b *testing.B, rounds int) {
	bus := bustest.New(b)
	r := newDesktop(b)
	panel, daemon := bus.Panel(true), bus.Daemon(0, "actions", "body")
	r.run("--hidden")
	every(b, "the icon", func() bool { return panel.Registrations() > 0 })
	var toTray, toNote []float64
	for round := range rounds {
		name := fmt.Sprintf("Ask%d", round)
		id := r.session(name, "run: true "+name)
		var inTray, inNote time.Time
		every(b, "the approval", func() bool {
			if inTray.IsZero() && entryOfTray(panel, name) != nil {
				inTray = time.Now()
			}
			if inNote.IsZero() && noted(daemon, name) != nil {
				inNote = time.Now()
			}
			return !inTray.IsZero() && !inNote.IsZero()
		})
		a := r.waiting(id)
		asked := time.UnixMilli(a.ExpiresAt).Add(-5 * time.Minute) // it counts whole milliseconds
		toTray, toNote = append(toTray, ms(inTray.Sub(asked))), append(toNote, ms(inNote.Sub(asked)))
		r.ask("approval/respond", session.ApprovalRespondParams{ApprovalID: a.ID, Decision: "deny", ContentHash: a.ContentHash}, &session.Empty{})
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(middle(toTray), "asked-to-tray-ms")
	b.ReportMetric(slices.Max(toTray), "asked-to-tray-max-ms")
	b.ReportMetric(middle(toNote), "asked-to-notification-ms")
	b.ReportMetric(slices.Max(toNote), "asked-to-notification-max-ms")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func middle(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// every polls for what is measured, more often than it matters.
func every(b *testing.B, what string, done func() bool) {
	b.Helper()
	for end := time.Now().Add(30 * time.Second); !done(); time.Sleep(500 * time.Microsecond) {
		if time.Now().After(end) {
			b.Fatalf("waited for %s", what)
		}
	}
}

// quit ends the app and its panel between two rounds.
func (r *desktopRig) quit(b *testing.B, panel *bustest.Panel) {
	b.Helper()
	_ = r.process.cmd.Process.Signal(syscall.SIGTERM)
	every(b, "the end", r.process.over)
	panel.Stop()
}

func (r *desktopRig) log() string { return filepath.Join(r.dataDir(), "logs", "aalis.log") }

func (r *desktopRig) logged(words string) bool {
	log, _ := os.ReadFile(r.log())
	return strings.Contains(string(log), words)
}

// idle lets the app come to rest and looks what it costs then.
func (r *desktopRig) idle(b *testing.B, look time.Duration, prefix string) {
	b.Helper()
	r.link.close() // no client but the window
	time.Sleep(10 * time.Second)
	before, memory := r.cost(b)
	time.Sleep(look)
	after, _ := r.cost(b)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(memory, prefix+"PSS-MB")
	total := 0
	for name, c := range after {
		woken := 0
		for thread, n := range c.wakes {
			woken += n - before[name].wakes[thread] // of a new one, all
		}
		total += woken
		used := c.ticks - before[name].ticks // of a hundredth of a second
		b.Logf("%s%s: %.2f wakes/s, %.1f ms of the processor a minute", prefix, name, float64(woken)/look.Seconds(), float64(10*used)*60/look.Seconds())
	}
	b.ReportMetric(float64(total)/look.Seconds(), prefix+"wakes/s")
}

// cost is what one process has used so far.
type cost struct {
	wakes map[string]int // by thread
	ticks int
}

// cost gives that of the app and of all below it, by name and number, and the memory of all in MB.
func (r *desktopRig) cost(b *testing.B) (all map[string]cost, memory float64) {
	b.Helper()
	all = map[string]cost{}
	for _, pid := range tree(r.process.cmd.Process.Pid) {
		at := fmt.Sprintf("/proc/%d", pid)
		stat, err := os.ReadFile(at + "/stat")
		rollup, e := os.ReadFile(at + "/smaps_rollup")
		threads, _ := filepath.Glob(at + "/task/*/status")
		if err != nil || e != nil { // it has just ended
			continue
		}
		name, rest, _ := strings.Cut(string(stat[strings.IndexByte(string(stat), '(')+1:]), ") ")
		fields := strings.Fields(rest)
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		c := cost{map[string]int{}, user + system}
		for _, thread := range threads {
			status, _ := os.ReadFile(thread)
			c.wakes[thread] = number(string(status), "voluntary_ctxt_switches:")
		}
		memory += float64(number(string(rollup), "Pss:")) * 1.024 / 1000
		all[fmt.Sprintf("%s %d", name, pid)] = c
	}
	return all, memory
}

func number(file, field string) int {
	for line := range strings.Lines(file) {
		if rest, found := strings.CutPrefix(line, field); found {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}

// tree is a process and all below it.
func tree(root int) []int {
	all := []int{root}
	for i := 0; i < len(all); i++ {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i]))
		for _, thread := range threads {
			children, _ := os.ReadFile(thread)
			for word := range strings.FieldsSeq(string(children)) {
				if pid, err := strconv.Atoi(word); err == nil {
					all = append(all, pid)
				}
			}
		}
	}
	return all
}
