//go:build desktop || dev

package app

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/menu"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"
	"github.com/wailsapp/wails/v2/pkg/options/windows"
	"github.com/wailsapp/wails/v2/pkg/runtime"

	"aalis/backend/text"
	"aalis/frontend"
)

// hasWindow says that this build can show a window.
const hasWindow = true

//go:embed icon.png
var icon []byte

// window is the desktop window. The instance behind it starts before it and ends after it.
type window struct {
	s   settings
	log *slog.Logger

	// up is closed once ctx is there: the toolkit gives it from a goroutine of its own, in no order
	// with the page's first call.
	up  chan struct{}
	ctx context.Context // the toolkit's, for its own calls only

	wg sync.WaitGroup // what show waits for

	closed atomic.Bool // the toolkit has been let close, which it must be once

	mu        sync.Mutex // guards all below
	asking    bool       // the question of a close is shown
	finishing bool       // the window closes when the turns have ended
	leaving   bool       // nothing is asked any more
}

func newWindow(s settings, log *slog.Logger) *window {
	return &window{s: s, log: log, up: make(chan struct{})}
}

// raise brings the window to the front. One that is still coming up needs no help.
func (w *window) raise() bool {
	select {
	case <-w.up:
		runtime.WindowUnminimise(w.ctx)
		runtime.Show(w.ctx)
	default:
	}
	return true
}

// endWithin bounds the end of the program once ctx has ended, whatever the toolkit does.
const endWithin = 1500 * time.Millisecond

// show runs the window until it is closed or ctx ends. It takes the main thread.
func (w *window) show(ctx context.Context, in instance) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	run := startBackground(serving, in)
	select {
	case <-run.ready:
	case err := <-run.done:
		return err
	}
	bridge := newBridge(in.Connect, func(event string, data ...any) {
		<-w.up
		runtime.EventsEmit(w.ctx, event, data...)
	})
	bridge.options = in.Options
	bridge.files, bridge.ask = in.Files(), w.askPath
	closed := make(chan struct{})
	w.wg.Go(func() { w.follow(ctx, run, closed) })
	err := wails.Run(w.options(serving, in, bridge))
	close(closed)
	stop()
	w.wg.Wait()
	if err != nil {
		err = fmt.Errorf("showing the window: %w", err)
	}
	return errors.Join(err, <-run.done)
}

// follow closes the window when the program is told to end, or when the instance behind it ends. A
// dialog that is open, or a page that hangs, must not keep the process alive then.
func (w *window) follow(ctx context.Context, run *background, closed <-chan struct{}) {
	var failed error
	select {
	case <-closed:
		return
	case <-ctx.Done():
	case failed = <-run.done:
		w.log.Error("the server behind the window ended", "error", failed)
		run.done <- failed
	}
	w.mu.Lock()
	w.leaving = true
	w.mu.Unlock()
	select {
	case <-w.up:
		runtime.Quit(w.ctx)
	case <-closed:
		return
	case <-time.After(endWithin):
	}
	select {
	case <-closed:
	case <-time.After(endWithin):
		// The instance has parted from its clients by now: its context ended with ours.
		run.wg.Wait()
		w.log.Warn("the window did not close in time")
		if failed != nil {
			os.Exit(exitFailed)
		}
		os.Exit(0)
	}
}

