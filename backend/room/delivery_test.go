package room_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/room/local"
	"aalis/backend/store"
	"aalis/backend/text"
)

// same checks that history, a fresh snapshot and whoever watched all along say the same of an item.
func (r *rig) same(live *client, session, id, undelivered string) {
	r.t.Helper()
	synctest.Wait()
	for where, i := range map[string]item{"live": live.item(id), "history": find(r.stored(session), id), "snapshot": find(r.shown(session), id)} {
		if i.ItemID == "" || !strings.Contains(i.undelivered(), undelivered) || (i.undelivered() == "") != (undelivered == "") {
			r.t.Errorf("%s: %q is undelivered by %q, want %q", where, i.Text, i.undelivered(), undelivered)
		}
	}
}

func TestWhatIsNotSent(t *testing.T) {
	play(t, "SP-AMSG-05 SP-AMSG-06 SP-REFR-07 what she says before a tool call stays in the program, and what she says last goes out", func(t *testing.T, r *rig) {
		turn := r.ask()
		c := r.watch(tea)
		r.words(turn, "I will look.")
		reply := r.reply(turn, "There is tea.")
		settle()
		r.same(c, tea, reply, "")
		r.same(c, tea, find(r.stored(tea), "I will look.").ItemID, "said on the way")
		if sent := r.platform.Sent("tea"); len(sent) != 1 || sent[0].Text != "There is tea." {
			t.Errorf("the platform took %+v", sent)
		}
	})
	play(t, "SP-AMSG-07 SP-REFR-07 a version that a retry throws away is undelivered", func(t *testing.T, r *rig) {
		turn := r.ask()
		c := r.watch(tea)
		id := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
		r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: id, Text: "wrong form", Aborted: true, Finish: event.FinishRetry}})
		r.reply(turn, "right form")
		settle()
		r.same(c, tea, id, "thrown away")
		if sent := r.platform.Sent("tea"); len(sent) != 1 || sent[0].Text != "right form" {
			t.Errorf("the platform took %+v", sent)
		}
	})
	play(t, "SP-AMSG-08 the words of a turn that was stopped or failed are undelivered, live and in history", func(t *testing.T, r *rig) {
		for how, end := range map[string]func(turn string){
			"stopped": func(turn string) {
				r.do(core.AbortTurn{Session: tea, Turn: turn})
				r.do(core.StopTurn{Turn: turn})
			},
			"failed": func(turn string) {
				r.do(core.StopTurn{Turn: turn, Failure: &event.Failure{Code: "x", Message: text.Plain("broken")}})
			},
		} {
			turn := r.ask()
			c := r.watch(tea)
			id := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
			if err := r.loop.Text(id, "half of it "+how); err != nil {
				t.Fatal(err)
			}
			end(turn)
			settle()
			r.same(c, tea, id, "without a reply")
		}
		if sent := r.platform.Sent("tea"); len(sent) != 0 {
			t.Errorf("the platform took %+v", sent)
		}
	})
	play(t, "SP-AMSG-08 SP-REFR-08 the last words of a silent turn are seen live, undelivered, and are in no history", func(t *testing.T, r *rig) {
		for _, said := range []string{" \n", core.SilentWord} {
			turn := r.ask()
			c := r.watch(tea)
			id := r.reply(turn, said)
			settle()
			if got := c.item(id); got.ItemID == "" || !strings.Contains(got.undelivered(), "without a reply") {
				t.Errorf("live: %+v", got)
			}
			if c.item(turn).Outcome != "silent" {
				t.Errorf("the turn ended as %q", c.item(turn).Outcome)
			}
			if got := find(r.stored(tea), id); got.ItemID != "" {
				t.Errorf("history has %+v", got)
			}
			if got := find(r.shown(tea), id); got.ItemID != "" {
				t.Errorf("the snapshot has %+v", got)
			}
		}
		if sent := r.platform.Sent("tea"); len(sent) != 0 {
			t.Errorf("the platform took %+v", sent)
		}
	})
	play(t, "SP-AMSG-06 a reply that something said meanwhile overtook does not go out", func(t *testing.T, r *rig) {
		turn := r.ask()
		c := r.watch(tea)
		r.say(local.Said{Room: "tea", Member: "Bob", Text: "@Aalis with milk?"})
		first := r.reply(turn, "There is tea.")
		r.do(core.JoinInputs{Turn: turn})
		last := r.reply(turn, "With milk.")
		settle()
		r.same(c, tea, first, "went on")
		r.same(c, tea, last, "")
	})
	play(t, "SP-AMSG-10 in a sub-session of a room nothing is undelivered and nothing goes out", func(t *testing.T, r *rig) {
		r.ask()
		child := r.do(core.CreateSession{Parent: tea, Name: "look it up"}).SessionID
		turn := r.do(core.SendInput{Session: child, Input: event.Input{Text: "look"}}).TurnID
		c := r.watch(child)
		r.words(turn, "I am looking.")
		reply := r.reply(turn, "Found.")
		settle()
		r.same(c, child, reply, "")
		r.same(c, child, find(r.stored(child), "I am looking.").ItemID, "")
		if sent := r.platform.Sent("tea"); len(sent) != 0 {
			t.Errorf("the platform took %+v", sent)
		}
	})
}

