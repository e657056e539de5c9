package notify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"

	"aalis/app/bus"
	"aalis/backend/text"
)

const (
	name = "org.freedesktop.Notifications"
	path = "/org/freedesktop/Notifications"
)

// Signals kept for a note whose number is not known yet.
const mostEarly = 64

// daemon is the notification daemon as seen from one connection. One goroutine has it. It speaks to the
// daemon by its unique name, so that every number and every signal belongs to one life of it; and has one
// call under way, so that a daemon that is slow is not piled upon.
type daemon struct {
	n    *Notifier
	ctx  context.Context // of the connection, for its calls
	conn *dbus.Conn

	owner       string          // unique name, "" while there is none
	known       bool            // the two below have been asked for
	kind        string          // its name for itself
	can         map[string]bool // capabilities
	activatable bool            // the bus starts one when it is called
	starting    bool

	calls   chan *dbus.Call
	answer  func(*dbus.Call) // what the call under way is for, nil for none
	sending bool             // it is a note: signals may come before its number is known
	early   []*dbus.Signal   // those
}

// serve shows notes on one connection, until that ends or the notifier closes.
func (n *Notifier) serve(ctx context.Context, conn *dbus.Conn) error {
	d := &daemon{n: n, ctx: ctx, conn: conn, calls: make(chan *dbus.Call, 1)}
	signals := make(chan *dbus.Signal, 64)
	conn.Signal(signals)
	if err := d.find(); err != nil {
		return err
	}
	if n.setServing(true) {
		return context.Canceled
	}
	defer n.setServing(false)
	defer n.available.Store(false)
	n.lost("") // to another bus: none of these numbers means anything
	for {
		d.advance()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-n.leaving:
			d.leave()
			raise(n.left)
			return context.Canceled
		case <-n.changed:
		case s, open := <-signals:
			if !open {
				return dbus.ErrClosed
			}
			d.signal(s)
		case call := <-d.calls:
			d.answered(call)
		}
	}
}

// find looks for a daemon, running or to be started, and follows the one that runs.
func (d *daemon) find() error {
	for _, member := range []string{"ActionInvoked", "NotificationClosed"} {
		if err := d.conn.AddMatchSignalContext(d.ctx, dbus.WithMatchSender(name), dbus.WithMatchInterface(name), dbus.WithMatchMember(member)); err != nil {
			return fmt.Errorf("following notifications: %w", err)
		}
	}
	owner, err := bus.Follow(d.ctx, d.conn, name)
	if err != nil {
		return fmt.Errorf("looking for a notification daemon: %w", err)
	}
	d.owner = owner
	d.learnActivatable()
	return nil
}

func (d *daemon) learnActivatable() {
	var names []string
	if err := d.conn.BusObject().CallWithContext(d.ctx, bus.Name+".ListActivatableNames", 0).Store(&names); err == nil {
		d.activatable = slices.Contains(names, name)
	}
	d.tellAvailable()
}

func (d *daemon) tellAvailable() { d.n.available.Store(d.owner != "" || d.activatable) }

// advance withdraws what is to be withdrawn, and makes the next call towards showing what waits.
func (d *daemon) advance() {
	for _, at := range d.n.withdrawals() {
		if at.daemon == d.owner {
			d.conn.Object(d.owner, path).Go(name+".CloseNotification", dbus.FlagNoReplyExpected, nil, at.id)
		}
	}
	if d.answer != nil {
		return
	}
	it := d.n.next()
	switch {
	case it == nil:
	case d.owner == "" && d.activatable && !d.starting:
		d.starting = true
		d.call(d.conn.BusObject(), d.started, bus.Name+".StartServiceByName", name, uint32(0))
	case d.owner == "":
	case !d.known:
		d.learn()
	default:
		d.send(it)
	}
}

func (d *daemon) call(on dbus.BusObject, answer func(*dbus.Call), method string, args ...any) {
	d.answer = answer
	on.GoWithContext(d.ctx, method, 0, d.calls, args...)
}

func (d *daemon) answered(call *dbus.Call) {
	answer := d.answer
	d.answer = nil
	answer(call)
}

// started is told how starting a daemon went; its name follows by a signal.
func (d *daemon) started(call *dbus.Call) {
	if call.Err == nil {
		return
	}
	d.starting, d.activatable = false, false // not tried again before one has come by itself
	d.tellAvailable()
	d.n.o.Log.Warn("the notification daemon cannot be started", "error", call.Err)
}

// learn asks what the daemon is, then what it can do.
func (d *daemon) learn() {
	owner := d.owner
	d.call(d.conn.Object(owner, path), func(call *dbus.Call) {
		var vendor, version, spec string
		if err := call.Store(&d.kind, &vendor, &version, &spec); err != nil {
			d.kind = "" // an old one
		}
		if owner != d.owner {
			return
		}
		d.call(d.conn.Object(owner, path), func(call *dbus.Call) { d.learned(owner, call) }, name+".GetCapabilities")
	}, name+".GetServerInformation")
}

