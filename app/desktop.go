//go:build desktop || dev

package app

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"
	"github.com/wailsapp/wails/v2/pkg/options/windows"
	"github.com/wailsapp/wails/v2/pkg/runtime"

	"aalis/frontend"
)

// hasWindow says that this build can show a window.
const hasWindow = true

//go:embed icon.png
var icon []byte

// window is the desktop window. The instance and the shell behind it start before it and end after it.
// It is made when it is first wanted, once: the toolkit cannot make a second one in a process.
type window struct {
	s     settings
	log   *slog.Logger
	shell *shell // there before anything can call

	// up is closed once ctx is there: the toolkit gives it from a goroutine of its own, in no order
	// with the page's first call.
	up     chan struct{}
	ctx    context.Context // the toolkit's, for its own calls only
	wanted chan struct{}   // holds a token when the window is to be made, or never will be
	gone   chan struct{}   // closed when the window has ended

	wg sync.WaitGroup // what run waits for

	drops drops

	closed atomic.Bool // the toolkit has been let close, which it must be once

	mu      sync.Mutex // guards all below
	made    bool       // the toolkit runs, or is about to
	small   bool       // it comes up in the list of windows only
	away    bool       // hidden, or not made yet
	infront bool       // the page has the focus
	greeted bool       // the page has said hello
	leaving bool       // nothing is asked any more
	goal    target     // where the page is to go when it says hello
	kept    kept
	drawn   time.Time // when the page last said that it had drawn
	turned  time.Time // when the page last said whether it is in front
	blamed  bool      // a person is being told that the page does not draw
}

func newWindow(s settings, st start, log *slog.Logger) *window {
	w := &window{
		s: s, log: log, up: make(chan struct{}), wanted: make(chan struct{}, 1), gone: make(chan struct{}),
		away: true, kept: loadKept(s.dataDir, log),
	}
	w.goal, _ = parseLink(st.link) // it was looked at before
	if st.renderer != "" {
		w.kept.Safe = st.renderer == rendererSafe
		w.save()
	}
	if !st.hidden {
		w.wanted <- struct{}{}
	}
	return w
}

// endWithin bounds the end of the program once ctx has ended, whatever the toolkit does.
const endWithin = 1500 * time.Millisecond

// run shows the app until it is quit or ctx ends. It takes the main thread.
func (w *window) run(ctx context.Context, in instance) (how end, err error) {
	ctx, stopAll := context.WithCancel(ctx)
	defer stopAll()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	w.shell = newShell(w.s, in, w, w.log, stopAll)
	w.shell.start()
	behind := startBackground(serving, in)
	select {
	case <-behind.ready:
	case err := <-behind.done:
		w.shell.close()
		return end{}, err
	}
	w.wg.Go(func() { w.shell.run(serving) })
	w.wg.Go(func() { w.follow(ctx, behind) })
	if w.first(ctx, behind) {
		if err = wails.Run(w.options(w.bridge(in))); err != nil {
			err = fmt.Errorf("showing the window: %w", err)
		}
	}
	how.hidden = w.hidden()
	close(w.gone)
	stop()
	w.shell.close()
	w.wg.Wait()
	w.shell.mu.Lock()
	how.again = w.shell.restart
	w.shell.mu.Unlock()
	return how, errors.Join(err, <-behind.done)
}

