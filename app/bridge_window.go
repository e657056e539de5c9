package app

import (
	"errors"
)

// hooks are what the page may ask of the window and of the shell behind it.
type hooks interface {
	painted()
	front(bool)
	openLink(url string) error
	openTab() error
	decide(question, choice string)
	hello() greeting
	zoom(factor float64)
	quit()
	restart()
}

// greeting is what a page is told first. A zoom of 0 means that the window offers none.
type greeting struct {
	Zoom float64 `json:"zoom"`
	Go   *target `json:"go,omitempty"`
}

var errNoWindow = errors.New("this page is in no window of the program")

func (b *Bridge) with(do func(hooks)) error {
	if b.window == nil {
		return errNoWindow
	}
	do(b.window)
	return nil
}

// Painted says that the page has drawn, after it came up and after each event "paint".
func (b *Bridge) Painted() error { return b.with(func(w hooks) { w.painted() }) }

// Front says whether the page is visible and has the focus.
func (b *Bridge) Front(front bool) error { return b.with(func(w hooks) { w.front(front) }) }

// OpenLink opens a page of the web, or a mail, outside; everything else is refused (SEC-12).
func (b *Bridge) OpenLink(url string) (err error) {
	return errors.Join(b.with(func(w hooks) { err = w.openLink(url) }), err)
}

// OpenTab opens a signed-in tab in the browser.
func (b *Bridge) OpenTab() (err error) {
	return errors.Join(b.with(func(w hooks) { err = w.openTab() }), err)
}

// Decide answers an event "question": seen, finish, stop or cancel.
func (b *Bridge) Decide(question, choice string) error {
	return b.with(func(w hooks) { w.decide(question, choice) })
}

// Hello is what the page asks when it can go somewhere: its zoom, and where to go first. What it must
// know beside comes as events after it.
func (b *Bridge) Hello() (g greeting, err error) {
	err = b.with(func(w hooks) { g = w.hello() })
	return g, err
}

// Zoom shows the page larger or smaller from now on; 1 is 100 %.
func (b *Bridge) Zoom(factor float64) error { return b.with(func(w hooks) { w.zoom(factor) }) }

// Quit is the wish to end the program.
func (b *Bridge) Quit() error { return b.with(func(w hooks) { w.quit() }) }

// Restart is the wish to start it again, for a newer version of it.
func (b *Bridge) Restart() error { return b.with(func(w hooks) { w.restart() }) }
