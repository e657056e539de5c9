package notify

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	// Toasts as the window's toolkit shows them, without its loss of words' meaning; only the Windows build
	// has it.
	"git.sr.ht/~jackmordaunt/go-toast/v2/wintoast"
)

// activator names this program to Windows as the one to call when a toast is pressed.
const activator = "{6F0C3A5E-5B0A-4E57-9C55-3B1D6E0D2A41}"

// Notifier shows toasts. Windows has them for good: the library cannot take one back, so a press on one
// that was withdrawn is ignored.
type Notifier struct {
	o         Options
	icon      string
	wg        sync.WaitGroup // the goroutine that shows
	acts      sync.WaitGroup // calls of Act
	available atomic.Bool
	changed   chan struct{} // holds one: there is something to show
	leaving   chan struct{} // closed by Close

	mu      sync.Mutex // guards all below
	closed  bool
	notes   map[string]Note
	waiting []Note
}

// Start returns at once.
func Start(o Options) *Notifier {
	n := &Notifier{o: o, changed: make(chan struct{}, 1), leaving: make(chan struct{}), notes: map[string]Note{}}
	if filepath.IsAbs(o.Icon) {
		n.icon = o.Icon
	}
	n.wg.Go(n.run)
	return n
}

// Show shows a note, once per key until it is withdrawn. It never waits for the desktop.
func (n *Notifier) Show(note Note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.notes[note.Key]; known || n.closed {
		return
	}
	n.notes[note.Key] = note
	n.waiting = append(n.waiting, note)
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

// Withdraw takes a note back. Its key may be shown again.
func (n *Notifier) Withdraw(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.notes, key)
}

// Available reports whether the desktop shows notifications.
func (n *Notifier) Available() bool { return n.available.Load() }

// Close ends the showing and waits for what the notifier has started.
func (n *Notifier) Close() {
	n.mu.Lock()
	if !n.closed {
		n.closed = true
		close(n.leaving)
	}
	n.mu.Unlock()
	n.wg.Wait()
	n.acts.Wait()
}

func (n *Notifier) run() {
	runtime.LockOSThread() // the system's objects belong to the thread that made them
	defer runtime.UnlockOSThread()
	exe, err := os.Executable()
	if err == nil {
		err = wintoast.SetAppData(wintoast.AppData{AppID: n.o.Name, GUID: activator, ActivationExe: exe, IconPath: n.icon})
	}
	if err != nil {
		n.o.Log.Warn("Windows takes no notifications from this program", "error", err)
		return
	}
	wintoast.SetActivationCallback(func(_, args string, _ []wintoast.UserData) { n.pressed(args) })
	n.available.Store(true)
	defer n.available.Store(false)
	for {
		select {
		case <-n.leaving:
			return
		case <-n.changed:
		}
		for _, note := range n.take() {
			if err := wintoast.Push(n.o.Name, toast(note, n.icon)); err != nil {
				n.o.Log.Warn("a notification could not be shown", "error", err)
			}
		}
	}
}

// take gives what waits and was not withdrawn meanwhile.
func (n *Notifier) take() []Note {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []Note
	for _, note := range n.waiting {
		if _, wanted := n.notes[note.Key]; wanted {
			all = append(all, note)
		}
	}
	n.waiting = nil
	return all
}

func (n *Notifier) pressed(args string) {
	key, action, ok := pressed(args)
	n.mu.Lock()
	defer n.mu.Unlock()
	note, known := n.notes[key]
	if !ok || !known || n.closed {
		return
	}
	if id, has := meant(note, action); has {
		n.acts.Go(func() { n.o.Act(key, id) })
	}
}
