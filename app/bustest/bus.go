// Package bustest is a desktop for the tests of the tray and the notifications: a session bus of its
// own, a panel and a notification daemon on it, all of which can stop and come back. It never touches the
// bus of the person who runs the tests.
package bustest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// Bus is a dbus-daemon. It has no service folders, so that nothing of the machine's is started behind the
// test's back; services can be added.
type Bus struct {
	t       testing.TB
	dir     string
	address string
	daemon  *exec.Cmd
}

const config = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=%s</listen><auth>EXTERNAL</auth><servicedir>%s</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`

// Missing makes the test's session bus one that is not there, until Start.
func Missing(t testing.TB) *Bus {
	t.Helper()
	dir, err := os.MkdirTemp("", "bus") // short: the path of a socket has a limit
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b := &Bus{t: t, dir: dir, address: "unix:path=" + filepath.Join(dir, "s")}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", b.address)
	file := fmt.Sprintf(config, filepath.Join(dir, "s"), filepath.Join(dir, "services"))
	if err := os.WriteFile(filepath.Join(dir, "bus.conf"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "services"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	return b
}

// New starts a bus and makes it the test's session bus.
func New(t testing.TB) *Bus {
	t.Helper()
	b := Missing(t)
	b.Start()
	return b
}

// Start starts the bus; after Stop it is at the same address.
func (b *Bus) Start() {
	b.t.Helper()
	b.daemon = exec.Command("dbus-daemon", "--config-file="+filepath.Join(b.dir, "bus.conf"), "--nofork", "--nopidfile", "--print-address=1")
	out, err := b.daemon.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.daemon.Start(); err != nil {
		b.t.Fatalf("a bus for the test (Debian's package dbus-daemon has it): %v", err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "unix:") {
		b.t.Fatalf("the bus said %q, %v", line, err)
	}
}

// Stop kills the bus, and with it every connection.
func (b *Bus) Stop() {
	if b.daemon == nil {
		return
	}
	_ = b.daemon.Process.Kill()
	_ = b.daemon.Wait() // killed
	b.daemon = nil
	_ = os.Remove(filepath.Join(b.dir, "s")) // a killed one leaves it
}

// Activatable makes the bus start a program, here one that only fails, when name is called.
func (b *Bus) Activatable(name string) {
	b.t.Helper()
	service := fmt.Sprintf("[D-BUS Service]\nName=%s\nExec=/bin/false\n", name)
	if err := os.WriteFile(filepath.Join(b.dir, "services", name+".service"), []byte(service), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// Connect gives a connection that ends with the test.
func (b *Bus) Connect() *dbus.Conn {
	b.t.Helper()
	conn, err := dbus.Connect(b.address, dbus.WithSignalHandler(dbus.NewSequentialSignalHandler()))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// own takes a name on the bus.
func own(t testing.TB, conn *dbus.Conn, name string) {
	t.Helper()
	if reply, err := conn.RequestName(name, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("taking the name %s: %v, %v", name, reply, err)
	}
}

// Until polls for a condition, for as long as a slow machine may need.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	Within(t, 10*time.Second, what, condition)
}

// Within polls for a condition that must come soon.
func Within(t testing.TB, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}
