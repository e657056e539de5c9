package seat

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	loginName    = "org.freedesktop.login1"
	loginPath    = "/org/freedesktop/login1"
	loginManager = loginName + ".Manager"
	loginSession = loginName + ".Session"
	properties   = "org.freedesktop.DBus.Properties"
)

// login is what systemd's session keeper, or elogind, says of the session that this program runs in.
type login struct {
	bus  *bus
	pace pace

	owner   string // the keeper's connection; empty while there is none
	session dbus.ObjectPath
	now     session

	asked   time.Time // when somebody asked the session to lock; zero when nobody did
	looked  time.Time // when the session was read last
	removed bool      // the session that was ours is gone
	going   bool      // the machine goes down
}

// session are the properties of a session that matter here.
type session struct {
	graphical bool
	active    bool // in front
	locked    bool
	closing   bool
	idleSince time.Time // zero: in use, or it does not say
}

// begin looks at a bus that has just come.
func (l *login) begin(ctx context.Context) {
	l.bus.listenOwner(ctx, loginName)
	for _, member := range []string{"SessionNew", "SessionRemoved", "PrepareForShutdown"} {
		l.bus.listen(ctx, dbus.WithMatchInterface(loginManager), dbus.WithMatchObjectPath(loginPath), dbus.WithMatchMember(member))
	}
	l.owner = l.bus.owner(ctx, loginName)
	l.find(ctx)
}

// forget takes nothing for true that only the bus could take back. A session that ended has ended.
func (l *login) forget() {
	l.owner, l.session, l.now, l.asked, l.going = "", "", session{}, time.Time{}, false
}

// take is told of a signal.
func (l *login) take(ctx context.Context, signal *dbus.Signal) {
	if name, owner, ok := newOwner(signal); ok && name == loginName {
		l.forget()
		l.owner = owner
		l.find(ctx)
		return
	}
	if signal.Sender != l.owner {
		return
	}
	switch signal.Name {
	case loginManager + ".SessionNew":
		if l.session == "" {
			l.find(ctx)
		}
	case loginManager + ".SessionRemoved":
		var id string
		var path dbus.ObjectPath
		if dbus.Store(signal.Body, &id, &path) == nil && path == l.session {
			l.removed = true
		}
	case loginManager + ".PrepareForShutdown":
		_ = dbus.Store(signal.Body, &l.going) // one that says something else says nothing
	}
	if signal.Path != l.session {
		return
	}
	switch signal.Name {
	case loginSession + ".Lock":
		l.asked = time.Now()
	case loginSession + ".Unlock":
		l.asked = time.Time{}
	}
	l.look(ctx) // whatever has changed of it
}

// find settles which session this program runs in: the one named by the environment, that of the
// process, or the one that the user's desktop is in. A program that the user's own service manager
// started is in none, and one that came over the network is in another than its display, so a graphical
// one is preferred.
func (l *login) find(ctx context.Context) {
	if l.owner == "" {
		return
	}
	manager := l.bus.conn.Object(loginName, loginPath)
	var paths []dbus.ObjectPath
	var path dbus.ObjectPath
	if id := os.Getenv("XDG_SESSION_ID"); id != "" && l.bus.ask(ctx, manager, loginManager+".GetSession", []any{&path}, id) == nil {
		paths = append(paths, path)
	}
	if l.bus.ask(ctx, manager, loginManager+".GetSessionByPID", []any{&path}, uint32(os.Getpid())) == nil {
		paths = append(paths, path)
	}
	if l.bus.ask(ctx, manager, loginManager+".GetUser", []any{&path}, uint32(os.Getuid())) == nil {
		var display struct {
			ID   string
			Path dbus.ObjectPath
		}
		var value dbus.Variant
		err := l.bus.ask(ctx, l.bus.conn.Object(loginName, path), properties+".Get", []any{&value}, loginName+".User", "Display")
		if err == nil && value.Store(&display) == nil && display.ID != "" {
			paths = append(paths, display.Path)
		}
	}
	l.session, l.now = "", session{}
	for _, path := range paths {
		now, ours := l.read(ctx, path)
		if ours && (l.session == "" || now.graphical && !l.now.graphical) {
			l.session, l.now = path, now
		}
	}
	if l.session == "" {
		return
	}
	l.looked = time.Now()
	l.bus.listen(ctx, dbus.WithMatchObjectPath(l.session), dbus.WithMatchInterface(loginSession))
	l.bus.listen(ctx, dbus.WithMatchObjectPath(l.session), dbus.WithMatchInterface(properties), dbus.WithMatchMember("PropertiesChanged"))
	l.look(ctx) // what changed before we listened
}

