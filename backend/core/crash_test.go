package core_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/testkit"
)

// crashDir is the variable by which this test binary runs as the program that is killed.
const crashDir = "AALIS_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := load(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// seenLine is one thing that somebody outside the process was told: a published event, or text.
type seenLine struct {
	Session string     `json:"s,omitempty"`
	SID     int64      `json:"sid"`
	Seq     int64      `json:"q"`
	ID      string     `json:"i"`
	Kind    event.Kind `json:"k"`
	Tick    int64      `json:"t"`
	Acked   string     `json:"a,omitempty"` // an event id that a command's receipt gave
}

// load opens the folder as a start would, puts it in order, and works at random from several
// goroutines until it is killed. Everything it shows goes to stdout first.
func load(dir string) error {
	st, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		return err
	}
	loop, err := core.New(core.Options{Store: st, Admission: there{}})
	if err != nil {
		return err
	}
	var mu sync.Mutex // guards stdout
	out := json.NewEncoder(os.Stdout)
	tell := func(l seenLine) {
		mu.Lock()
		defer mu.Unlock()
		_ = out.Encode(l)
	}
	ctx := context.Background()
	cursor := loop.Cursor()
	var all sync.WaitGroup
	all.Go(func() { _ = loop.Run(ctx) })
	all.Go(func() {
		for {
			entries, err := cursor.Next(ctx)
			if err != nil {
				return
			}
			for _, e := range entries {
				if e.Fact != nil {
					tell(seenLine{Session: e.Fact.Session, SID: e.SID, Seq: e.Fact.Seq, ID: e.Fact.ID, Kind: e.Fact.Kind, Tick: e.Tick})
				}
			}
		}
	})
	if err := core.Recover(ctx, loop); err != nil {
		return err
	}
	tell(seenLine{Kind: "ready"})
	for range 4 {
		all.Go(func() {
			d := newDriver(loop, rand.IntN)
			for {
				if err := d.step(); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				if n := len(d.sessions); n > 0 {
					if r, err := loop.Do(ctx, core.SendInput{Actor: owner, Session: d.sessions[n-1], Input: say("acknowledged")}); err == nil {
						tell(seenLine{Acked: r.EventID})
					}
				}
			}
		})
	}
	all.Wait()
	return nil
}

func TestAKilledProcessLosesNothingItHasShown(t *testing.T) {
	kills := 200
	if n, err := strconv.Atoi(os.Getenv("AALIS_KILLS")); err == nil {
		kills = n
	}
	var seen []seenLine
	dir := t.TempDir()
	for n := range kills {
		if n%25 == 0 { // a young and an older log are both killed
			dir, seen = t.TempDir(), nil
		}
		seen = append(seen, killed(t, dir)...)
		reopened(t, dir, seen)
		if t.Failed() {
			t.Fatalf("after kill %d of %d", n+1, kills)
		}
	}
}

// killed runs a process on the folder, kills it at a random moment and gives what it had shown.
func killed(t *testing.T, dir string) []seenLine {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var seen []seenLine
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	var once sync.Once
	for lines.Scan() {
		var l seenLine
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			break // cut off in the middle of a line
		}
		if l.Kind == "ready" {
			once.Do(func() {
				time.AfterFunc(time.Duration(rand.IntN(120_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
			})
			continue
		}
		seen = append(seen, l)
	}
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the process ended by itself: %s", stderr.String())
	}
	return seen
}

// reopened opens what is left and compares it with what had been shown.
func reopened(t *testing.T, dir string, seen []seenLine) {
	t.Helper()
	r := open(t, dir)
	defer r.stop()
	if err := r.st.IntegrityCheck(); err != nil {
		t.Error(err)
	}
	if err := core.Recover(t.Context(), r.loop); err != nil {
		t.Fatal(err)
	}
	var newest int64
	r.read(func(tx *store.ReadTx) error {
		for _, l := range seen {
			newest = max(newest, l.Tick)
			id := l.ID + l.Acked
			e, found, err := tx.Event(id)
			if err != nil {
				return err
			}
			switch {
			case !found:
				t.Errorf("event %s (%s) was shown and is gone", id, l.Kind)
			case l.ID != "" && (e.SID != l.SID || e.Seq != l.Seq || e.Kind != l.Kind):
				t.Errorf("event %s was shown as %d/%d %s and is %d/%d %s", id, l.SID, l.Seq, l.Kind, e.SID, e.Seq, e.Kind)
			}
		}
		running, err := tx.RunningTurns()
		for _, turn := range running {
			// Recovery takes up queues; those turns belong to this start.
			if turn.Epoch != r.loop.Epoch() {
				t.Errorf("turn %s still runs", turn.ID)
			}
		}
		return err
	})
	if tick := r.loop.Cursor().Position(); tick < newest {
		t.Errorf("the order goes on at %d, though %d was shown", tick, newest)
	}
	testkit.Check(t, r.st)
}
