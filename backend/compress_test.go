package backend_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"aalis/backend"
	"aalis/backend/provider"
	"aalis/backend/provider/scripted"
)

// tape keeps every frame one connection is sent.
type tape struct {
	mu     sync.Mutex // guards frames
	frames []string
}

func (t *tape) add(frame string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frames = append(t.frames, frame)
}

// with gives the frames that hold all words.
func (t *tape) with(words ...string) (all []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
next:
	for _, frame := range t.frames {
		for _, w := range words {
			if !strings.Contains(frame, w) {
				continue next
			}
		}
		all = append(all, frame)
	}
	return all
}

// speakScripted is speak with a model that plays a script.
func speakScripted(t *testing.T, script string) (*speaker, *scripted.Model) {
	t.Helper()
	model := scripted.New(scripted.MustParse(script)...)
	kinds := map[string]provider.Kind{"scripted": model.Kind()}
	s := speak(t, "language: en\n", func(c *backend.Config) {
		c.Kinds = kinds
		c.Provider = provider.Config{Providers: []provider.ProviderConfig{{ID: "test", Type: "scripted", Models: []provider.ModelConfig{{Name: "m", ContextWindow: 16_384}}}}}
	})
	return s, model
}

// long is a message of some 2,000 tokens.
func long(name string) string { return name + " " + strings.Repeat("word ", 1600) }

func TestCompressionThroughTheProgram(t *testing.T) {
	script := strings.Repeat("call\ntext fine\n", 4) + "call\ngate go\ntext IN SHORT\n" + strings.Repeat("call\ntext fine\n", 3)
	s, model := speakScripted(t, script)
	seen := &tape{}
	id := s.session()
	s.call("session/rename", `{"sessionId":"`+id+`","title":"the harbour"}`) // or the model would be asked for a name
	s.call("session/subscribe", `{"sessionId":"`+id+`"}`)
	watch := s.b.Connect(func(string) {}, seen.add)
	t.Cleanup(watch.Close)
	watch.Receive(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + hello + `}`)
	watch.Receive(`{"jsonrpc":"2.0","id":2,"method":"session/subscribe","params":{"sessionId":"` + id + `"}}`)
	for i := range 4 {
		s.call("turn/send", fmt.Sprintf(`{"sessionId":%q,"content":%q}`, id, long(fmt.Sprintf("message-%d", i+1))))
		s.wait(s.done, "the end of the turn")
	}
	compress := `{"sessionId":"` + id + `"}`
	other := make(chan string, 1)
	second := s.b.Connect(func(string) {}, func(frame string) {
		if strings.Contains(frame, `"id":7`) {
			other <- frame
		}
	})
	t.Cleanup(second.Close)
	second.Receive(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + hello + `}`)
	second.Receive(`{"jsonrpc":"2.0","id":7,"method":"session/compress","params":` + compress + `}`)
	eventually(t, "the summary's call", func() bool { return len(model.Requests()) == 5 })
	t.Run("SP-COMP-06 SP-COMP-07 a second call is refused at once and shows nothing", func(t *testing.T) {
		lacks(t, "the answer", s.call("session/compress", compress), `-32603`, "being shortened already")
		if n := len(seen.with(`"topic":"compress"`)); n != 1 {
			t.Errorf("%d notices", n)
		}
	})
	t.Run("SP-COMP-01 the answer comes after the compression", func(t *testing.T) {
		select {
		case frame := <-other:
			t.Errorf("before it: %s", frame)
		default:
		}
		model.Open("go")
		select {
		case frame := <-other:
			lacks(t, "the answer", frame, `"result":{}`)
		case <-time.After(10 * time.Second):
			t.Fatal("no answer")
		}
	})
	eventually(t, "the end of the notice", func() bool { return len(seen.with(`"topic":"compress"`, `"status":"done"`)) == 1 })
	t.Run("SP-COMP-02 SP-NOTICE-06 its progress is one notice that begins and ends", func(t *testing.T) {
		all := seen.with(`"topic":"compress"`)
		if len(all) != 2 || !strings.Contains(all[0], `"method":"item/started"`) || !strings.Contains(all[1], `"method":"item/completed"`) ||
			field(t, all[0], "itemId") != field(t, all[1], "itemId") {
			t.Errorf("%q", all)
		}
	})
	var usage struct {
		Params struct {
			Item struct {
				Used       int
				UsageRatio float64
				CompressAt *float64
			}
		}
	}
	t.Run("SP-COMP-03 SP-USAGE-04 the newest usage is pushed, with the line it is compressed at", func(t *testing.T) {
		all := seen.with(`"kind":"usage"`)
		if err := json.Unmarshal([]byte(all[len(all)-1]), &usage); err != nil {
			t.Fatal(err)
		}
		before := seen.with(`"kind":"usage"`)[len(all)-2]
		item := usage.Params.Item
		if item.Used > 8000 || item.CompressAt == nil || *item.CompressAt != 0.7 || !strings.Contains(before, `"compressAt":0.7`) {
			t.Errorf("%+v after %s", item, before)
		}
	})
	t.Run("SP-NOTICE-07 SP-REFR-02 history has the line and not the progress, and shows all that was said", func(t *testing.T) {
		page := s.call("session/history", compress)
		lacks(t, "the page", page, `"topic":"event-marker"`, "Shortened for her up to here", "message-1", "message-4")
		if strings.Contains(page, `"topic":"compress"`) || strings.Contains(page, `"kind":"usage"`) {
			t.Errorf("%.2000s", page)
		}
		snapshot := s.call("session/subscribe", compress)
		lacks(t, "the snapshot", snapshot, fmt.Sprintf(`"used":%d`, usage.Params.Item.Used), "Shortened for her")
		if n := strings.Count(snapshot, "Shortened for her"); n != 1 {
			t.Errorf("the line stands %d times", n)
		}
	})
	t.Run("SP-USAGE-05 without a line none is told, from the next call on", func(t *testing.T) {
		s.call("session/config/update", `{"sessionId":"`+id+`","plugin":"aalis","key":"compressAt","value":0}`)
		s.call("turn/send", `{"sessionId":"`+id+`","content":"and now"}`)
		s.wait(s.done, "the end of the turn")
		all := seen.with(`"kind":"usage"`)
		if last := all[len(all)-1]; strings.Contains(last, "compressAt") {
			t.Error(last)
		}
	})
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s did not come", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
