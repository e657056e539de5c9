package tray

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/godbus/dbus/v5"

	"aalis/app/bus"
)

// Tray is the icon. It lives on a connection of its own to the session bus, and on the next one when
// that has died.
type Tray struct {
	core    *core
	calls   *calls
	stop    context.CancelFunc
	wg      sync.WaitGroup
	changed chan struct{} // holds one: there is something to publish
	hosted  atomic.Bool
	moved   chan struct{} // holds one: hosted is another
}

// Start shows the icon as soon as something is there to show it, and returns at once.
func Start(o Options) *Tray {
	ctx, stop := context.WithCancel(context.Background())
	t := &Tray{core: newCore(o), calls: newCalls(), stop: stop, changed: make(chan struct{}, 1), moved: make(chan struct{}, 1)}
	t.wg.Go(func() { bus.Keep(ctx, o.Log, t.serve, dbus.WithIncomingInterceptor(t.calls.intercept)) })
	t.wg.Go(func() { t.tellHosted(ctx) })
	return t
}

// Set says what to show from now on. The latest wins.
func (t *Tray) Set(s State) {
	t.core.set(s)
	raise(t.changed)
}

// Hosted reports whether something shows the icon now.
func (t *Tray) Hosted() bool { return t.hosted.Load() }

// Close takes the icon away and waits for what the tray has started.
func (t *Tray) Close() {
	t.stop()
	t.wg.Wait()
	t.calls.close()
	t.core.close()
}

func raise(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// tellHosted tells of hosts one after the other, so that the last word is the true one.
func (t *Tray) tellHosted(ctx context.Context) {
	said := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.moved:
		}
		if now := t.hosted.Load(); now != said {
			said = now
			if t.core.o.Hosted != nil {
				t.core.o.Hosted(now)
			}
		}
	}
}

func (t *Tray) setHosted(yes bool) {
	if t.hosted.Swap(yes) != yes {
		raise(t.moved)
	}
}

// pause is the least time between two publications: a panel lays its menu out anew each time.
const pause = 25 * time.Millisecond

// serve is the tray on one connection, until that ends.
func (t *Tray) serve(ctx context.Context, conn *dbus.Conn) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := &publisher{core: t.core, conn: conn, menu: newMenu(t.core.click), icon: &notifierItem{show: func() { t.core.click(showID) }}}
	p.menu.opening = p.publish
	t.calls.forget()
	p.publish()
	if err := p.export(); err != nil {
		return fmt.Errorf("showing the tray on the session bus: %w", err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { t.calls.answer(ctx, conn, p.menu) })
	failed := make(chan error, 1)
	wg.Go(func() {
		defer t.setHosted(false)
		failed <- t.followHosts(ctx, conn)
		stop()
	})
	for {
		select {
		case <-ctx.Done():
			stop()
			return <-failed
		case <-t.changed:
		}
		p.publish()
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	watcherPath = "/StatusNotifierWatcher"
	// A watcher that does not answer in this time shows nothing; it may later.
	watcherWithin = 5 * time.Second
)

// followHosts registers the icon with every watcher that comes, and follows whether it has a host that
// shows icons.
func (t *Tray) followHosts(ctx context.Context, conn *dbus.Conn) error {
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	owner, err := bus.Follow(ctx, conn, watcherName)
	if err != nil {
		return fmt.Errorf("looking for a panel: %w", err)
	}
	for _, member := range []string{"StatusNotifierHostRegistered", "StatusNotifierHostUnregistered"} {
		if err := conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(watcherName), dbus.WithMatchInterface(watcherName), dbus.WithMatchMember(member)); err != nil {
			return fmt.Errorf("following panels: %w", err)
		}
	}
	t.setHosted(t.register(ctx, conn, owner))
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case s, open := <-signals:
			if !open {
				return dbus.ErrClosed
			}
			change, known := bus.ChangeOf(s)
			switch {
			case known && change.Name == watcherName:
				owner = change.New
				t.setHosted(t.register(ctx, conn, owner))
			case owner != "" && s.Sender == owner: // a host came or went
				t.setHosted(t.hasHost(ctx, conn, owner))
			}
		}
	}
}

func (t *Tray) register(ctx context.Context, conn *dbus.Conn, watcher string) bool {
	if watcher == "" {
		return false
	}
	within, cancel := context.WithTimeout(ctx, watcherWithin)
	defer cancel()
	err := conn.Object(watcher, watcherPath).CallWithContext(within, watcherName+".RegisterStatusNotifierItem", 0, itemPath).Err
	if err != nil {
		if ctx.Err() == nil {
			t.core.o.Log.Warn("the panel does not take the tray icon", "error", err)
		}
		return false
	}
	return t.hasHost(ctx, conn, watcher)
}

// hasHost asks the watcher. One that does not know the question is taken for a host itself.
func (t *Tray) hasHost(ctx context.Context, conn *dbus.Conn, watcher string) bool {
	ctx, cancel := context.WithTimeout(ctx, watcherWithin)
	defer cancel()
	var answer dbus.Variant
	err := conn.Object(watcher, watcherPath).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, watcherName, "IsStatusNotifierHostRegistered").Store(&answer)
	has, known := answer.Value().(bool)
	return err != nil && ctx.Err() == nil || !known && err == nil || has
}
