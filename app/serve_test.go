package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aalis/backend/server"
)

// buffer is an output that several goroutines write and read.
type buffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// served is a running `aalis serve` in this process.
type served struct {
	ready    ready
	out, err *buffer
	// stop ends it, and gives its exit code and how long that took.
	stop func() (int, time.Duration)
}

func serveHere(t *testing.T, args ...string) served {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ready.json")
	ctx, cancel := context.WithCancel(context.Background())
	s := served{out: &buffer{}, err: &buffer{}}
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"serve", "--ready-file", file}, args...), streams{in: strings.NewReader(""), out: s.out, err: s.err})
	}()
	s.stop = sync.OnceValues(func() (int, time.Duration) {
		began := time.Now()
		cancel()
		return <-code, time.Since(began)
	})
	t.Cleanup(func() { s.stop() })
	end := time.Now().Add(20 * time.Second)
	for {
		data, err := os.ReadFile(file)
		if err == nil {
			if err := json.Unmarshal(data, &s.ready); err != nil {
				t.Fatal(err)
			}
			return s
		}
		if !os.IsNotExist(err) || time.Now().After(end) || len(code) > 0 {
			t.Fatalf("not ready: %v\n%s", err, s.err)
		}
		time.Sleep(5 * time.Millisecond) // a process of the machine's own, as far as the test knows
	}
}

func TestServe(t *testing.T) {
	dir := english(t)
	configure(t, dir, "name: Mira\n")
	s := serveHere(t)
	if s.ready.PID != os.Getpid() || s.ready.Version != Version || s.ready.Epoch == "" || !strings.HasPrefix(s.ready.URL, "http://127.0.0.1:") {
		t.Errorf("%+v", s.ready)
	}
	wants(t, "the output", s.out.String(), "Mira is running at "+s.ready.URL)

	got := command(t, "send", "--wait", "how", "are", "you")
	wants(t, "the reply", got.out, "how are you")
	if got.code != 0 || !strings.HasSuffix(got.out, "\n") {
		t.Errorf("%+v", got)
	}
	got = command(t, "send", "--wait", "fail: out of luck")
	wants(t, "the failure", got.err, "The turn failed: ", "out of luck")
	if got.code != exitFailed {
		t.Errorf("%+v", got)
	}
	if got = commandIn(t, "from\na pipe\n", "send", "--json", "-"); got.code != 0 || !strings.Contains(got.out, `"sessionId":"`) {
		t.Errorf("%+v", got)
	}
	if got = command(t, "approvals"); got.code != 0 || got.out != "" || got.err != "Nothing waits for an approval.\n" {
		t.Errorf("%+v", got)
	}
	if got = command(t, "doctor"); got.code != 0 && !strings.Contains(got.out, "interface") {
		t.Errorf("%+v", got)
	}
	got = command(t, "serve")
	wants(t, "a second start", got.err, "the data folder "+dir+" is in use by the Aalis with process id ")
	if got.code != exitFailed {
		t.Errorf("%+v", got)
	}
	other := command(t, "open", "--print", "--host", "127.0.0.1", "01a2")
	if !strings.HasPrefix(other.out, s.ready.URL+"/signin?session=01a2#") {
		t.Errorf("%+v", other)
	}

	if code, took := s.stop(); code != 0 || took > 2*time.Second {
		t.Errorf("ended with %d after %v\n%s", code, took, s.err)
	}
	for _, name := range []string{"server.json", "owner.token"} {
		if _, err := os.Stat(filepath.Join(dir, "run", name)); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	if got := command(t, "doctor", "--json"); !strings.Contains(got.out, `{"name":"database","ok":true`) {
		t.Errorf("%+v", got)
	}
}

// TestServeMistakes: a wrong configuration starts nothing and leaves nothing.
func TestServeMistakes(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"provider", "providers: [{id: a, type: opena}]\n", "config.yaml: providers[0].type: the type \"opena\" is not known; valid are: demo, openai"},
		{"default model", "default_model: x/y\n", "config.yaml: default_model: "},
		{"address", "listen: [\"0.0.0.0:80\"]\n", "0.0.0.0:80"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := english(t)
			configure(t, dir, c.yaml)
			got := command(t, "serve")
			wants(t, "the mistake", got.err, c.want)
			if _, err := os.Stat(filepath.Join(dir, "run", "server.json")); got.code != exitFailed || !os.IsNotExist(err) {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
}

// TestFindRemote: what a file says is not believed; a token goes to this machine only.
func TestFindRemote(t *testing.T) {
	dir := english(t)
	s := serveHere(t)
	path := filepath.Join(dir, "run", "server.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var running server.Running
	if err := json.Unmarshal(data, &running); err != nil {
		t.Fatal(err)
	}
	running.URL = "http://192.0.2.1:80"
	if data, err = json.Marshal(running); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, fs.FileMode(0o600)); err != nil {
		t.Fatal(err)
	}
	got := command(t, "send", "hello")
	wants(t, "the refusal", got.err, "does not describe a running Aalis on this machine")
	if got.code != exitFailed {
		t.Errorf("%+v", got)
	}
	s.stop()
}
