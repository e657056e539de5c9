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
	"aalis/backend/provider"
	"aalis/backend/provider/scripted"
	declare "aalis/backend/settings/field"
	"aalis/backend/text"
)

// speaker is a connection of the window to a program that runs.
type speaker struct {
	t       *testing.T
	b       *backend.Backend
	dir     string
	call    func(method, params string) string
	changed chan struct{}
	done    chan struct{} // turns that ended
	cards   chan struct{} // frames about tool calls
}

// speak runs the program on a folder with this document and connects as the window does.
// opened, when given, sees it before it runs.
func speak(t *testing.T, document string, edit func(*backend.Config), opened ...func(*backend.Backend)) *speaker {
	t.Helper()
	s := &speaker{t: t, dir: t.TempDir(), changed: make(chan struct{}, 64), done: make(chan struct{}, 8), cards: make(chan struct{}, 64)}
	s.edit(document)
	c := backend.Config{DataDir: s.dir, Language: text.English}
	if edit != nil {
		edit(&c)
	}
	var err error
	if s.b, err = backend.Open(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, fn := range opened {
		fn(s.b)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() { ended <- s.b.Run(ctx, func(backend.Ready) { close(ready) }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-ready
	answers := make(chan string, 1)
	conn := s.b.Connect(func(string) {}, func(frame string) {
		switch {
		case !strings.Contains(frame, `"method":`):
			answers <- frame
		case strings.Contains(frame, `"method":"session/config/changed"`):
			s.changed <- struct{}{}
		case strings.Contains(frame, `"kind":"turn"`) && strings.Contains(frame, `"outcome"`):
			s.done <- struct{}{}
		case strings.Contains(frame, `"kind":"tool-call"`):
			s.cards <- struct{}{}
		}
	})
	t.Cleanup(conn.Close)
	s.call = func(method, params string) string {
		conn.Receive(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
		return <-answers
	}
	s.call("initialize", hello)
	return s
}

func (s *speaker) edit(document string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "config.yaml"), []byte(document), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *speaker) file() string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, "config.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s *speaker) wait(c chan struct{}, what string) {
	s.t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		s.t.Fatalf("%s did not come", what)
	}
}

func (s *speaker) session() string {
	s.t.Helper()
	var created struct {
		Result struct{ Session struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(s.call("session/create", `{}`)), &created); err != nil {
		s.t.Fatal(err)
	}
	return created.Result.Session.ID
}

func lacks(t *testing.T, what, in string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(in, w) {
			t.Errorf("%s lacks %s:\n%s", what, w, in)
		}
	}
}

func TestTheLanguageIsASetting(t *testing.T) {
	s := speak(t, "# mine\nname: Mira\n", nil)
	set := func(value string) string {
		return s.call("session/config/layer/update", `{"layer":{"scope":"global"},"plugin":"host","key":"language","value":`+value+`}`)
	}
	t.Run("SP-I18N-05 decisions L1 from the answer to the write on", func(t *testing.T) {
		lacks(t, "before", s.call("session/config/layer/get", `{"layer":{"scope":"global"}}`), `"label":"Language"`, `"actual":{"value":"en","label":"English"}`)
		lacks(t, "the answer", set(`"zh-CN"`), `"label":"语言"`, `"effective":"zh-CN"`)
		lacks(t, "a refusal", s.call("session/rename", `{"sessionId":"nobody","title":"x"}`), "没有会话")
		lacks(t, "the document", s.file(), "# mine\nname: Mira\nlanguage: zh-CN\n")
	})
	t.Run("SP-CONF-47 taken out, it is the system's", func(t *testing.T) {
		lacks(t, "the answer", set("null"), `"label":"Language"`)
	})
	t.Run("SP-CONF-50 another one is refused", func(t *testing.T) {
		lacks(t, "the answer", set(`"fr"`), `"code":-32602`)
	})
	t.Run("SP-CONF-68 SP-INIT-08 SP-INIT-09 a hand edit counts while it runs", func(t *testing.T) {
		for len(s.changed) > 0 {
			<-s.changed
		}
		s.edit("name: Lena\nlanguage: zh-CN\n")
		s.wait(s.changed, "the change")
		lacks(t, "a row", s.call("session/config/layer/get", `{"layer":{"scope":"global"}}`), `"label":"语言"`)
		var first string
		other := s.b.Connect(func(string) {}, func(frame string) { first = frame })
		defer other.Close()
		other.Receive(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + hello + `}`)
		lacks(t, "a handshake", first, `"appName":"Lena"`, `"ext":{"language":"zh-CN"}`, `"settings":true`)
	})
}

func TestSettingsOfTheShell(t *testing.T) {
	told := make(chan string, 16)
	var b *backend.Backend
	wants := func(t *testing.T, want string) {
		t.Helper()
		for end := time.After(10 * time.Second); ; {
			select {
			case got := <-told:
				if got == want { // one call may stand for several changes, and a change for several calls
					return
				}
			case <-end:
				t.Fatalf("was not told of %s", want)
			}
		}
	}
	s := speak(t, "name: Mira # mine\n", func(c *backend.Config) {
		c.Fields = []declare.Field{{
			Key: "quiet", Type: declare.Boolean, Label: text.Plain("Quiet"), Default: declare.Raw(false),
			Preference: true, Path: []string{"desktop", "quiet"}, Session: declare.Spec{AppliesTo: []declare.Kind{}},
		}}
	}, func(opened *backend.Backend) {
		b = opened
		b.OnSettings(func() { told <- string(b.Setting("quiet")) })
	})
	wants(t, "false") // when it begins
	if got := b.Setting("loud"); got != nil {
		t.Errorf("what nobody declared is %s", got)
	}
	lacks(t, "the answer", s.call("session/config/layer/update", `{"layer":{"scope":"global"},"plugin":"desktop","key":"quiet","value":true}`), `"effective":true`)
	wants(t, "true")
	lacks(t, "the document", s.file(), "name: Mira # mine\n", "desktop:\n  quiet: true\n")
	s.edit("desktop: {quiet: false}\n")
	wants(t, "false")
	s.edit("desktop: {quiet: perhaps}\nname: Lena\n") // what does not fit counts for nothing
	wants(t, "false")
}

func TestARunningTurnObeys(t *testing.T) {
	model := scripted.New(scripted.MustParse("call\ntool list_files {}\ngate first\ncall\ntext done")...)
	s := speak(t, "default_model: test/script\n", func(c *backend.Config) {
		c.Kinds = map[string]provider.Kind{"scripted": model.Kind()}
		c.Provider = provider.Config{Providers: []provider.ProviderConfig{{ID: "test", Type: "scripted", Models: []provider.ModelConfig{{Name: "script"}, {Name: "other"}}}}}
	})
	id := s.session()
	s.call("session/subscribe", `{"sessionId":"`+id+`"}`)
	s.call("turn/send", `{"sessionId":"`+id+`","content":"go"}`)
	s.wait(s.cards, "the first tool call")
	for key, value := range map[string]string{"model": `"test/other"`, "thinking": `"high"`, "extraPrompt": `"Be kind."`, "toolGroups": `["search"]`} {
		lacks(t, key, s.call("session/config/update", `{"sessionId":"`+id+`","plugin":"aalis","key":"`+key+`","value":`+value+`}`), `"value":`+value)
	}
	model.Open("first")
	s.wait(s.done, "the end of the turn")
	// The conversation's name is asked for without tools.
	all := slices.DeleteFunc(model.Requests(), func(r provider.Request) bool { return len(r.Tools) == 0 })
	if len(all) != 2 {
		t.Fatalf("%d calls", len(all))
	}
	if all[0].Model != "script" || all[0].Thinking != "" {
		t.Errorf("default_model is the setting of all: %s %q", all[0].Model, all[0].Thinking)
	}
	now := all[1]
	if now.Model != "other" || now.Thinking != "high" || !strings.Contains(now.System, "Be kind.") || len(now.Tools) != 2 {
		t.Errorf("%s %q, %d tools", now.Model, now.Thinking, len(now.Tools))
	}
	if last := now.Messages[len(now.Messages)-1]; !strings.Contains(last.Text, "switched list_files off") {
		t.Errorf("the tool that was switched off in between gave %q", last.Text)
	}
}

func TestOptions(t *testing.T) {
	s := speak(t, "", nil)
	for _, c := range []struct{ source, dependency, want string }{
		{"llm", "", `"models":["demo/demo"]`},
		{"llm-thinking", "demo/demo", `"models":["none","low","high"]`},
		{"llm-thinking", "", `"models":["none","low","high"]`},
		{"llm-thinking", "gone/x", `"models":[]`},
		{"toolGroups", "", `"shell"`},
		{"nothing", "", `"models":[]`},
	} {
		t.Run("SP-CONF-34 SP-CONF-36 "+c.source+" "+c.dependency, func(t *testing.T) {
			all, err := s.b.Options(t.Context(), c.source, c.dependency)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(all)
			if err != nil {
				t.Fatal(err)
			}
			lacks(t, "listing", string(raw), c.want)
		})
	}
	t.Run("SP-CONF-10 the demo's model is in use", func(t *testing.T) {
		lacks(t, "rows", s.call("session/config/get", `{"sessionId":"`+s.session()+`"}`), `"actual":{"value":"demo/demo"`)
	})
}