func (w *window) options(ctx context.Context, in instance, bridge *Bridge) *options.App {
	// A white window on some drivers (wails issue 2977), unless somebody knows better.
	if _, set := os.LookupEnv("WEBKIT_DISABLE_DMABUF_RENDERER"); !set {
		_ = os.Setenv("WEBKIT_DISABLE_DMABUF_RENDERER", "1") // a wish, like the driver's own default
	}
	background := options.NewRGB(0xfd, 0xfc, 0xfa)
	if prefersDark() {
		background = options.NewRGB(0x1a, 0x19, 0x17)
	}
	o := &options.App{
		Title: w.s.name, Width: 1280, Height: 800, MinWidth: 480, MinHeight: 360,
		BackgroundColour:   background,
		AssetServer:        &assetserver.Options{Assets: frontend.Dist(), Handler: in.Files()},
		Bind:               []any{bridge},
		Logger:             wailsLog{w.log},
		LogLevelProduction: logger.WARNING,
		OnStartup: func(ctx context.Context) {
			w.ctx = ctx
			close(w.up)
		},
		// A signal and our own follow may both wish to close. The toolkit would quit twice then, the
		// second time from a thread of its own on a loop that the main thread is freeing.
		OnBeforeClose: func(context.Context) bool { return !w.mayClose(ctx, in) || w.closed.Swap(true) },
		OnShutdown:    func(context.Context) { bridge.close() },
		Linux:         &linux.Options{Icon: icon, WebviewGpuPolicy: linux.WebviewGpuPolicyNever, ProgramName: "aalis"},
		Windows:       &windows.Options{Theme: windows.SystemDefault},
		Mac:           &mac.Options{Appearance: mac.DefaultAppearance},
	}
	if goruntime.GOOS == "darwin" { // without these, copying and pasting have no keys there
		o.Menu = menu.NewMenuFromItems(menu.AppMenu(), menu.EditMenu(), menu.WindowMenu())
	}
	return o
}

// signalGrace is how much later our own handler of a signal may run than the toolkit's, which closes
// the window as a person would.
const signalGrace = 100 * time.Millisecond

// mayClose decides on a wish to close. While turns run it asks, unless the program has been told to
// end. The toolkit calls it in a goroutine of its own, so it may wait.
func (w *window) mayClose(ctx context.Context, in instance) bool {
	if in.Running() == 0 {
		return true
	}
	select {
	case <-ctx.Done():
		return true
	case <-time.After(signalGrace):
	}
	w.mu.Lock()
	if w.leaving || w.asking {
		defer w.mu.Unlock()
		return w.leaving
	}
	w.asking = true
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.asking = false
		w.mu.Unlock()
	}()
	// Two questions with yes and no, because that is what every system's dialog has. Closing a dialog
	// is a no, and two of them change nothing.
	switch {
	case w.yes("close.finish"):
		w.wg.Go(func() { w.closeWhenDone(ctx, in) })
		return false
	case w.yes("close.stop"):
		if err := in.StopTurns(ctx); err != nil {
			w.log.Error("stopping the turns before closing failed", "error", err)
		}
		return true
	}
	return false
}

// askPath asks where a file is to be kept.
func (w *window) askPath(name string) (string, error) {
	return runtime.SaveFileDialog(w.ctx, runtime.SaveDialogOptions{DefaultFilename: name, CanCreateDirectories: true})
}

func (w *window) yes(question text.Key) bool {
	said, err := runtime.MessageDialog(w.ctx, runtime.MessageDialogOptions{
		Type: runtime.QuestionDialog, Title: w.s.name, Message: text.New(question).In(w.s.language),
		Buttons: []string{"Yes", "No"}, DefaultButton: "Yes", CancelButton: "No",
	})
	if err != nil {
		w.log.Error("asking before closing failed", "error", err)
	}
	return said == "Yes"
}

// closeWhenDone ends the window once no turn runs any more.
func (w *window) closeWhenDone(ctx context.Context, in instance) {
	w.mu.Lock()
	already := w.finishing
	w.finishing = true
	w.mu.Unlock()
	if already {
		return
	}
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for in.Running() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
	runtime.Quit(w.ctx)
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

// wailsLog passes the toolkit's lines on to ours.
type wailsLog struct{ log *slog.Logger }

func (l wailsLog) Print(message string)   { l.log.Debug("window", "message", message) }
func (l wailsLog) Trace(message string)   { l.log.Debug("window", "message", message) }
func (l wailsLog) Debug(message string)   { l.log.Debug("window", "message", message) }
func (l wailsLog) Info(message string)    { l.log.Info("window", "message", message) }
func (l wailsLog) Warning(message string) { l.log.Warn("window", "message", message) }
func (l wailsLog) Error(message string)   { l.log.Error("window", "message", message) }
func (l wailsLog) Fatal(message string)   { l.log.Error("window", "message", message) }
