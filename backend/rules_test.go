package backend_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"aalis/backend"
)

// card runs a command in a session and gives its card as the conversation shows it.
func (s *speaker) card(session, command string) (card struct {
	Status string
	Result string
	Ext    struct {
		Rule struct{ Verdict, Text string }
	}
},
) {
	s.t.Helper()
	s.call("session/subscribe", `{"sessionId":"`+session+`"}`)
	words, _ := json.Marshal("run: " + command)
	s.call("turn/send", `{"sessionId":"`+session+`","content":`+string(words)+`}`)
	s.wait(s.done, "the end of the turn")
	var page struct {
		Result struct{ Items []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(s.call("session/history", `{"sessionId":"`+session+`"}`)), &page); err != nil {
		s.t.Fatal(err)
	}
	for _, raw := range page.Result.Items {
		if strings.Contains(string(raw), `"kind":"tool-call"`) {
			if err := json.Unmarshal(raw, &card); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return card
}

func (s *speaker) rule(session, key, value string) string {
	s.t.Helper()
	return s.call("session/config/update", `{"sessionId":"`+session+`","plugin":"aalis","key":"`+key+`","value":`+value+`}`)
}

func (s *speaker) forAll(key, value string) string {
	s.t.Helper()
	return s.call("session/config/layer/update", `{"layer":{"scope":"global"},"plugin":"aalis","key":"`+key+`","value":`+value+`}`)
}

// Nobody is present in these tests: whatever asks is refused at once.
const refused = "denied"

func TestRules(t *testing.T) {
	s := speak(t, "", nil)
	t.Run("FAIL-B4 FAIL-B18 what is always allowed runs without asking, here and after a restart; anything else asks", func(t *testing.T) {
		id := s.session()
		if got := s.card(id, "echo one"); got.Status != refused || got.Ext.Rule.Verdict != "" {
			t.Errorf("%+v", got)
		}
		lacks(t, "the answer", s.rule(id, "allow", `["exact: echo one"]`), `"value":["exact: echo one"]`)
		if got := s.card(id, "echo one"); got.Status != "completed" || got.Ext.Rule.Verdict != "allow" || got.Ext.Rule.Text != "exact: echo one" || !strings.Contains(got.Result, "one") {
			t.Errorf("%+v", got)
		}
		if got := s.card(id, "echo one two"); got.Status != refused {
			t.Errorf("%+v", got)
		}
		if got := s.card(s.session(), "echo one"); got.Status != refused {
			t.Errorf("another conversation: %+v", got)
		}
	})
	t.Run("FAIL-B16 FAIL-B17 a prohibition and a question stand before everything, in whatever layer", func(t *testing.T) {
		id := s.session()
		s.rule(id, "asking", `"never"`)
		if got := s.card(id, "echo free"); got.Status != "completed" || got.Ext.Rule.Verdict != "allow" || got.Ext.Rule.Text != "" {
			t.Errorf("%+v", got)
		}
		s.forAll("deny", `["prefix: touch"]`)
		s.forAll("ask", `["prefix: echo careful"]`)
		s.rule(id, "allow", `["prefix: touch","prefix: echo"]`)
		if got := s.card(id, "echo careful"); got.Status != refused || got.Ext.Rule.Verdict != "ask" || got.Ext.Rule.Text != "prefix: echo careful" {
			t.Errorf("%+v", got)
		}
		if got := s.card(id, "touch x"); got.Status != refused || got.Ext.Rule.Verdict != "deny" || !strings.Contains(got.Result, "a rule of the owner's forbids it (prefix: touch)") {
			t.Errorf("%+v", got)
		}
		s.forAll("deny", "null")
		s.forAll("ask", "null")
		if got := s.card(id, "echo careful"); got.Status != "completed" || got.Ext.Rule.Text != "prefix: echo" {
			t.Errorf("%+v", got)
		}
		s.rule(id, "deny", `["tool: run_command"]`)
		if got := s.card(id, "echo x"); got.Status != refused || got.Ext.Rule.Verdict != "deny" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a rule that is none is refused with what would be right", func(t *testing.T) {
		for rule, want := range map[string]string{"git status": "prefix:", "prefix: ls *": "plain words", "prefix: sudo x": "sudo can run"} {
			lacks(t, rule, s.rule(s.session(), "allow", `["`+rule+`"]`), `"code":-32602`, "Run without asking: ", want)
		}
	})
}

func TestRulesOutliveARestart(t *testing.T) {
	t.Run("FAIL-B4 grant always, restart, the same command: no question; a different command: a question", func(t *testing.T) {
		dir := t.TempDir()
		var id string
		t.Run("granted", func(t *testing.T) {
			s := speak(t, "", func(c *backend.Config) { c.DataDir = dir })
			id = s.session()
			s.rule(id, "allow", `["prefix: echo here"]`)
			s.forAll("allow", `["exact: echo everywhere"]`)
		})
		t.Run("after a restart", func(t *testing.T) {
			s := speak(t, "", func(c *backend.Config) { c.DataDir = dir })
			for command, want := range map[string]string{"echo here and there": "completed", "echo everywhere": "completed", "echo here; echo more": refused, "echo there": refused} {
				if got := s.card(id, command); got.Status != want {
					t.Errorf("%s: %s", command, fmt.Sprint(got))
				}
			}
		})
	})
}