func TestWhatThePlatformSays(t *testing.T) {
	for _, c := range []struct{ how, reason, want string }{
		{local.Refuse, "the group is muted", "refused it: the group is muted"},
		{local.Refuse, "", "The platform refused it."},
		{local.Fail, "no route", "could not be sent: no route"},
		{local.Partial, "", "Only the first 1 of 3 pieces went out."},
		{local.Hang, "", "may have gone out"},
	} {
		play(t, "SP-AMSG-09 SP-REFR-06 a reply is undelivered by what the platform says: "+c.how+" "+c.reason, func(t *testing.T, r *rig) {
			r.answers(c.how, c.reason)
			turn := r.ask()
			w := r.watch(tea)
			id := r.reply(turn, "There is tea.")
			time.Sleep(time.Minute)
			r.same(w, tea, id, c.want)
			if w.item(turn).Outcome != "replied" {
				t.Errorf("the turn ended as %q", w.item(turn).Outcome)
			}
		})
	}
	play(t, "SP-AMSG-09 without a connection the reply is undelivered", func(t *testing.T, r *rig) {
		turn := r.ask()
		w := r.watch(tea)
		r.platform.Drop()
		id := r.reply(turn, "There is tea.")
		settle()
		r.same(w, tea, id, "not connected")
	})
	t.Run("SP-AMSG-09 what was on its way when the program ended may have gone out", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			r := openOn(t, dir, here)
			synctest.Wait()
			r.answers(local.Hold, "")
			turn := r.ask()
			id := r.reply(turn, "There is tea.")
			synctest.Wait()
			// As a kill leaves it: nobody settles what was being sent.
			copied := t.TempDir()
			copyDatabase(t, r, copied)
			r.stop()
			again := openOn(t, copied, here)
			defer again.stop()
			w := again.watch(tea)
			again.same(w, tea, id, "may have gone out")
			if n := len(again.platform.Sent("tea")); n != 0 {
				t.Errorf("it was sent again: %d times", n)
			}
		})
	})
}

// copyDatabase takes the rows as they are now.
func copyDatabase(t *testing.T, r *rig, to string) {
	t.Helper()
	if err := r.st.Backup(t.Context(), filepath.Join(to, store.FileName)); err != nil {
		t.Fatal(err)
	}
}

