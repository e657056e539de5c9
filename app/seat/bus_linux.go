package seat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	// The usual D-Bus client in Go: pure, and the tray's and the notifications' as well.
	"github.com/godbus/dbus/v5"
)

// answerWithin bounds a question to a bus or to whoever is on it.
const answerWithin = 2 * time.Second

const daemon = "org.freedesktop.DBus"

// bus is a connection to a message bus, for as long as there is one. It starts nothing: neither a bus,
// nor a service that does not run.
type bus struct {
	address func() (string, error)
	log     *slog.Logger
	signals chan *dbus.Signal // the library closes it when the bus is gone; nil while there is none

	conn   *dbus.Conn
	cancel context.CancelFunc
	again  time.Time // when to look for it again; zero while it is there
}

func newBus(address func() (string, error), log *slog.Logger) *bus {
	return &bus{address: address, log: log, again: time.Now()}
}

// sessionAddress is the session bus that is there. The library would run dbus-launch for one that is not.
func sessionAddress() (string, error) {
	if address := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" && address != "autolaunch:" {
		return address, nil
	}
	if folder := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(folder) {
		path := filepath.Join(folder, "bus")
		if _, err := os.Stat(path); err == nil {
			return "unix:path=" + dbus.EscapeBusAddressValue(path), nil
		}
	}
	return "", errors.New("no session bus is known")
}

func systemAddress() (string, error) {
	if address := os.Getenv("DBUS_SYSTEM_BUS_ADDRESS"); address != "" {
		return address, nil
	}
	return "unix:path=/run/dbus/system_bus_socket", nil
}

// connect looks for the bus when it is time to, and says whether it is there now and was not before.
func (b *bus) connect(ctx context.Context, retry time.Duration) bool {
	if b.conn != nil || time.Now().Before(b.again) {
		return false
	}
	address, err := b.address()
	if err == nil {
		err = b.dial(ctx, address)
	}
	if err != nil {
		b.log.Debug("a message bus is not there", "error", err)
		b.again = time.Now().Add(retry)
		return false
	}
	b.again = time.Time{}
	return true
}

func (b *bus) dial(ctx context.Context, address string) error {
	ctx, cancel := context.WithCancel(ctx) // ends the connection, so it lives as long
	tooLate := time.AfterFunc(answerWithin, cancel)
	conn, err := dbus.Connect(address, dbus.WithContext(ctx), dbus.WithSignalHandler(dbus.NewSequentialSignalHandler()))
	if err == nil && !tooLate.Stop() {
		err = errors.Join(context.DeadlineExceeded, conn.Close())
	}
	if err != nil {
		cancel()
		return fmt.Errorf("connecting to %s: %w", address, err)
	}
	b.conn, b.cancel, b.signals = conn, cancel, make(chan *dbus.Signal, 16)
	conn.Signal(b.signals)
	return nil
}

// drop lets go of a bus that is gone.
func (b *bus) drop(retry time.Duration) {
	b.close()
	b.again = time.Now().Add(retry)
}

func (b *bus) close() {
	if b.conn != nil {
		_ = b.conn.Close() // it is only listened to
		b.cancel()
		b.conn, b.signals = nil, nil
	}
}

func (b *bus) next() time.Time { return b.again }

// ask calls a method of somebody who is there and stores the answer.
func (b *bus) ask(ctx context.Context, at dbus.BusObject, method string, answer []any, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	err := at.CallWithContext(ctx, method, dbus.FlagNoAutoStart, args...).Store(answer...)
	if err != nil {
		return fmt.Errorf("asking %s for %s: %w", at.Destination(), method, err)
	}
	return nil
}

// owner is the connection that owns a name; empty when nobody does.
func (b *bus) owner(ctx context.Context, name string) string {
	var owner string
	if b.ask(ctx, b.conn.BusObject(), daemon+".GetNameOwner", []any{&owner}, name) != nil {
		return "" // NameHasNoOwner, or a bus that is about to be lost
	}
	return owner
}

// listen asks for signals. Who sent one is to be looked at when it comes.
func (b *bus) listen(ctx context.Context, options ...dbus.MatchOption) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := b.conn.AddMatchSignalContext(ctx, options...); err != nil {
		b.log.Info("a message bus does not let listen", "error", err)
	}
}

// listenOwner asks for the changes of who owns a name.
func (b *bus) listenOwner(ctx context.Context, name string) {
	b.listen(ctx, dbus.WithMatchSender(daemon), dbus.WithMatchInterface(daemon), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, name))
}

// newOwner reads a change of who owns a name, which nobody but the bus itself may tell.
func newOwner(signal *dbus.Signal) (name, owner string, ok bool) {
	if signal.Name != daemon+".NameOwnerChanged" || signal.Sender != daemon {
		return "", "", false
	}
	var before string
	err := dbus.Store(signal.Body, &name, &before, &owner)
	return name, owner, err == nil
}
