package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/principal/principaltest"
	"aalis/backend/server"
)

func TestListen(t *testing.T) {
	newServer := func(listen ...string) error {
		_, err := server.New(server.Options{
			DataDir: t.TempDir(), Installation: installation, Listen: listen,
			Authority: principal.NewAuthority(principaltest.NewMemory(), nil, nil),
		})
		return err
	}
	t.Run("SEC-01 every other bind is refused before a socket exists", func(t *testing.T) {
		for _, address := range []string{
			"0.0.0.0:0", ":0", "[::]:0", "192.168.1.5:80", "10.0.0.1:1", "example.com:80", "127.0.0.2:0", "127.1:0",
			"2130706433:0", "0x7f.1:0", "[::ffff:127.0.0.1]:0", "[::1%lo]:0", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:http", "", "/run/x.sock",
		} {
			err := newServer(address)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "127.0.0.1:PORT") {
				t.Errorf("Listen %q: %v, want a fault that says what would be right", address, err)
			}
		}
		for _, address := range []string{"127.0.0.1:0", "[::1]:0", "localhost:0"} {
			if err := newServer(address); err != nil {
				t.Errorf("Listen %q: %v", address, err)
			}
		}
	})
	t.Run("SEC-01 the port is random and held in both loopback families, on no other address", func(t *testing.T) {
		r := start(t, nil)
		if other := start(t, nil); other.port == r.port {
			t.Errorf("two instances on port %s", r.port)
		}
		for _, address := range []string{"127.0.0.1", "[::1]"} {
			if a := rawTo(t, address+":"+r.port, "GET /v1/health HTTP/1.1\r\nHost: "+address+":"+r.port+"\r\n\r\n"); a.status != 200 {
				t.Errorf("%s: %+v", address, a)
			}
		}
		addresses, err := net.InterfaceAddrs()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range addresses {
			ip := a.(*net.IPNet).IP
			if ip.IsLoopback() || ip.IsLinkLocalUnicast() {
				continue
			}
			if c, err := net.DialTimeout("tcp", net.JoinHostPort(ip.String(), r.port), time.Second); err == nil {
				c.Close()
				t.Errorf("reachable on %v", ip)
			}
		}
	})
	t.Run("SEC-01 server.json is 0600, tells where, and is removed at the end", func(t *testing.T) {
		r := start(t, nil)
		path := filepath.Join(r.dir, "run", "server.json")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("mode %04o", info.Mode().Perm())
		}
		found, err := server.FindRunning(r.dir)
		if err != nil {
			t.Fatal(err)
		}
		if found.URL != r.running.URL || found.PID != os.Getpid() || found.Epoch != "e1" || time.Since(found.StartedAt) > time.Minute {
			t.Errorf("found %+v, running %+v", found, r.running)
		}
		if data, _ := os.ReadFile(path); strings.Contains(string(data), installation) {
			t.Errorf("server.json tells our own name: %s", data)
		}
		if _, err := r.stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("after the end: %v", err)
		}
		if _, err := server.FindRunning(r.dir); !fault.Is(err, fault.NotFound) {
			t.Errorf("FindRunning after the end: %v", err)
		}
	})
}

