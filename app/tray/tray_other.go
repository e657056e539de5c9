//go:build !linux && !windows

package tray

// Tray is the icon. It does nothing on this system yet: on macOS its loop must start on the main thread
// before the window's toolkit takes that.
type Tray struct{ core *core }

// Start returns at once.
func Start(o Options) *Tray { return &Tray{core: newCore(o)} }

// Set says what to show from now on.
func (t *Tray) Set(s State) { t.core.set(s) }

// Hosted reports whether something shows the icon: nothing does.
func (t *Tray) Hosted() bool { return false }

// Close waits for what the tray has started.
func (t *Tray) Close() { t.core.close() }