func (d *daemon) learned(owner string, call *dbus.Call) {
	if owner != d.owner {
		return
	}
	var list []string
	if err := call.Store(&list); err != nil {
		d.n.o.Log.Warn("the notification daemon does not tell what it can do", "error", err)
	}
	d.known, d.can = true, make(map[string]bool, len(list))
	for _, what := range list {
		d.can[what] = true
	}
}

// xfce draws a button for what a click on the notification itself means; others do not.
const xfce = "Xfce Notify Daemon"

func (d *daemon) actions(note Note) []string {
	all := []string{}
	for _, a := range note.Actions {
		if a.ID == Open {
			all = append(all, "default", a.Label)
		}
		if a.ID != Open || d.kind != xfce {
			all = append(all, a.ID, a.Label)
		}
	}
	return all
}

func (d *daemon) send(it *note) {
	title, body := readable(it.Note)
	actions := []string{}
	if d.can["actions"] {
		actions = d.actions(it.Note)
	} else if len(it.Actions) > 0 {
		body = strings.TrimPrefix(body+"\n", "\n") + text.New("notify.elsewhere").In(d.language())
	}
	if d.can["body-markup"] {
		body = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(body)
	}
	hints := map[string]dbus.Variant{"urgency": dbus.MakeVariant(byte(1)), "desktop-entry": dbus.MakeVariant("aalis")}
	timeout := int32(-1) // as the daemon likes
	if it.Urgent {
		// Resident: a look at the window is no answer, and the note stays.
		hints["urgency"], hints["resident"] = dbus.MakeVariant(byte(2)), dbus.MakeVariant(true)
		timeout = 0
	}
	to := d.owner
	d.n.tried(it)
	d.sending = true
	d.call(d.conn.Object(to, path), func(c *dbus.Call) { d.sent(it, to, c) }, name+".Notify",
		d.n.o.Name, uint32(0), d.n.o.Icon, title, body, actions, hints, timeout)
}

func (d *daemon) language() text.Language {
	if d.n.o.Language == nil {
		return text.English
	}
	return d.n.o.Language()
}

func (d *daemon) sent(it *note, to string, call *dbus.Call) {
	d.sending = false
	early := d.early
	d.early = nil
	var id uint32
	err := call.Store(&id)
	switch {
	case to != d.owner: // that daemon has ended: it waits for the next
		if err == nil {
			d.n.sent(it, place{to, id})
			d.n.lost(d.owner)
		}
		return
	case err != nil:
		if now, problem := bus.Owner(d.ctx, d.conn, name); problem == nil && now != to {
			// That daemon has ended; the signal that says so, and who follows, is on its way.
			d.owner, d.known, d.starting = "", false, true
			return
		}
		d.n.o.Log.Warn("the notification daemon does not show a note", "error", err)
		d.n.sent(it, place{})
		return
	}
	d.n.sent(it, place{to, id})
	for _, s := range early {
		d.signal(s)
	}
}

// signal takes only what the daemon itself has sent: any program on the bus can send the like.
func (d *daemon) signal(s *dbus.Signal) {
	if change, is := bus.ChangeOf(s); is {
		if change.Name == name {
			d.succeed(change.New)
		}
		return
	}
	if s.Sender != d.owner || d.owner == "" || len(s.Body) != 2 {
		return
	}
	id, numbered := s.Body[0].(uint32)
	if !numbered {
		return
	}
	it := d.n.shownAt(place{d.owner, id})
	if it == nil {
		if d.sending && len(d.early) < mostEarly {
			d.early = append(d.early, s)
		}
		return
	}
	switch word, spoken := s.Body[1].(string); {
	case s.Name == name+".NotificationClosed":
		d.n.over(it)
	case s.Name == name+".ActionInvoked" && spoken:
		d.n.pressed(it, word)
	}
}

// succeed is told who is the daemon from now on, "" for nobody.
func (d *daemon) succeed(owner string) {
	d.owner, d.known, d.starting, d.early = owner, false, false, nil
	d.n.lost(owner)
	if owner == "" {
		d.learnActivatable()
	}
	d.tellAvailable()
}

// leave withdraws everything, also what is only just being shown, and sees that the bus has taken it.
func (d *daemon) leave() {
	ctx, cancel := context.WithTimeout(d.ctx, closeWithin/2)
	defer cancel()
	if d.sending {
		select {
		case <-ctx.Done():
		case call := <-d.calls:
			d.answered(call)
		}
	}
	d.answer = func(*dbus.Call) {} // no further one
	d.advance()
	_ = d.conn.BusObject().CallWithContext(ctx, bus.Name+".GetId", 0).Err // a sign that all before it has arrived
}
