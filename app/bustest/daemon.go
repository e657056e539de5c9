package bustest

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

const (
	daemonName = "org.freedesktop.Notifications"
	daemonPath = "/org/freedesktop/Notifications"
)

// Daemon is a notification daemon.
type Daemon struct {
	t    testing.TB
	conn *dbus.Conn
	can  []string

	mu        sync.Mutex // guards all below
	last      uint32
	shown     []Shown
	withdrawn []uint32
	hold      chan struct{} // Notify waits for it
	instant   string        // an action that is invoked before Notify has answered
	refuse    bool
	kind      string
	refused   int
}

// Shown is a notification as the daemon was told it.
type Shown struct {
	Sender        string // the program's unique name
	ID            uint32
	Program, Icon string
	Title, Body   string
	Actions       []string
	Urgency       byte
	Resident      bool
	Timeout       int32
	Replaces      uint32
}

// Daemon starts one with these capabilities. Its numbers begin after first, so that no two share one by
// chance.
func (b *Bus) Daemon(first uint32, can ...string) *Daemon {
	b.t.Helper()
	d := &Daemon{t: b.t, conn: b.Connect(), can: can, last: first}
	if err := d.conn.Export(service{d}, daemonPath, daemonName); err != nil {
		b.t.Fatal(err)
	}
	own(b.t, d.conn, daemonName)
	return d
}

// Named makes a daemon that has not been asked yet say that it is of a kind.
func (d *Daemon) Named(kind string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kind = kind
}

// Stop takes the daemon off the bus, with all that it shows.
func (d *Daemon) Stop() { _ = d.conn.Close() }

// Hold makes every Notify wait until the function is called.
func (d *Daemon) Hold() (release func()) {
	hold := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hold = hold
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.hold = nil
		close(hold)
	}
}

// Instantly makes a person press a button before Notify has answered.
func (d *Daemon) Instantly(action string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.instant = action
}

// Refuse makes Notify fail, or not.
func (d *Daemon) Refuse(yes bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refuse = yes
}

// Refused counts the failures.
func (d *Daemon) Refused() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused
}

// service has only the methods that are called over the bus.
type service struct{ d *Daemon }

func (s service) GetCapabilities() ([]string, *dbus.Error) { return s.d.can, nil }

func (s service) GetServerInformation() (kind, vendor, version, spec string, _ *dbus.Error) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	return s.d.kind, "nobody", "1", "1.2", nil
}

func (s service) Notify(program string, replaces uint32, icon, title, body string, actions []string, hints map[string]dbus.Variant, timeout int32, sender dbus.Sender) (uint32, *dbus.Error) {
	d := s.d
	d.mu.Lock()
	d.last++
	id := d.last
	n := Shown{ID: id, Sender: string(sender), Program: program, Icon: icon, Title: title, Body: body, Actions: actions, Timeout: timeout, Replaces: replaces}
	n.Urgency, _ = hints["urgency"].Value().(byte)
	n.Resident, _ = hints["resident"].Value().(bool)
	if d.refuse {
		d.refused++
	} else {
		d.shown = append(d.shown, n)
	}
	hold, instant, refuse := d.hold, d.instant, d.refuse
	d.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if refuse {
		return 0, dbus.NewError("org.freedesktop.Notifications.Error.ExcessNotificationGeneration", []any{"too many"})
	}
	if instant != "" {
		d.Press(id, instant)
	}
	return id, nil
}

func (s service) CloseNotification(id uint32) *dbus.Error {
	s.d.mu.Lock()
	s.d.withdrawn = append(s.d.withdrawn, id)
	s.d.mu.Unlock()
	s.d.emit("NotificationClosed", id, uint32(3))
	return nil
}

func (d *Daemon) emit(member string, args ...any) {
	err := d.conn.Emit(daemonPath, daemonName+"."+member, args...)
	if err != nil && !errors.Is(err, dbus.ErrClosed) { // it may have been stopped meanwhile
		d.t.Errorf("emitting %s: %v", member, err)
	}
}

// Press presses a button.
func (d *Daemon) Press(id uint32, action string) { d.emit("ActionInvoked", id, action) }

// Dismiss closes a notification as a person does.
func (d *Daemon) Dismiss(id uint32) { d.emit("NotificationClosed", id, uint32(2)) }

// Forge sends, from another program, a signal straight to the one with the unique name to, past all that
// it has asked the bus for. It has arrived when Forge returns.
func (b *Bus) Forge(to string, path dbus.ObjectPath, name string, args ...any) {
	b.t.Helper()
	conn := b.Connect()
	at := strings.LastIndex(name, ".")
	conn.Send(&dbus.Message{Type: dbus.TypeSignal, Body: args, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldDestination: dbus.MakeVariant(to), dbus.FieldPath: dbus.MakeVariant(path),
		dbus.FieldInterface: dbus.MakeVariant(name[:at]), dbus.FieldMember: dbus.MakeVariant(name[at+1:]),
		dbus.FieldSignature: dbus.MakeVariant(dbus.SignatureOf(args...)),
	}}, nil)
	if err := conn.BusObject().Call("org.freedesktop.DBus.GetId", 0).Err; err != nil {
		b.t.Error(err)
	}
}

// ForgePress forges that a button was pressed.
func (b *Bus) ForgePress(to string, id uint32, action string) {
	b.t.Helper()
	b.Forge(to, daemonPath, daemonName+".ActionInvoked", id, action)
}

// Shown gives all that was ever shown.
func (d *Daemon) Shown() []Shown {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.shown)
}

// Titled waits for a notification and gives the last with that title.
func (d *Daemon) Titled(title string) Shown {
	d.t.Helper()
	var found Shown
	Until(d.t, "a notification "+title, func() bool {
		for _, s := range d.Shown() {
			if s.Title == title {
				found = s
			}
		}
		return found.ID != 0
	})
	return found
}

// Withdrawn reports whether the program took a notification back.
func (d *Daemon) Withdrawn(id uint32) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.withdrawn, id)
}
