//go:build !linux && !windows

package notify

// Notifier shows notifications. It does nothing on this system yet.
type Notifier struct{}

// Start returns at once; a desktop without notifications is no error.
func Start(Options) *Notifier { return &Notifier{} }

// Show shows a note, once per key until it is withdrawn. It never waits for the desktop.
func (n *Notifier) Show(Note) {}

// Withdraw takes a note back, shown or not. Its key may be shown again.
func (n *Notifier) Withdraw(string) {}

// Available reports whether the desktop shows notifications.
func (n *Notifier) Available() bool { return false }

// Close withdraws what is shown and waits for what the notifier has started.
func (n *Notifier) Close() {}