func TestFindRunning(t *testing.T) {
	write := func(t *testing.T, content string) string {
		t.Helper()
		dir := t.TempDir()
		if _, err := principal.RunDir(dir); err != nil {
			t.Fatal(err)
		}
		if err := principal.WritePrivate(filepath.Join(dir, "run", "server.json"), []byte(content)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	entry := func(url string, pid int) string {
		return fmt.Sprintf(`{"url":%q,"pid":%d,"startedAt":"2026-01-02T03:04:05.678Z","epoch":"e"}`, url, pid)
	}
	t.Run("a file whose process is gone counts as none", func(t *testing.T) {
		for _, pid := range []int{0, -1, 1 << 30} {
			if _, err := server.FindRunning(write(t, entry("http://127.0.0.1:1234", pid))); !fault.Is(err, fault.NotFound) {
				t.Errorf("pid %d: %v", pid, err)
			}
		}
	})
	t.Run("SEC-02 a credential is never sent where a file was made to point", func(t *testing.T) {
		for _, url := range []string{
			"http://evil.example:80", "http://10.0.0.1:80", "https://127.0.0.1:80", "http://127.0.0.1:80/x", "http://a@127.0.0.1:80",
			"http://127.0.0.1", "http://127.0.0.1:0", "http://localhost:80", "http://127.0.0.2:80", "", "127.0.0.1:80", "http://127.0.0.1:80?x",
		} {
			if _, err := server.FindRunning(write(t, entry(url, os.Getpid()))); !fault.Is(err, fault.Invalid) {
				t.Errorf("url %q: %v", url, err)
			}
		}
		for _, url := range []string{"http://127.0.0.1:80", "http://[::1]:8080"} {
			if r, err := server.FindRunning(write(t, entry(url, os.Getpid()))); err != nil || r.URL != url {
				t.Errorf("url %q: %+v, %v", url, r, err)
			}
		}
	})
	t.Run("a damaged or open file is named, not believed", func(t *testing.T) {
		dir := write(t, "{")
		if _, err := server.FindRunning(dir); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "server.json") {
			t.Errorf("damaged: %v", err)
		}
		dir = write(t, entry("http://127.0.0.1:80", os.Getpid()))
		if err := os.Chmod(filepath.Join(dir, "run", "server.json"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := server.FindRunning(dir); runtime.GOOS != "windows" && !fault.Is(err, fault.Invalid) {
			t.Errorf("open to others: %v", err)
		}
	})
}

func TestPortTaken(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	t.Run("FAIL-G9 a taken port is named", func(t *testing.T) {
		s, err := server.New(server.Options{
			DataDir: t.TempDir(), Installation: installation, Listen: []string{address},
			Authority: principal.NewAuthority(principaltest.NewMemory(), nil, nil),
		})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Run(t.Context())
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), address) {
			t.Errorf("Run = %v", err)
		}
		noneLeft(t)
	})
	t.Run("FAIL-G9 or another is picked, whatever proxy is set, and it answers before Ready", func(t *testing.T) {
		t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
		t.Setenv("http_proxy", "http://127.0.0.1:1")
		r := start(t, func(o *server.Options) { o.Listen, o.OtherPort = []string{address}, true })
		if r.addr() == address {
			t.Fatalf("the taken port was handed out: %s", address)
		}
		if !strings.Contains(r.log.String(), "/v1/health") {
			t.Error("nobody asked our own listeners")
		}
	})
	t.Run("SEC-06 a port whose twin another program holds is taken too", func(t *testing.T) {
		// Browsers try both families for our own name: the holder of the twin would get the cookie.
		s, err := server.New(server.Options{
			DataDir: t.TempDir(), Installation: installation, Listen: []string{"[::1]:" + strings.Split(address, ":")[1]},
			Authority: principal.NewAuthority(principaltest.NewMemory(), nil, nil),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context()); !fault.Is(err, fault.Conflict) {
			t.Errorf("Run = %v", err)
		}
	})
	t.Run("FAIL-G9 a machine with IPv6 only is served there", func(t *testing.T) {
		r := start(t, func(o *server.Options) { o.Listen = []string{"[::1]:0"} })
		if !strings.HasPrefix(r.running.URL, "http://[::1]:") {
			t.Errorf("url %s", r.running.URL)
		}
		if found, err := server.FindRunning(r.dir); err != nil || found.URL != r.running.URL {
			t.Errorf("found %+v, %v", found, err)
		}
	})
}

func TestHungClients(t *testing.T) {
	r := start(t, func(o *server.Options) { o.Limits.HeaderTime = 300 * time.Millisecond })
	t.Run("SEC-09 connections that never ask block nobody and are ended", func(t *testing.T) {
		var hung []net.Conn
		for i := range 100 {
			c, err := net.Dial("tcp", r.addr())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if i%2 == 0 {
				fmt.Fprintf(c, "GET /session HTTP/1.1\r\nHost: %s\r\n", r.addr())
			}
			hung = append(hung, c)
		}
		if a := r.get("/v1/health"); a.status != 200 {
			t.Errorf("%+v", a)
		}
		for _, c := range hung {
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err := bufio.NewReader(c).ReadString(0); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("a connection that never asks is kept")
			}
		}
	})
}