func TestAnswersThatComeLate(t *testing.T) {
	for _, c := range []struct{ how, want string }{{local.Accept, ""}, {local.Refuse, "refused"}} {
		play(t, "SP-SUB-25 SP-SUB-29 SP-REFR-06 a turn whose reply the platform has not answered is not concluded: "+c.how, func(t *testing.T, r *rig) {
			r.answers(local.Hold, "")
			turn := r.ask()
			before := r.watch(tea)
			id := r.reply(turn, "There is tea.")
			synctest.Wait()
			after := r.watch(tea) // subscribed between the end of the turn and the answer
			got := after.item(id)
			if got.Text != "There is tea." || got.Undelivered != nil || got.Ext == nil || !got.Ext.Sending {
				t.Errorf("the snapshot before the answer has %+v", got)
			}
			if asked := find(r.shown(tea), "@Aalis, is there tea?"); asked.TurnID != turn || asked.Entry != "opened" {
				t.Errorf("the question is %+v", asked)
			}
			if late := r.stored(tea); len(late) != 0 {
				t.Errorf("history before the answer has %+v", late)
			}
			pushed := before.pushes
			r.answers(c.how, "")
			for who, w := range map[string]*client{"live": before, "after": after} {
				if got := w.item(id); (got.undelivered() == "") != (c.want == "") || got.Ext != nil {
					t.Errorf("%s: %+v", who, got)
				}
			}
			if before.pushes != pushed+1 {
				t.Errorf("the answer came as %d pushes", before.pushes-pushed)
			}
			r.same(after, tea, id, c.want)
			if n := len(r.stored(tea)); n != 3 { // question, reply, turn
				t.Errorf("history after the answer has %d items", n)
			}
		})
	}
	play(t, "SP-SUB-29 two turns wait at once, and each concludes with its own answer", func(t *testing.T, r *rig) {
		r.answers(local.Hold, "")
		one := r.reply(r.ask(), "one")
		two := r.reply(r.ask(), "two")
		synctest.Wait()
		w := r.watch(tea)
		if w.item(one).Ext == nil || w.item(two).Ext == nil {
			t.Errorf("%+v %+v", w.item(one), w.item(two))
		}
		r.answers(local.Accept, "")
		settle()
		r.same(w, tea, one, "")
		r.same(w, tea, two, "")
		if sent := r.platform.Sent("tea"); len(sent) != 2 || sent[0].Text != "one" {
			t.Errorf("the platform took %+v", sent)
		}
	})
}

func TestATurnNobodyAnswered(t *testing.T) {
	play(t, "SP-TREE-11 a turn that was blocked and has no outcome counts as silent in lastTurn", func(t *testing.T, r *rig) {
		turn := r.ask()
		r.do(core.EndSilent{Turn: turn}) // nothing was asked of a model and nothing said
		c := r.connect()
		if raw := string(c.ask("sessions/list", `{"section":"rooms"}`)); !strings.Contains(raw, `"lastTurn":{"outcome":"silent"`) {
			t.Error(raw)
		}
	})
}

