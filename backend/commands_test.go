package backend_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"aalis/backend"
	"aalis/backend/command"
	"aalis/backend/room/local"
	"aalis/backend/text"
)

// replies gives the answers to commands in a session's history, oldest first.
func (s *speaker) replies(id string) (all []string) {
	s.t.Helper()
	var page struct {
		Result struct {
			Items []struct{ Topic, Text string }
		}
	}
	answer := s.call("session/history", `{"sessionId":"`+id+`"}`)
	if err := json.Unmarshal([]byte(answer), &page); err != nil {
		s.t.Fatal(err)
	}
	for _, item := range page.Result.Items {
		if item.Topic == "command-reply" {
			all = append(all, item.Text)
		}
	}
	return all
}

func TestCommands(t *testing.T) {
	s, model := speakScripted(t, "call\ntext fine\ncall\ngate go\ntext slow\ncall\ntext fine\n")
	id := s.session()
	s.call("session/rename", `{"sessionId":"`+id+`","title":"the harbour"}`)
	s.call("session/subscribe", `{"sessionId":"`+id+`"}`)
	say := func(words string) string {
		t.Helper()
		n := len(s.replies(id))
		lacks(t, "the answer", s.call("turn/send", fmt.Sprintf(`{"sessionId":%q,"content":%q}`, id, words)), `"result":{}`)
		eventually(t, "the reply to "+words, func() bool { return len(s.replies(id)) > n || words == "/clear" && len(s.replies(id)) == 1 })
		all := s.replies(id)
		return all[len(all)-1]
	}
	t.Run("SP-NOTICE-11 the reply to a command is one notice with all of it, and no turn begins", func(t *testing.T) {
		got := say("/help")
		for _, word := range command.Words() {
			if !strings.Contains(got, "`/"+word) || !strings.Contains(text.New("command-reply.help").In(text.Chinese), "`/"+word) {
				t.Errorf("%s is not told of in %s", word, got)
			}
		}
		if n := len(model.Requests()); n != 0 {
			t.Errorf("%d model calls", n)
		}
		history := s.call("session/history", `{"sessionId":"`+id+`"}`)
		lacks(t, "the history", history, `"text":"/help"`, `"command":"help"`)
		if strings.Contains(history, `"kind":"turn"`) || strings.Contains(history, `"entry"`) {
			t.Errorf("it entered a turn: %s", history)
		}
	})
	t.Run("the same words of the same client are one command", func(t *testing.T) {
		for range 2 {
			s.call("turn/send", `{"sessionId":"`+id+`","content":"/HELP  ","ext":{"clientId":"once"}}`)
		}
		if n := len(s.replies(id)); n != 2 {
			t.Errorf("%d replies", n)
		}
	})
	t.Run("a model is chosen by name, for this session, and an unknown one is not", func(t *testing.T) {
		lacks(t, "the reply", say("/model"), "uses test/m", "There are: test/m")
		lacks(t, "the reply", say("/model nonsense"), "no model nonsense", "test/m")
		lacks(t, "the reply", say("/model M"), "uses test/m from its next call on")
		lacks(t, "the settings", s.call("session/config/get", `{"sessionId":"`+id+`"}`), `"value":"test/m"`)
	})
	t.Run("the status tells the model, the context and what runs, in a turn, too", func(t *testing.T) {
		lacks(t, "the reply", say("/status"), "Model: test/m", "of 16384 tokens", "nothing runs, 0 waiting", "workspace")
		s.call("turn/send", `{"sessionId":"`+id+`","content":"hello"}`)
		s.wait(s.done, "the end of the turn")
		s.call("turn/send", `{"sessionId":"`+id+`","content":"hello again"}`)
		eventually(t, "the second call", func() bool { return len(model.Requests()) == 2 })
		s.call("turn/send", `{"sessionId":"`+id+`","content":"and wait"}`)
		lacks(t, "the reply", say("/status"), "a turn runs, 1 waiting")
		lacks(t, "the reply", say("/clear"), "A turn is running")
		lacks(t, "the history", s.call("session/history", `{"sessionId":"`+id+`"}`), `"text":"hello"`)
		model.Open("go")
		s.wait(s.done, "the end of the turn")
	})
	t.Run("nothing of a command is told to the model", func(t *testing.T) {
		for _, r := range model.Requests() {
			for _, m := range r.Messages {
				if strings.Contains(m.Text, "/status") || strings.Contains(m.Text, "Model: ") {
					t.Errorf("%q", m.Text)
				}
			}
		}
	})
	t.Run("compressing answers when it is over", func(t *testing.T) {
		lacks(t, "the reply", say("/compress"), "Done")
	})
	t.Run("clearing empties the conversation and leaves its own answer", func(t *testing.T) {
		lacks(t, "the reply", say("/clear"), "empty now")
		history := s.call("session/history", `{"sessionId":"`+id+`"}`)
		if strings.Contains(history, "hello") || strings.Contains(history, `"text":"/clear"`) || len(s.replies(id)) != 1 {
			t.Errorf("%s", history)
		}
	})
	t.Run("a word that is none is said to her", func(t *testing.T) {
		before := len(s.replies(id))
		for _, words := range []string{"/etc/hosts is empty", "/helping", "say /help"} {
			s.call("turn/send", fmt.Sprintf(`{"sessionId":%q,"content":%q}`, id, words))
			s.wait(s.done, "the end of the turn")
		}
		if n := len(s.replies(id)); n != before {
			t.Errorf("%d replies, %d before", n, before)
		}
	})
	lacks(t, "the answer", s.call("turn/send", `{"sessionId":"nobody","content":"/help"}`), "not-found")
}

func TestCommandsOfTheOwnerInAGroup(t *testing.T) {
	s := speak(t, "language: en\n", func(c *backend.Config) {
		c.LocalRooms = &local.Config{Owner: "me", Groups: []local.Group{{ID: "tea", Name: "Tea room", Members: []string{"Ann", "me"}}}}
	})
	said := func(words string) {
		lacks(t, "the answer", s.call("ext/rooms/local/say", `{"room":"tea","member":"me","text":"`+words+`"}`), `"itemId"`)
	}
	s.call("ext/rooms/local/say", `{"room":"tea","member":"Ann","text":"/status"}`)
	said("/status")
	eventually(t, "the reply", func() bool { return len(s.replies(teaRoom)) == 1 })
	t.Run("a reply that goes out into a room says nothing of the owner's folders", func(t *testing.T) {
		if got := s.replies(teaRoom)[0]; strings.Contains(got, s.dir) || !strings.Contains(got, "Folder: `–`") {
			t.Error(got)
		}
	})
	said("/compress")
	eventually(t, "the reply of what takes long", func() bool { return len(s.replies(teaRoom)) == 2 })
	lacks(t, "the reply", s.replies(teaRoom)[1], "Done")
}

func TestTheForegroundLimitIsASetting(t *testing.T) {
	s := speak(t, "language: en\nsettings: {global: {host: {foreground: 1}, aalis: {allow: ['exact: sleep 30']}}}\n", nil)
	id := s.session()
	s.call("session/subscribe", `{"sessionId":"`+id+`"}`)
	s.call("turn/send", `{"sessionId":"`+id+`","content":"run: sleep 30"}`)
	s.wait(s.done, "the end of a turn that waits a second at most")
	lacks(t, "the tasks", s.call("background/list", `{}`), `"status":"running"`)
	lacks(t, "the answer", s.call("background/stopAll", `{"sessionId":"`+id+`"}`), `"result":{}`)
}
