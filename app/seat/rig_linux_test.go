package seat

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// startBus starts a message bus without service folders, so that nothing of the machine's is started
// behind the test's back, and gives its address and its end.
func startBus(t *testing.T, socket string) (address string, stop func()) {
	t.Helper()
	program, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skip("there is no dbus-daemon here")
	}
	config := filepath.Join(t.TempDir(), "bus.conf")
	err = os.WriteFile(config, fmt.Appendf(nil, `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=%s</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`, socket), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "--config-file="+config, "--nofork", "--nopidfile", "--print-address=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() { cancel(); _ = cmd.Wait() })
	t.Cleanup(stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), stop
}

// socket is a short path: sockets have no long ones.
func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "seat")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "bus")
}

// desktop are both buses of a machine.
type desktop struct{ system, session string }

func newDesktop(t *testing.T) desktop {
	t.Helper()
	var d desktop
	d.system, _ = startBus(t, socket(t))
	d.session, _ = startBus(t, socket(t))
	d.announce(t)
	return d
}

// announce makes the program know them.
func (d desktop) announce(t *testing.T) {
	t.Helper()
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", d.system)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.session)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("XDG_SESSION_ID", "")
	t.Setenv("PATH", t.TempDir()) // no dbus-launch, whatever happens
}

// service is somebody on a bus.
type service struct {
	t    *testing.T
	conn *dbus.Conn
}

func join(t *testing.T, address string, names ...string) *service {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s := &service{t, conn}
	for _, name := range names {
		s.own(name)
	}
	return s
}

func (s *service) own(name string) {
	s.t.Helper()
	if _, err := s.conn.RequestName(name, dbus.NameFlagDoNotQueue); err != nil {
		s.t.Fatal(err)
	}
}

func (s *service) export(methods map[string]any, path dbus.ObjectPath, of string) {
	s.t.Helper()
	if err := s.conn.ExportMethodTable(methods, path, of); err != nil {
		s.t.Fatal(err)
	}
}

func (s *service) emit(path dbus.ObjectPath, name string, values ...any) {
	s.t.Helper()
	if err := s.conn.Emit(path, name, values...); err != nil {
		s.t.Fatal(err)
	}
}

// forge sends a signal to everybody on the bus by name, which no wish to hear only some keeps out.
func (s *service) forge(path dbus.ObjectPath, name string, values ...any) {
	s.t.Helper()
	var all []string
	if err := s.conn.BusObject().Call(daemon+".ListNames", 0).Store(&all); err != nil {
		s.t.Fatal(err)
	}
	cut := strings.LastIndexByte(name, '.')
	for _, to := range all {
		if !strings.HasPrefix(to, ":") {
			continue
		}
		call := s.conn.Send(&dbus.Message{Type: dbus.TypeSignal, Body: values, Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldDestination: dbus.MakeVariant(to), dbus.FieldPath: dbus.MakeVariant(path),
			dbus.FieldInterface: dbus.MakeVariant(name[:cut]), dbus.FieldMember: dbus.MakeVariant(name[cut+1:]),
			dbus.FieldSignature: dbus.MakeVariant(dbus.SignatureOf(values...)),
		}}, nil)
		if call != nil && call.Err != nil {
			s.t.Fatal(call.Err)
		}
	}
}

// sits is a Seat under test and what it told.
type sits struct {
	*Seat
	told chan State
}

// quick are clocks that a test need not wait for.
var quick = pace{ask: 50 * time.Millisecond, retry: 50 * time.Millisecond, obeyed: 200 * time.Millisecond, inactive: 50 * time.Millisecond}

func sit(t *testing.T, idle time.Duration, p pace) sits {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	told := make(chan State, 100)
	s := &Seat{options: Options{Idle: idle, Changed: func(s State) { told <- s }, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}, stop: stop}
	s.wg.Go(func() { s.watchAt(ctx, p) })
	t.Cleanup(s.Close)
	return sits{s, told}
}

const patience = 5 * time.Second

// becomes waits for the next state that is told and wants it to be this one.
func (s sits) becomes(t *testing.T, want State) {
	t.Helper()
	select {
	case got := <-s.told:
		if got != want {
			t.Fatalf("became %+v, not %+v", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("stays %+v, not %+v", s.State(), want)
	}
	if got := s.State(); got != want {
		t.Fatalf("told %+v, is %+v", want, got)
	}
}

// until waits for something that another goroutine or process does.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); {
		if time.Now().After(end) {
			t.Fatalf("waited for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// stays wants no word for a while, because of why.
func (s sits) stays(t *testing.T, why string) {
	t.Helper()
	select {
	case got := <-s.told:
		t.Fatalf("became %+v: %s", got, why)
	case <-time.After(150 * time.Millisecond):
	}
}
