//go:build linux

// Command bench measures the real server beside the floor program, in one run, and prints both with
// the aims. It asserts nothing about speed; it fails when something could not be measured, such as a
// subscriber that did not get every piece. build/bench.sh builds everything and calls it.
//
//	main
//	  bench.streams   delay, processor time and bytes of a piece, from a scripted model to subscribers
//	  bench.starts    start to ready, idle memory
//	  bench.pages     list, snapshot, history
//	  sheet.print
//
// Both programs are fresh processes, variants take turns, and each round gives one value of which the
// table shows the median. Model and subscribers live in this process, so their share of the machine is
// in every delay, the floor's as well.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
)

type bench struct {
	temp   string
	model  *model
	server *serverSubject
	floor  *floorSubject
	sheet  sheet
	idle   time.Duration // before memory is looked at

	// data is what is read and not written: folders with a database each.
	data struct{ starts, list, long, longID string }
}

// extent is how much is measured.
type extent struct {
	rounds int           // of streams
	length time.Duration // of a paced stream
	starts int
	pages  int
	idle   time.Duration
}

var (
	full  = extent{rounds: 7, length: 5 * time.Second, starts: 9, pages: 9, idle: time.Second}
	quick = extent{rounds: 2, length: 1500 * time.Millisecond, starts: 3, pages: 3, idle: 500 * time.Millisecond}
)

const (
	pieceEvery     = 10 * time.Millisecond
	saturated      = 10_000 // pieces of a stream without pauses
	storedSessions = 10_000 // at a start
	listedSessions = 50_000
	longItems      = 100_000
)

func main() {
	var isQuick bool
	b := &bench{server: &serverSubject{}, floor: &floorSubject{}}
	flag.StringVar(&b.server.program, "server", "", "the server's program")
	flag.StringVar(&b.floor.program, "floor", "", "the floor program")
	flag.BoolVar(&isQuick, "quick", false, "fewer rounds")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	much := full
	if isQuick {
		much = quick
	}
	if err := b.run(ctx, much); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, much extent) (err error) {
	debug.SetGCPercent(400) // our own collections would be in the delays
	began, loadBefore := time.Now(), load()
	if b.temp, err = os.MkdirTemp("", "aalis-bench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.temp)) }()
	if err := b.own(); err != nil {
		return err
	}
	typical, late, err := syncTimes(b.temp)
	if err != nil {
		return err
	}
	if b.model, err = openModel(); err != nil {
		return err
	}
	defer b.model.close()
	b.server.model, b.floor.model, b.idle = b.model.url, b.model.url, much.idle
	if err := b.streams(ctx, much); err != nil {
		return err
	}
	progress("filling databases with %d and %d sessions and with %d items", storedSessions, listedSessions, longItems)
	if err := b.fill(); err != nil {
		return fmt.Errorf("filling databases: %w", err)
	}
	progress("starts")
	if err := b.starts(ctx, much.starts); err != nil {
		return err
	}
	progress("pages")
	if err := b.pages(ctx, much.pages); err != nil {
		return err
	}
	fmt.Printf("\n%d processors, %s; load %s before, %s after; a synced write of 4 KiB takes %s ms, p95 %s ms; %d s in all\n",
		runtime.NumCPU(), runtime.Version(), loadBefore, load(), digits(typical), digits(late), int(time.Since(began).Seconds()))
	fmt.Printf("Medians of %d rounds of streams, %d starts, %d times %d pages. A piece is %d bytes of text. Databases are on the disk and in the page cache.\n",
		much.rounds, much.starts, much.pages, askEach, pieceSize)
	fmt.Print("The floor forwards the same stream, keeps no log, and sends pages of the same size from memory.\n\n")
	return b.sheet.print(os.Stdout)
}

// streams measures every pace in turn, as often as there are rounds.
func (b *bench) streams(ctx context.Context, much extent) error {
	for round := range much.rounds {
		progress("streams, round %d of %d", round+1, much.rounds)
		for _, every := range []time.Duration{pieceEvery, 0} {
			for _, subscribers := range []int{1, 10} {
				p := pace{subscribers, saturated, every}
				if every > 0 {
					p.pieces = int(much.length / every)
				}
				for _, s := range b.subjects(round) {
					got, err := b.stream(ctx, s, p)
					if err != nil {
						return fmt.Errorf("%s, %d subscribers: %w", s.name(), subscribers, err)
					}
					b.note(s.name(), p, got)
				}
			}
		}
	}
	return nil
}

func (b *bench) note(name string, p pace, got streamed) {
	to := fmt.Sprintf("%d subscribers", p.subscribers)
	if p.subscribers == 1 {
		to = "1 subscriber"
	}
	if p.every == 0 {
		b.sheet.of("CPU per piece, no pauses, "+to, "µs", 0).add(name, got.cpu)
		return
	}
	b.sheet.of("delay p50 at 100/s, "+to, "ms", 0.5).add(name, percentile(got.delays, 50))
	b.sheet.of("delay p95 at 100/s, "+to, "ms", 2).add(name, percentile(got.delays, 95))
	b.sheet.of("CPU per piece at 100/s, "+to, "µs", 0).add(name, got.cpu)
	b.sheet.of("bytes per piece at 100/s, "+to, "B", float64(pieceSize+200)).add(name, got.wire)
}

// subjects are both programs; who comes first changes from round to round.
func (b *bench) subjects(round int) []subject {
	both := []subject{b.server, b.floor}
	if round%2 == 1 {
		slices.Reverse(both)
	}
	return both
}

func progress(form string, args ...any) { fmt.Fprintf(os.Stderr, form+"\n", args...) }