// first waits until the window is wanted; false when the program ends before, or when there is nothing
// any more to show one on.
func (w *window) first(ctx context.Context, behind *background) bool {
	select {
	case <-w.wanted:
	case <-ctx.Done():
	case err := <-behind.done:
		behind.done <- err
	}
	answers := displayAnswers(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made = answers && !w.leaving && ctx.Err() == nil
	if !answers && ctx.Err() == nil {
		w.log.Warn("the display is gone: the desktop session has ended")
	}
	if w.made {
		w.away = w.small
	}
	return w.made
}

// follow closes the window when the program is told to end, or when the instance behind it ends. A
// dialog that is open, or a page that hangs, must not keep the process alive then.
func (w *window) follow(ctx context.Context, behind *background) {
	var failed error
	select {
	case <-w.gone:
		return
	case <-ctx.Done():
	case failed = <-behind.done:
		w.log.Error("the server behind the window ended", "error", failed)
		behind.done <- failed
	}
	w.quit()
	select {
	case <-w.gone:
	case <-time.After(2 * endWithin):
		// The instance has parted from its clients by now: its context ended with ours.
		behind.wg.Wait()
		w.log.Warn("the window did not close in time")
		if failed != nil {
			os.Exit(exitFailed)
		}
		os.Exit(0)
	}
}

func (w *window) bridge(in instance) *Bridge {
	bridge := newBridge(in.Connect, w.emit)
	bridge.options = in.Options
	bridge.files, bridge.ask, bridge.window = in.Files(), w.askPath, (*pageOf)(w)
	return bridge
}

func (w *window) emit(event string, data ...any) {
	<-w.up
	runtime.EventsEmit(w.ctx, event, data...)
}

func (w *window) options(bridge *Bridge) *options.App {
	w.mu.Lock()
	k, small := w.kept, w.small
	w.mu.Unlock()
	chooseRenderer(k.Safe)
	background := options.NewRGB(0xfd, 0xfc, 0xfa)
	if prefersDark() {
		background = options.NewRGB(0x1a, 0x19, 0x17)
	}
	state := options.Normal
	switch {
	case small:
		state = options.Minimised
	case k.Maximised:
		state = options.Maximised
	}
	return &options.App{
		Title: w.s.name, Width: k.Width, Height: k.Height, MinWidth: leastWidth, MinHeight: leastHeight,
		WindowStartState:   state,
		BackgroundColour:   background,
		Menu:               w.menu(),
		AssetServer:        &assetserver.Options{Assets: frontend.Dist(), Handler: w.drops.before(bridge.files)},
		Bind:               []any{bridge},
		Logger:             wailsLog{w.log},
		LogLevelProduction: logger.WARNING,
		OnStartup: func(ctx context.Context) {
			w.ctx = ctx
			w.place(k)
			setZoom(k.Zoom)
			watchDrops(func(uris []string) {
				w.wg.Go(func() { w.tell("dropped", w.drops.take(uris)) })
			})
			close(w.up)
			w.check(firstPaintWithin)
		},
		OnBeforeClose: func(context.Context) bool { return !w.mayClose() },
		OnShutdown:    func(context.Context) { bridge.close() },
		Linux:         &linux.Options{Icon: icon, WebviewGpuPolicy: linux.WebviewGpuPolicyNever, ProgramName: "aalis"},
		Windows:       &windows.Options{Theme: windows.SystemDefault, IsZoomControlEnabled: !canZoom},
		Mac:           &mac.Options{Appearance: mac.DefaultAppearance},
	}
}

// mayClose decides on a wish to close, which is the toolkit's for a signal as well: that one ends the
// program through follow. A window that can come back is hidden; else the program ends, and is asked
// about that while something runs.
func (w *window) mayClose() bool {
	w.remember()
	w.mu.Lock()
	leaving := w.leaving
	w.mu.Unlock()
	if leaving {
		// The toolkit would quit twice, the second time from a thread of its own on a loop that the main
		// thread is freeing.
		return !w.closed.Swap(true)
	}
	if w.shell.mayHide() {
		w.hide()
	} else {
		w.shell.part.want(partQuit)
	}
	return false
}

func (w *window) hide() {
	w.mu.Lock()
	w.away, w.infront = true, false
	first := !w.kept.Hidden
	w.kept.Hidden = true
	w.mu.Unlock()
	runtime.WindowHide(w.ctx)
	w.shell.attend() // the tray may have gone meanwhile
	if first {
		w.save()
		w.shell.tellHidden()
	}
}

// activate is a second start, which may ask for a link.
func (w *window) activate(link string) bool {
	to, err := parseLink(link)
	if err != nil {
		w.log.Warn("a second start asked for what is no link of ours", "error", err)
	}
	w.raise(to)
	return true
}

func (w *window) raise(to target) {
	w.mu.Lock()
	if to != (target{}) {
		w.goal = to
	}
	goal, greeted, made := w.goal, w.greeted, w.made
	w.small = false
	if made {
		w.away = false
		if greeted {
			w.goal = target{}
		}
	}
	w.mu.Unlock()
	if !made {
		w.want()
		return
	}
	select {
	case <-w.up:
	default:
		return // it comes up by itself
	}
	runtime.WindowShow(w.ctx)
	runtime.WindowUnminimise(w.ctx)
	runtime.Show(w.ctx)
	w.shell.attend()
	if greeted && goal != (target{}) {
		w.tell("go", goal)
	}
	w.check(paintWithin)
}

func (w *window) want() {
	select {
	case w.wanted <- struct{}{}:
	default:
	}
}

// lower shows the window in the list of windows only.
func (w *window) lower() {
	w.mu.Lock()
	made := w.made
	if made {
		w.away = false
	} else {
		w.small = true
	}
	w.mu.Unlock()
	if !made {
		w.want()
		return
	}
	select {
	case <-w.up:
		runtime.WindowMinimise(w.ctx)
		runtime.WindowShow(w.ctx)
	default:
	}
}

func (w *window) hidden() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away
}

func (w *window) front() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.infront && !w.away
}

func (w *window) tell(event string, data any) {
	select {
	case <-w.up:
		runtime.EventsEmit(w.ctx, event, data)
	default:
	}
}

func (w *window) ask(question string) bool {
	<-w.up
	said, err := runtime.MessageDialog(w.ctx, runtime.MessageDialogOptions{
		Type: runtime.QuestionDialog, Title: w.s.name, Message: question,
		Buttons: []string{"Yes", "No"}, DefaultButton: "Yes", CancelButton: "No",
	})
	if err != nil {
		w.log.Error("a question could not be asked", "error", err)
	}
	return said == "Yes"
}

// quit closes the window for good, or sees that none is made.
func (w *window) quit() {
	w.mu.Lock()
	w.leaving = true
	made := w.made
	w.mu.Unlock()
	w.want()
	if !made {
		return
	}
	select {
	case <-w.up:
		runtime.Quit(w.ctx)
	case <-w.gone:
	case <-time.After(endWithin):
	}
}

// askPath asks where a file is to be kept.
func (w *window) askPath(name string) (string, error) {
	return runtime.SaveFileDialog(w.ctx, runtime.SaveDialogOptions{DefaultFilename: name, CanCreateDirectories: true})
}

// background runs an instance beside the window. Its end, good or bad, is told by done.
type background struct {
	ready chan ready // receives once
	done  chan error
	wg    sync.WaitGroup
}

func startBackground(ctx context.Context, in instance) *background {
	b := &background{ready: make(chan ready, 1), done: make(chan error, 1)}
	b.wg.Go(func() { b.done <- in.Run(ctx, func(r ready) { b.ready <- r }) })
	return b
}
