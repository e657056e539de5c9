package backend_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aalis/backend"
	"aalis/backend/text"
)

// recorded is a request as a released client sent it. Created is the session that the answer told of.
type recorded struct {
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Created string          `json:"created"`
}

// The clients of earlier releases are not asked to change. What a request meets may be another state than
// when it was recorded (an approval, a turn, an input that is not there), so an answer may be a refusal,
// but never of its form, and the connection stays.
func TestRecordedClients(t *testing.T) {
	files, err := filepath.Glob("testdata/clients/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded client, %v", err)
	}
	for _, file := range files {
		t.Run("FAIL-A26 the client of "+strings.TrimSuffix(filepath.Base(file), ".jsonl")+" is understood", func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			replay(t, raw)
		})
	}
}

func replay(t *testing.T, raw []byte) {
	t.Helper()
	b, err := backend.Open(t.Context(), backend.Config{DataDir: t.TempDir(), Language: text.English})
	if err != nil {
		t.Fatal(err)
	}
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() { ended <- b.Run(t.Context(), func(backend.Ready) { close(ready) }) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-ready
	answers := make(chan string, 1)
	conn := b.Connect(func(reason string) { t.Errorf("the connection was closed: %s", reason) }, func(frame string) {
		if !strings.Contains(frame, `"method":`) {
			answers <- frame
		}
	})
	t.Cleanup(conn.Close)
	methods := map[string]bool{}
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	for n := range lines {
		line := lines[n]
		var r recorded
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("line %d: %v", n+1, err)
		}
		methods[r.Method] = true
		request, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": n, "method": r.Method, "params": r.Params})
		conn.Receive(string(request))
		var answer struct {
			Error *struct {
				Code    int
				Message string
			}
			Result struct{ Session struct{ ID string } }
		}
		select {
		case frame := <-answers:
			if err := json.Unmarshal([]byte(frame), &answer); err != nil {
				t.Fatalf("%s: %v", frame, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s is not answered", line)
		}
		if e := answer.Error; e != nil && (e.Code == -32700 || e.Code == -32600 || e.Code == -32601 || e.Code == -32602) {
			t.Errorf("%s: %d %s", line, e.Code, e.Message)
		}
		if r.Created != "" {
			if answer.Result.Session.ID == "" {
				t.Fatalf("%s made no session", line)
			}
			for later := n + 1; later < len(lines); later++ {
				lines[later] = bytes.ReplaceAll(lines[later], []byte(r.Created), []byte(answer.Result.Session.ID))
			}
		}
	}
	if len(methods) < 20 {
		t.Errorf("only %d methods are recorded", len(methods))
	}
}