func TestWhatIsNotHers(t *testing.T) {
	out := core.SendOut{Session: tea, Topic: "command-reply", Text: text.Plain("Everything is well."), Attachments: []event.Attachment{
		{Kind: "image", Name: "cat.png"}, {Kind: "file", Name: "a.pdf", URL: "https://x.test/a.pdf"},
	}}
	play(t, "SP-NOTICE-09 SP-NOTICE-10 SP-NOTICE-11 SP-NOTICE-12 a command's reply and its attachments are notices, one each, live as in history", func(t *testing.T, r *rig) {
		r.say(local.Said{Room: "tea", Member: "Ann", Text: "hello"})
		c := r.watch(tea)
		r.do(out)
		settle()
		for where, all := range map[string][]item{"live": c.all(), "history": r.stored(tea), "snapshot": r.shown(tea)} {
			var got []string
			for _, i := range all {
				if i.Kind == "agent-message" {
					t.Errorf("%s: hers: %+v", where, i)
				}
				if i.Kind != "notice" {
					continue
				}
				line := i.Topic + "|" + i.Text
				if i.Attachment != nil {
					line += "|" + i.Attachment.Name
				}
				got = append(got, line)
			}
			if want := "command-reply|Everything is well., event-marker|[Image] cat.png, event-marker||a.pdf"; strings.Join(got, ", ") != want {
				t.Errorf("%s: %v", where, got)
			}
		}
		if sent := r.platform.Sent("tea"); len(sent) != 1 || sent[0].Text != "Everything is well." || len(sent[0].Attachments) != 2 {
			t.Errorf("the platform took %+v", sent)
		}
	})
	play(t, "SP-NOTICE-11 a hint of the program's is an event marker", func(t *testing.T, r *rig) {
		r.say(local.Said{Room: "tea", Member: "Ann", Text: "hello"})
		r.do(core.SendOut{Session: tea, Text: text.Plain("The model is away.")})
		settle()
		if got := find(r.stored(tea), "The model is away."); got.Topic != "event-marker" {
			t.Errorf("%+v", got)
		}
	})
	play(t, "SP-REFR-09 it is pushed when it is sent, and is in a snapshot only once the platform took it", func(t *testing.T, r *rig) {
		r.say(local.Said{Room: "tea", Member: "Ann", Text: "hello"})
		c := r.watch(tea)
		r.answers(local.Hold, "")
		r.do(out)
		settle()
		if find(c.all(), "Everything is well.").ItemID == "" {
			t.Error("nobody was shown it")
		}
		for where, all := range map[string][]item{"history": r.stored(tea), "snapshot": r.shown(tea)} {
			if len(all) != 1 {
				t.Errorf("%s before delivery: %+v", where, all)
			}
		}
		r.answers(local.Accept, "")
		settle()
		for where, all := range map[string][]item{"history": r.stored(tea), "snapshot": r.shown(tea)} {
			if len(all) != 4 || find(all, "Everything is well.").ItemID != find(c.all(), "Everything is well.").ItemID {
				t.Errorf("%s after delivery: %+v", where, all)
			}
		}
	})
	play(t, "SP-REFR-10 what the platform did not take is seen live only", func(t *testing.T, r *rig) {
		r.say(local.Said{Room: "tea", Member: "Ann", Text: "hello"})
		c := r.watch(tea)
		r.answers(local.Refuse, "no")
		r.do(out)
		settle()
		if find(c.all(), "Everything is well.").ItemID == "" {
			t.Error("nobody was shown it")
		}
		for where, all := range map[string][]item{"history": r.stored(tea), "snapshot": r.shown(tea)} {
			if len(all) != 1 {
				t.Errorf("%s: %+v", where, all)
			}
		}
	})
	play(t, "SP-REFR-11 where such messages are not kept, it is seen live only, though the platform took it", func(t *testing.T, r *rig) {
		r.rule(core.Rules{Answer: core.AnswerAddressed, Forget: true})
		r.say(local.Said{Room: "tea", Member: "Ann", Text: "hello"})
		c := r.watch(tea)
		r.do(out)
		settle()
		if find(c.all(), "Everything is well.").ItemID == "" || len(r.platform.Sent("tea")) != 1 {
			t.Error("it was not shown, or did not go out")
		}
		for where, all := range map[string][]item{"history": r.stored(tea), "snapshot": r.shown(tea)} {
			if len(all) != 1 {
				t.Errorf("%s: %+v", where, all)
			}
		}
	})
	play(t, "SP-NOTICE-12 in a session of the owner's it is there at once, and stays", func(t *testing.T, r *rig) {
		mine := r.do(core.CreateSession{Name: "mine"}).SessionID
		out := out
		out.Session = mine
		r.do(out)
		if all := r.stored(mine); len(all) != 3 {
			t.Errorf("%+v", all)
		}
	})
}

func (c *client) all() (all []item) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range c.order {
		all = append(all, c.items[id])
	}
	return all
}

