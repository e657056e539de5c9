package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	sentence "aalis/backend/text"
)

// answering are the options of a log in whose rooms she answers when she is called.
func answering() core.Options {
	return core.Options{Ruling: func(core.SettingRows, store.Session) (core.Rules, error) {
		return core.Rules{Answer: core.AnswerAddressed}, nil
	}}
}

// hear has somebody say something in a group.
func (r *rig) hear(who, words string, change ...func(*core.Receive)) core.Receipt {
	r.t.Helper()
	c := core.Receive{
		Actor:  event.Actor{Kind: "user", Platform: "local", UserID: who},
		Window: core.Window{Address: "local:1:group:tea", Platform: "local", Instance: "local", Account: "1", Type: "group", Name: "Tea room", MultiParty: true},
		Input:  event.Input{Text: words, Speaker: event.Speaker{Platform: "local", UserID: who, Nickname: who}}, Mentioned: strings.Contains(words, "@"),
	}
	for _, f := range change {
		f(&c)
	}
	return r.do(c)
}

func TestRooms(t *testing.T) {
	t.Run("she is told where she is, what was said between, what happened, and what she sent there herself", func(t *testing.T) {
		bubble(t, setup{script: "call\ntext <silent>\ncall\ntext yes", core: answering()}, func(r *rig) {
			r.hear("Ann", "nice weather")
			r.hear("Bob", "@her hello")
			r.idle()
			room := r.hear("Ann", "there is tea", func(c *core.Receive) {
				c.Input.Forwards = []byte(`[{"facts":{"count":2,"participants":["Eve"],"unlisted":1,"text":"tea?","cutOff":true}},{}]`)
			}).SessionID
			r.hear("Eve", "", func(c *core.Receive) {
				c.Notice = &event.Notice{Topic: "group_increase", Text: sentence.Plain("Eve has joined.")}
			})
			r.do(core.AddNotice{Session: room, Notice: event.Notice{Topic: "event-marker", Text: sentence.Plain("for people only")}})
			r.hear("Bob", "@her is there?")
			r.idle()
			same(
				t, "told", r.toldInCall(1),
				"user [Ann]\nnice weather", "user [Bob]\n@her hello",
				"user [Ann]\nthere is tea\n[forwarded: 2 messages of Eve and 1 more (cut off)]\ntea?\n[end of what was forwarded]\n[forwarded chat record, which could not be read]",
				"user ⟦Eve has joined.⟧", "user [Bob]\n@her is there?",
			)
			if system := r.model.Requests()[1].System; !strings.Contains(system, `You are in the chat "Tea room" on local`) || !strings.Contains(system, "<silent>") {
				t.Errorf("the prompt: %s", system)
			}
			same(t, "outcomes", r.outcomes(room), event.Silent, event.Replied)
		})
	})
	t.Run("of what was said in no turn she reads the newest hundred", func(t *testing.T) {
		bubble(t, setup{script: "call\ntext yes", core: answering()}, func(r *rig) {
			for i := range 150 {
				r.hear("Ann", fmt.Sprint("word ", i))
			}
			r.hear("Bob", "@her hello")
			r.idle()
			told := r.toldInCall(0)
			if len(told) != 101 || !strings.HasSuffix(told[0], "word 50") {
				t.Errorf("%d, beginning with %q", len(told), told[0])
			}
		})
	})
	t.Run("decisions H6 where others are heard, the owner is asked about every tool, in what is started from there, too; in the owner's own chat only about those that always ask", func(t *testing.T) {
		call := "call\ntool echo {\"words\":\"a\"}\ncall\ntext yes\n"
		bubble(t, setup{script: call + call + call, core: answering()}, func(r *rig) {
			room := r.hear("Bob", "@her echo").SessionID
			if a := r.pending(); a.SID == 0 {
				t.Error("nobody was asked")
			}
			r.answer(true, "")
			r.idle()
			child := r.do(core.CreateSession{Actor: owner, Parent: room, Name: "a task"}).SessionID
			r.send(child, "echo")
			r.pending()
			r.answer(false, "")
			r.idle()
			own := r.hear("me", "echo", func(c *core.Receive) {
				c.Window.Address, c.Window.Type, c.Window.MultiParty, c.Window.OwnersOwn = "local:1:private:me", "private", false, true
				c.Input.Speaker.Owner = true
			}).SessionID
			r.idle()
			same(t, "outcomes", r.outcomes(own), event.Replied)
		})
	})
	t.Run("in a session of the owner's, what nobody heard stays untold, and there is no word of rooms", func(t *testing.T) {
		bubble(t, setup{script: "call\ntext yes", core: answering()}, func(r *rig) {
			s := r.session()
			r.do(core.SendInput{Actor: owner, Session: s, Input: say("unheard"), Swallow: true})
			r.send(s, "hello")
			r.idle()
			same(t, "told", r.toldInCall(0), "user hello")
			if system := r.model.Requests()[0].System; strings.Contains(system, "<silent>") {
				t.Error(system)
			}
		})
	})
}
