package backend_test

import (
	"encoding/json"
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
	b, err := backend.Open(t.Context(), backend.Config{DataDir: t.TempDir(), Language: text.English})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	answers, pushes := make(chan string, 1), make(chan string, 64)
	c := b.Connect(func(string) {}, func(frame string) {
		if strings.Contains(frame, `"id":`) && !strings.Contains(frame, `"method":`) {
			answers <- frame
			return
		}
		pushes <- frame
	})
	t.Cleanup(c.Close)
	call = func(method, params string) string {
		c.Receive(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
		return <-answers
	}
	return call, pushes
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