func TestSentByATool(t *testing.T) {
	// sent has a session of the owner's send into the tea room by a tool, and gives the card's id.
	sent := func(r *rig) (mine, turn, call string) {
		r.say(local.Said{Room: "tea", Member: "Ann", Text: "hello"})
		mine = r.do(core.CreateSession{Name: "mine"}).SessionID
		turn = r.do(core.SendInput{Session: mine, Input: event.Input{Text: "tell them"}}).TurnID
		return mine, turn, r.call(turn, "send_message")
	}
	for _, c := range []struct {
		how   string
		state string
		sent  bool
	}{{local.Accept, event.DeliveryAccepted, true}, {local.Refuse, event.DeliveryRefused, false}, {local.Partial, event.DeliveryPartial, false}} {
		play(t, "SP-TOOL-22 a card says that the platform took what it sent: "+c.how, func(t *testing.T, r *rig) {
			mine, turn, call := sent(r)
			w := r.watch(mine)
			r.answers(c.how, "")
			got, err := r.service.Send(t.Context(), turn, call, tea, out("Tea!"))
			if err != nil || got.State != c.state {
				t.Fatalf("%+v, %v", got, err)
			}
			r.do(core.CompleteTool{Turn: turn, Result: event.Result{CallID: call, Status: event.ResultSucceeded, Text: "x"}})
			r.reply(turn, "done")
			settle()
			for where, all := range map[string][]item{"live": w.all(), "history": r.stored(mine), "snapshot": r.shown(mine)} {
				if find(all, call).SentToRoom != c.sent {
					t.Errorf("%s: %+v", where, find(all, call))
				}
			}
			said := find(r.stored(tea), "Tea!")
			if (said.Kind == "agent-message") != c.sent {
				t.Errorf("the room has %+v", said)
			}
		})
	}
	play(t, "SP-SUB-29 SP-TOOL-22 a turn whose message the platform has not answered is not concluded, and the answer comes to the same card", func(t *testing.T, r *rig) {
		mine, turn, call := sent(r)
		r.answers(local.Hold, "")
		began := time.Now()
		got, err := r.service.Send(t.Context(), turn, call, tea, out("Tea!"))
		if err != nil || got.State != event.DeliveryPending || time.Since(began) > 10*time.Second {
			t.Fatalf("%+v, %v after %v", got, err, time.Since(began))
		}
		r.do(core.CompleteTool{Turn: turn, Result: event.Result{CallID: call, Status: event.ResultSucceeded, Text: "x"}})
		r.reply(turn, "done")
		w := r.watch(mine)
		if got := w.item(call); got.Status != "completed" || got.SentToRoom {
			t.Errorf("before the answer: %+v", got)
		}
		if all := r.stored(mine); len(all) != 0 {
			t.Errorf("history before the answer: %+v", all)
		}
		r.answers(local.Accept, "")
		settle()
		for where, all := range map[string][]item{"live": w.all(), "history": r.stored(mine)} {
			if !find(all, call).SentToRoom {
				t.Errorf("%s: %+v", where, find(all, call))
			}
		}
	})
	play(t, "a call sends once, into rooms only, and not after its turn was stopped", func(t *testing.T, r *rig) {
		mine, turn, call := sent(r)
		if _, err := r.service.Send(t.Context(), turn, call, mine, out("x")); err == nil {
			t.Error("it sent into a session that is no room")
		}
		if _, err := r.service.Send(t.Context(), turn, call, tea, out("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := r.service.Send(t.Context(), turn, call, tea, out("x")); err == nil {
			t.Error("it sent twice")
		}
		other := r.call(turn, "send_message")
		r.do(core.AbortTurn{Session: mine})
		if _, err := r.service.Send(t.Context(), turn, other, tea, out("x")); err == nil {
			t.Error("it sent for a stopped turn")
		}
		if n := len(r.platform.Sent("tea")); n != 1 {
			t.Errorf("the platform took %d", n)
		}
	})
}

func TestTheFirstAnswerStands(t *testing.T) {
	play(t, "what a platform answered once is not answered again", func(t *testing.T, r *rig) {
		id := r.reply(r.ask(), "There is tea.")
		settle()
		var said string
		if err := r.loop.Read(t.Context(), func(tx *store.ReadTx) error {
			s, err := tx.Session(tea)
			if err != nil {
				return err
			}
			e, _, err := tx.Child(s.SID, id, event.AgentMessage)
			said = e.ID
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if got := r.do(core.SettleDelivery{EventID: said, Result: event.Delivery{State: event.DeliveryRefused}}); !got.Repeated {
			t.Errorf("%+v", got)
		}
		if got := find(r.stored(tea), id); got.Undelivered != nil {
			t.Errorf("%+v", got)
		}
	})
}

func TestADeletedRoom(t *testing.T) {
	play(t, "what was on its way into a room that is deleted is forgotten, and the next message makes the room anew", func(t *testing.T, r *rig) {
		r.answers(local.Hold, "")
		r.reply(r.ask(), "There is tea.")
		r.do(core.DeleteSession{Session: tea})
		r.answers(local.Accept, "")
		settle()
		if err := core.EraseAll(context.Background(), r.loop); err != nil {
			t.Fatal(err)
		}
		if heard := r.say(local.Said{Room: "tea", Member: "Ann", Text: "hello again"}); heard.SessionID == "" || heard.Repeated {
			t.Errorf("%+v", heard)
		}
		if all := r.stored(tea); len(all) != 1 {
			t.Errorf("%+v", all)
		}
		var left []store.Delivery
		if err := r.loop.Read(t.Context(), func(tx *store.ReadTx) (err error) { left, err = tx.PendingDeliveries(); return err }); err != nil || len(left) > 0 {
			t.Errorf("%+v, %v", left, err)
		}
	})
}
