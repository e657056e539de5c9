//go:build desktop || dev

package app

import (
	"os"
	"time"

	"github.com/wailsapp/wails/v2/pkg/runtime"

	"aalis/backend/text"
)

// pageOf is the window as its page knows it.
type pageOf window

func (p *pageOf) painted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drawn = time.Now()
}

func (p *pageOf) front(front bool) {
	p.mu.Lock()
	p.infront, p.turned = front, time.Now()
	p.mu.Unlock()
	if front {
		p.shell.looked()
	}
}

func (p *pageOf) openLink(url string) error { return p.shell.opener.Open(url) }

func (p *pageOf) openTab() error { return p.shell.openTabAt(target{}) }

func (p *pageOf) decide(question, choice string) { p.shell.part.decide(question, choice) }

// hello also has the page told what it must know and was told before it could listen.
func (p *pageOf) hello() greeting {
	p.mu.Lock()
	g := greeting{}
	if canZoom {
		g.Zoom = p.kept.Zoom
	}
	if p.goal != (target{}) {
		to := p.goal
		g.Go, p.goal = &to, target{}
	}
	p.greeted = true
	safe := p.kept.Safe
	p.mu.Unlock()
	w := (*window)(p)
	p.log.Debug("the page of the window is there")
	p.wg.Go(func() {
		w.tell("safe", map[string]bool{"on": safe})
		p.shell.tellUpdate()
		p.shell.part.again()
	})
	return g
}

func (p *pageOf) zoom(factor float64) {
	p.mu.Lock()
	p.kept.Zoom = factor
	p.kept = p.kept.sane()
	factor = p.kept.Zoom
	p.mu.Unlock()
	setZoom(factor)
	(*window)(p).save()
}

func (p *pageOf) quit() { p.shell.part.want(partQuit) }

func (p *pageOf) restart() { p.shell.part.want(partRestart) }

const (
	// firstPaintWithin is how long a page may take to come up and draw, on a slow and busy machine.
	firstPaintWithin = 20 * time.Second
	// paintWithin is how long one that is there may take to draw when it is shown.
	paintWithin = 10 * time.Second
)

// check sees that the page draws, and offers the safe renderer when it does not. A window that is away,
// or that the page knows to be behind others, has nothing to draw: it says nothing.
func (w *window) check(within time.Duration) {
	asked := time.Now()
	w.tell("paint", nil)
	w.wg.Go(func() {
		select {
		case <-w.gone:
			return
		case <-time.After(within):
		}
		w.mu.Lock()
		behind := w.turned.After(asked) && !w.infront
		fine := w.away || w.small || behind || w.drawn.After(asked) || w.leaving || w.blamed
		w.blamed = w.blamed || !fine
		safe := w.kept.Safe
		w.mu.Unlock()
		if fine {
			return
		}
		w.blank(safe)
		w.mu.Lock()
		w.blamed = false
		w.mu.Unlock()
	})
}

// blank is a window whose page does not draw.
func (w *window) blank(safe bool) {
	w.log.Error("the page of the window does not draw", "safe renderer", safe)
	say := func(key text.Key) string { return text.New(key).In(w.shell.in.Language()) }
	if safe { // there is nothing safer than a browser
		if w.ask(say("window.blank-tab")) {
			w.shell.openTab()
		}
		return
	}
	if !w.ask(say("window.blank")) {
		return
	}
	w.mu.Lock()
	w.kept.Safe = true
	w.mu.Unlock()
	w.save()
	w.shell.part.finish(partRestart)
}

// chooseRenderer sets what the web view reads at its start, unless somebody knows better: a white window
// on some drivers (wails issue 2977) is avoided always, what costs speed only where it was chosen.
func chooseRenderer(safe bool) {
	want := map[string]string{"WEBKIT_DISABLE_DMABUF_RENDERER": "1"}
	if safe {
		want["WEBKIT_DISABLE_COMPOSITING_MODE"], want["LIBGL_ALWAYS_SOFTWARE"] = "1", "1"
	}
	for name, value := range want {
		if _, set := os.LookupEnv(name); !set {
			_ = os.Setenv(name, value) // a wish, like the driver's own default
		}
	}
}

// place puts the window where it was, if that is on a screen.
func (w *window) place(k kept) {
	if !k.Placed || k.Maximised {
		return
	}
	screens, err := runtime.ScreenGetAll(w.ctx)
	if err != nil {
		return
	}
	for _, s := range screens {
		if k.onScreen(s.Size.Width, s.Size.Height) {
			runtime.WindowSetPosition(w.ctx, k.X, k.Y)
			return
		}
	}
}

// remember keeps the window's size and place, if it has one now.
func (w *window) remember() {
	select {
	case <-w.up:
	default:
		return
	}
	w.mu.Lock()
	away := w.away
	w.mu.Unlock()
	if away || runtime.WindowIsMinimised(w.ctx) {
		return
	}
	maximised := runtime.WindowIsMaximised(w.ctx)
	width, height := runtime.WindowGetSize(w.ctx)
	x, y := runtime.WindowGetPosition(w.ctx)
	w.mu.Lock()
	w.kept.Maximised = maximised
	if !maximised { // those of before are for when it is not any more
		w.kept.Width, w.kept.Height, w.kept.X, w.kept.Y, w.kept.Placed = width, height, x, y, true
		w.kept = w.kept.sane()
	}
	w.mu.Unlock()
	w.save()
}

func (w *window) save() {
	w.mu.Lock()
	k := w.kept
	w.mu.Unlock()
	if err := k.save(w.s.dataDir); err != nil {
		w.log.Warn("the window's place was not kept", "error", err)
	}
}
