// Package notify owns the desktop's notifications: showing each once, taking it back when what it
// speaks of is settled, and telling which button was pressed. It never decides anything: a notification
// that is closed, or that nobody sees, means nothing.
package notify

import (
	"log/slog"

	"aalis/backend/text"
)

// Note is one notification. Title and Body may hold raw words of models and tools: what could hide in
// them is made visible, and what is too long is cut, here.
type Note struct {
	Key         string // names it to Withdraw and to Act
	Title, Body string
	Urgent      bool // stays until it is answered, dismissed or withdrawn
	Actions     []Action
}

// Action is a button.
type Action struct{ ID, Label string }

// Open is the id of the action that a click on the notification itself also means.
const Open = "open"

// Options are what the notifier needs to know and whom it tells.
type Options struct {
	Name string // of the program
	Icon string // the name of an icon of the theme, or the path of a picture

	// Language of the owner, for the sentence that a notification without buttons carries; nil is English.
	Language func() text.Language

	// Act is told the key of a note and the id of one of its actions, in a goroutine of its own. It may
	// take long, and must not call Close, which waits for it.
	Act func(key, action string)

	Log *slog.Logger
}
