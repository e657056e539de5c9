// Package tray owns the icon in the notification area: what it shows of her state, its menu, and the
// approvals that can be answered there. It never decides what waits, and knows neither the window nor
// the server: package app tells it the state and is told of clicks.
//
// On Linux it speaks StatusNotifierItem and dbusmenu itself. The library that does so elsewhere,
// fyne.io/systray, can only append to a menu, drops a click that meets a removal (or panics on the channel
// that the removal closes), does not come back when the bus has died, exists once in a process, and has a
// race that the race detector reports in every test.
package tray

import (
	"log/slog"

	"aalis/backend/text"
)

// State is all that the tray shows.
type State struct {
	Working  int       // sessions in which she works
	Failed   bool      // something failed that nobody has looked at yet
	Requests []Request // approvals that wait, newest first
	Update   string    // the version that waits for a restart, "" for none
}

// Request is one approval that waits, in the raw words of models and tools: what is shown of them is
// made visible and cut here.
type Request struct{ ID, Who, What string }

// Options are what the tray needs to know and whom it tells. Every function but Language is called in a
// goroutine of its own and may take long; none may call Close, which waits for them.
type Options struct {
	Name     string               // of the program
	Language func() text.Language // of the owner; asked with each Set and whenever the menu opens

	Show    func() // the window is wanted
	Open    func() // a tab in the browser is wanted
	New     func() // a new session is wanted
	Restart func() // the newer version is wanted
	Quit    func() // the program is to end

	// Decide is told of a click on Approve or Deny. A second click on the same request reaches it only
	// when it has returned and the request still waits some time after.
	Decide func(id string, approve bool)
	Hosted func(bool) // something began, or ceased, to show the icon

	Log *slog.Logger
}
