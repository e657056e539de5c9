package backend_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aalis/backend"
	"aalis/backend/text"
)

// window opens the program on an empty folder and connects as the window does. call sends a request and
// gives its answer; what is pushed goes to pushed.
func window(t *testing.T) (call func(method, params string) string, pushed <-chan string) {
	t.Helper()
	return windowOn(t, t.TempDir())
}

func windowOn(t *testing.T, dir string) (call func(method, params string) string, pushed <-chan string) {
	t.Helper()
	_, call, pushed = windowWith(t, backend.Config{DataDir: dir, Language: text.English})
	return call, pushed
}

func windowWith(t *testing.T, c backend.Config) (b *backend.Backend, call func(method, params string) string, pushed <-chan string) {
	t.Helper()
	b, err := backend.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	ready := make(chan struct{})
	go func() { ran <- b.Run(ctx, func(backend.Ready) { close(ready) }) }()
	<-ready
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	answers, pushes := make(chan string, 1), make(chan string, 64)
	conn := b.Connect(func(string) {}, func(frame string) {
		if strings.Contains(frame, `"id":`) && !strings.Contains(frame, `"method":`) {
			answers <- frame
			return
		}
		pushes <- frame
	})
	t.Cleanup(conn.Close)
	call = func(method, params string) string {
		conn.Receive(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
		return <-answers
	}
	return b, call, pushes
}

const hello = `{"protocolVersion":"0.2.0","client":{"name":"window","version":"1"}}`

// The window is a surface of its own with a tab's identity, so that who answered can be told and settings
// resolve alike.
func TestTheWindow(t *testing.T) {
	call, _ := window(t)
	got := call("initialize", hello)
	for _, want := range []string{`"surface":"desktop"`, `"identity":{"platform":"webui","userId":"console"}`, `"ext":{"language":"en"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}

func TestUsageBeforeTheFirstCall(t *testing.T) {
	t.Run("SP-SUB-07 a session that never called a model is measured after its snapshot", func(t *testing.T) {
		call, pushed := window(t)
		call("initialize", hello)
		var created struct {
			Result struct {
				Session struct{ ID string }
			}
		}
		if err := json.Unmarshal([]byte(call("session/create", `{}`)), &created); err != nil {
			t.Fatal(err)
		}
		id := created.Result.Session.ID
		if snapshot := call("session/subscribe", `{"sessionId":"`+id+`"}`); !strings.Contains(snapshot, `"items":[]`) {
			t.Fatalf("the snapshot has items already: %s", snapshot)
		}
		var push struct {
			Method string
			Params struct {
				SessionID string
				Item      struct {
					Kind                string
					Used, ContextWindow int
					Parts               []struct{ Tokens int }
					Ext                 struct{ Estimated bool }
				}
			}
		}
		for push.Params.Item.Kind != "usage" {
			select {
			case frame := <-pushed:
				if err := json.Unmarshal([]byte(frame), &push); err != nil {
					t.Fatal(err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("no usage came")
			}
		}
		item, sum := push.Params.Item, 0
		for _, p := range item.Parts {
			sum += p.Tokens
		}
		if push.Method != "item/completed" || push.Params.SessionID != id || item.Used < 100 || item.Used != sum || item.ContextWindow != 128_000 || !item.Ext.Estimated {
			t.Errorf("%+v, its parts make %d", push, sum)
		}
	})
}

// push waits for a push whose text has all of words.
func push(t *testing.T, pushed <-chan string, words ...string) string {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case frame := <-pushed:
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(frame, w) }) {
				return frame
			}
		case <-deadline:
			t.Fatalf("no push with %q came", words)
		}
	}
}

// field cuts a string's value out of a frame.
func field(t *testing.T, frame, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(frame, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Fatalf("no %s in %s", name, frame)
	}
	return value
}

func TestRewindThroughTheProgram(t *testing.T) {
	dir := t.TempDir()
	call, pushed := windowOn(t, dir)
	call("initialize", hello)
	call("presence/update", `{"active":true}`)
	id := field(t, call("session/create", `{}`), "id")
	call("session/subscribe", `{"sessionId":"`+id+`"}`)
	run := func(words string) (turn string) {
		t.Helper()
		raw, _ := json.Marshal(words)
		call("turn/send", `{"sessionId":"`+id+`","content":`+string(raw)+`}`)
		asked := push(t, pushed, `"method":"approval/requested"`)
		if got := call("approval/respond", `{"approvalId":"`+field(t, asked, "id")+`","decision":"approve","contentHash":"`+field(t, asked, "contentHash")+`"}`); !strings.Contains(got, `"result":{}`) {
			t.Fatal(got)
		}
		return field(t, push(t, pushed, `"kind":"turn"`, `"outcome":"replied"`), "turnId")
	}
	content := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(dir, "workspace", name))
		if err != nil {
			return "-"
		}
		return string(raw)
	}
	first := run("write: a.txt\nfirst")
	second := run("run: echo second > a.txt && echo new > b.txt")
	t.Run("SP-REWIND-01 SP-REWIND-03 the newest turn's files go back, what a command did included, and the conversation stays", func(t *testing.T) {
		got := call("turn/rewind", `{"sessionId":"`+id+`","turnId":"`+second+`","scope":"code"}`)
		if content("a.txt") != "first\n" || content("b.txt") != "-" || strings.Contains(got, "deletedMessages") ||
			!strings.Contains(got, `{"ok":true,"restored":["workspace:/a.txt"],"deleted":["workspace:/b.txt"],"errors":[],"ext":{"undoId":`) {
			t.Errorf("%s; a.txt %q, b.txt %q", got, content("a.txt"), content("b.txt"))
		}
		if history := call("session/history", `{"sessionId":"`+id+`"}`); !strings.Contains(history, second) {
			t.Error("the turn left the conversation")
		}
		undone := call("ext/rewind/undo", `{"sessionId":"`+id+`","undoId":"`+field(t, got, "undoId")+`"}`)
		if content("a.txt") != "second\n" || content("b.txt") != "new\n" {
			t.Errorf("%s; a.txt %q, b.txt %q", undone, content("a.txt"), content("b.txt"))
		}
	})
	t.Run("SP-REWIND-02 SP-REWIND-05 with the conversation its messages go too, and a resync says so; the first turn's file, changed since, is left and told", func(t *testing.T) {
		got := call("turn/rewind", `{"sessionId":"`+id+`","turnId":"`+first+`","scope":"code-and-chat"}`)
		if !strings.Contains(got, `"ok":false,"restored":[],"deleted":[],"errors":[{"uri":"workspace:/a.txt","reason":"It was changed since`) ||
			!strings.Contains(got, `"deletedMessages":2,"chatDeleted":true`) || content("a.txt") != "second\n" {
			t.Error(got)
		}
		push(t, pushed, `"method":"session/resync"`, id)
		history := call("session/history", `{"sessionId":"`+id+`"}`)
		if strings.Contains(history, first) || !strings.Contains(history, second) {
			t.Error(history)
		}
	})
	t.Run("SP-REWIND-01 any other scope is refused", func(t *testing.T) {
		if got := call("turn/rewind", `{"sessionId":"`+id+`","turnId":"`+first+`","scope":"chat"}`); !strings.Contains(got, "-32602") {
			t.Error(got)
		}
	})
}

func TestPlacesThroughTheProgram(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	call, pushed := windowOn(t, dir)
	call("initialize", hello)
	call("presence/update", `{"active":true}`)
	params := func(all map[string]any) string {
		raw, _ := json.Marshal(all)
		return string(raw)
	}
	wants := func(got string, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks %s", got, w)
			}
		}
	}
	for _, path := range []string{"relative", filepath.Join(folder, "nowhere"), filepath.Join(dir, "aalis.db")} {
		wants(call("ext/places/add", params(map[string]any{"path": path})), `"code":-32602`)
	}
	wants(call("ext/places/add", params(map[string]any{"path": folder, "name": "site"})), `"place":{"key":"workspace:site","name":"site","root":`)
	push(t, pushed, `"method":"session/config/changed"`)
	wants(call("ext/places/list", `{}`), `{"key":"workspace:default","name":"Default workspace"`, `{"key":"workspace:site"`)
	wants(call("session/create", `{"ext":{"place":"workspace:nowhere"}}`), `"code":"not-found"`)
	made := call("session/create", `{"ext":{"place":"workspace:site"}}`)
	wants(made, `"place":{"key":"workspace:site","kind":"workspace","name":"site"}`)
	id := field(t, made, "id")
	call("session/subscribe", `{"sessionId":"`+id+`"}`)
	t.Run("SP-SUM-12 SP-SUM-18 what is done in a session of a place is done in its folder", func(t *testing.T) {
		call("turn/send", `{"sessionId":"`+id+`","content":"write: here.txt\nhello"}`)
		asked := push(t, pushed, `"method":"approval/requested"`)
		call("approval/respond", `{"approvalId":"`+field(t, asked, "id")+`","decision":"approve","contentHash":"`+field(t, asked, "contentHash")+`"}`)
		push(t, pushed, `"kind":"turn"`, `"outcome":"replied"`)
		if raw, err := os.ReadFile(filepath.Join(folder, "here.txt")); string(raw) != "hello\n" {
			t.Error(err)
		}
	})
	t.Run("a place that is forgotten leaves its folder and its sessions, which have nowhere to work", func(t *testing.T) {
		wants(call("ext/places/remove", `{"key":"workspace:site"}`), `"result":{}`)
		wants(call("ext/places/remove", `{"key":"workspace:site"}`), `"code":"not-found"`)
		call("turn/send", `{"sessionId":"`+id+`","content":"read: here.txt"}`)
		wants(push(t, pushed, `"kind":"tool-call"`, `"status":"failed"`), "no folder to work in")
		if _, err := os.Stat(filepath.Join(folder, "here.txt")); err != nil {
			t.Error(err)
		}
	})
}
