// Package bus owns how a part of the shell stays on the desktop's session bus: a connection of its own,
// and the next one when that has died. It never starts a bus, and knows nothing of what is said there.
package bus

import (
	"context"
	"errors"
	"log/slog"
	"time"

	// The D-Bus library that the window's toolkit brings anyway; pure Go.
	"github.com/godbus/dbus/v5"
)

// How long after a failure the next try follows; doubled each time. A bus that is not there must cost an
// idle program nothing to speak of.
const (
	firstWait = 250 * time.Millisecond
	longWait  = 30 * time.Second
)

// Keep calls serve with a connection, again and again until ctx ends. The context that serve gets ends
// with its connection. A bus that is missing is logged once and waited for. The options are for each
// connection.
func Keep(ctx context.Context, log *slog.Logger, serve func(ctx context.Context, conn *dbus.Conn) error, options ...dbus.ConnOption) {
	wait, missing := firstWait, false
	for ctx.Err() == nil {
		conn, err := Dial(ctx, options...)
		if err == nil {
			began := time.Now()
			if missing {
				log.Info("the session bus is there")
			}
			missing = false
			err = serve(conn.Context(), conn)
			_ = conn.Close() // it may be closed already
			if ctx.Err() == nil {
				log.Warn("the connection to the session bus ended", "error", err)
			}
			if time.Since(began) > longWait {
				wait = firstWait
			}
		} else if !missing && ctx.Err() == nil {
			missing = true
			log.Info("no session bus; waiting for one", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
			wait = min(2*wait, longWait)
		}
	}
}

// Dial makes a connection that ends with ctx. Signals reach its channels in the order they were sent.
func Dial(ctx context.Context, options ...dbus.ConnOption) (*dbus.Conn, error) {
	options = append([]dbus.ConnOption{dbus.WithContext(ctx), dbus.WithSignalHandler(dbus.NewSequentialSignalHandler())}, options...)
	conn, err := dbus.SessionBusPrivateNoAutoStartup(options...)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(conn.Auth(nil), conn.Hello()); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// The bus itself.
const (
	Name = "org.freedesktop.DBus"
	Path = "/org/freedesktop/DBus"
)

// Change is one of who answers to a name; New is empty when nobody does.
type Change struct{ Name, New string }

// ChangeOf reads a signal of the bus. ok is false for every other signal, a forged one among them.
func ChangeOf(s *dbus.Signal) (change Change, ok bool) {
	if s.Sender != Name || s.Name != Name+".NameOwnerChanged" || len(s.Body) != 3 {
		return Change{}, false
	}
	change.Name, ok = s.Body[0].(string)
	now, also := s.Body[2].(string)
	change.New = now
	return change, ok && also
}

// Follow asks the bus to tell when the owner of name changes, and gives the owner of now, "" for none.
func Follow(ctx context.Context, conn *dbus.Conn, name string) (owner string, err error) {
	err = conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(Name), dbus.WithMatchObjectPath(Path),
		dbus.WithMatchInterface(Name), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, name))
	if err != nil {
		return "", err
	}
	return Owner(ctx, conn, name)
}

// Owner gives the unique name of who answers to name now, "" for nobody.
func Owner(ctx context.Context, conn *dbus.Conn, name string) (owner string, err error) {
	err = conn.BusObject().CallWithContext(ctx, Name+".GetNameOwner", 0, name).Store(&owner)
	var refused dbus.Error
	if errors.As(err, &refused) && refused.Name == Name+".Error.NameHasNoOwner" {
		return "", nil
	}
	return owner, err
}