// look reads the session again.
func (l *login) look(ctx context.Context) {
	l.looked = time.Now()
	before := l.now.locked
	if now, ours := l.read(ctx, l.session); ours {
		l.now = now
	}
	if before && !l.now.locked { // somebody is back, however it was locked
		l.asked = time.Time{}
	}
}

// read gives the properties of a session, and whether a user's program may take it for its own: it is
// the user's, and no part of how people log in.
func (l *login) read(ctx context.Context, path dbus.ObjectPath) (now session, ours bool) {
	var all map[string]dbus.Variant
	if err := l.bus.ask(ctx, l.bus.conn.Object(loginName, path), properties+".GetAll", []any{&all}, loginSession); err != nil {
		l.bus.log.Debug("the session does not tell", "error", err)
		return session{}, false
	}
	var user struct {
		UID  uint32
		Path dbus.ObjectPath
	}
	var class, kind, state string
	var idle bool
	var idleSince uint64 // microseconds of the wall clock
	for name, into := range map[string]any{
		"User": &user, "Class": &class, "Type": &kind, "State": &state, "Active": &now.active,
		"LockedHint": &now.locked, "IdleHint": &idle, "IdleSinceHint": &idleSince,
	} {
		if value, there := all[name]; there {
			_ = value.Store(into) // one of another type says nothing
		}
	}
	now.graphical = kind == "x11" || kind == "wayland" || kind == "mir"
	now.closing = state == "closing"
	// Of a session without graphics it is the terminal's, which nobody uses under a startx.
	if idle && now.graphical {
		now.idleSince = time.UnixMicro(int64(idleSince))
	}
	return now, user.UID == uint32(os.Getuid()) && strings.HasPrefix(class, "user")
}

// locked says whether the session is: it says so itself, or somebody asked it to a moment ago and it
// has had no time to. A wish that no screen obeys must not keep its owner away.
func (l *login) locked(now time.Time) bool {
	return l.now.locked || !l.asked.IsZero() && now.Before(l.asked.Add(l.pace.obeyed))
}

func (l *login) idle(now time.Time, most time.Duration) bool {
	return !l.now.idleSince.IsZero() && !now.Before(l.now.idleSince.Add(most))
}

func (l *login) ending() bool { return l.removed || l.going || l.now.closing }

// catchUp looks at a session that is not in front: that it closes is not told by a signal, and it stays
// for as long as one of its programs, such as this one, lives.
func (l *login) catchUp(ctx context.Context) {
	if next := l.lookAgain(); !next.IsZero() && !time.Now().Before(next) {
		l.look(ctx)
	}
}

func (l *login) lookAgain() time.Time {
	if l.session == "" || l.now.active || l.ending() {
		return time.Time{}
	}
	return l.looked.Add(l.pace.inactive)
}

// next is the moment at which time alone changes something.
func (l *login) next(now time.Time, most time.Duration) time.Time {
	next := l.lookAgain()
	if !l.asked.IsZero() && l.locked(now) && !l.now.locked {
		next = earliest(next, l.asked.Add(l.pace.obeyed))
	}
	if !l.now.idleSince.IsZero() && !l.idle(now, most) {
		next = earliest(next, l.now.idleSince.Add(most))
	}
	return next
}
