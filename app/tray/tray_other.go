//go:build !linux

package tray

// Tray is the icon. It does nothing on this system yet.
type Tray struct{}

// Start shows the icon and returns at once.
func Start(Options) *Tray { return &Tray{} }

// Set says what to show from now on.
func (t *Tray) Set(State) {}

// Hosted reports whether something shows the icon now.
func (t *Tray) Hosted() bool { return false }

// Close takes the icon away and waits for what the tray has started.
func (t *Tray) Close() {}
