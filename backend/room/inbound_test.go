package room_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/room"
	"aalis/backend/room/local"
	"aalis/backend/store"
	"aalis/backend/text"
)

func TestWhatIsSaidInRooms(t *testing.T) {
	play(t, "SP-UMSG-08 SP-UMSG-09 SP-UMSG-10 what opened a turn, what joined it, what entered none, and whether she was called", func(t *testing.T, r *rig) {
		r.say(local.Said{Room: "tea", Member: "Bob", Text: "nice weather"})
		turn := r.ask()
		r.say(local.Said{Room: "tea", Member: "Bob", Text: "I want some, too"})
		r.say(local.Said{Room: "tea", Member: "Bob", Text: "@aalis for me as well"})
		r.do(core.JoinInputs{Turn: turn})
		r.reply(turn, "Yes.")
		settle()
		r.rule(core.Rules{Answer: core.AnswerAlways})
		always := r.say(local.Said{Room: "tea", Member: "Ann", Text: "thanks"}).TurnID
		r.reply(always, "Welcome.")
		private := r.say(local.Said{Room: "Ann", Member: "Ann", Text: "and you?"}).TurnID
		r.reply(private, "Me, too.")
		settle()
		own := r.do(core.SendInput{Session: tea, Input: event.Input{Text: "from the screen", Speaker: event.Speaker{Platform: "webui", UserID: "console", Owner: true}}}).TurnID
		r.reply(own, "Here.")
		settle()
		all := append(r.stored(tea), r.stored(ann)...)
		for _, c := range []struct{ said, entry, turn, addressed string }{
			{"nice weather", "", "", "absent"},
			{"@Aalis, is there tea?", "opened", turn, "true"},
			{"I want some, too", "", "", "absent"},
			{"@aalis for me as well", "joined", turn, "true"},
			{"thanks", "opened", always, "false"},
			{"and you?", "opened", private, "absent"},
			{"from the screen", "opened", own, "absent"},
		} {
			got := find(all, c.said)
			if got.Kind != "user-message" || got.Entry != c.entry || got.TurnID != c.turn || got.addressed() != c.addressed {
				t.Errorf("%q: %+v, addressed %s", c.said, got, got.addressed())
			}
		}
		if said := r.platform.Sent("tea"); len(said) != 3 || said[2].Text != "Here." {
			t.Errorf("the reply to the owner's own words went out as %+v", said)
		}
	})
	play(t, "SP-SUB-32 SP-ITEM-04 what enters no turn is shown at once, between the items of the turn that runs", func(t *testing.T, r *rig) {
		turn := r.ask()
		r.words(turn, "I will look.")
		c := r.watch(tea)
		pushed := c.pushes
		time.Sleep(time.Millisecond)
		heard := r.say(local.Said{Room: "tea", Member: "Bob", Text: "no hurry"})
		if got := c.item(heard.EventID); got.Text != "no hurry" || c.pushes != pushed+1 {
			t.Errorf("%+v", got)
		}
		r.words(turn, "Nearly.")
		var order []string
		for _, i := range r.shown(tea) {
			if i.Kind != "turn" {
				order = append(order, i.Text)
			}
		}
		if want := []string{"@Aalis, is there tea?", "I will look.", "no hurry", "Nearly."}; !slices.Equal(order, want) {
			t.Errorf("%q", order)
		}
	})
	play(t, "SP-UMSG-05 SP-UMSG-06 SP-UMSG-07 forwarded records are told by their facts, and what could not be read has none", func(t *testing.T, r *rig) {
		var people []string
		for i := range 11 {
			people = append(people, fmt.Sprintf("p%d(%d)", i, i))
		}
		r.say(local.Said{Room: "tea", Member: "Ann", Text: "look at that", Forwards: []event.Forward{
			{Facts: &event.ForwardFacts{Count: 30, Participants: people, Text: "they spoke of tea", CutOff: true}}, {},
		}})
		got := find(r.stored(tea), "look at that") // the text has nothing put in for them
		if len(got.Forwards) != 2 || got.Forwards[1].Facts != nil {
			t.Fatalf("%+v", got)
		}
		f := got.Forwards[0].Facts
		if f.Count != 30 || len(f.Participants) != 8 || f.Participants[7] != "p7(7)" || f.Unlisted != 3 || f.Text != "they spoke of tea" || !f.CutOff {
			t.Errorf("%+v", f)
		}
	})
	play(t, "SP-UMSG-04 an old question without recorded words is the body as it was archived", func(t *testing.T, r *rig) {
		r.say(local.Said{Room: "tea", Member: "Ann", Text: "hello"})
		r.do(core.SendInput{Session: tea, Swallow: true, Input: event.Input{Body: "[Ann(7)]: [image] hello", Speaker: event.Speaker{Platform: "local", UserID: "7"}}})
		r.do(core.SendInput{Session: tea, Swallow: true, Input: event.Input{Body: "[Ann(7)]: hello", Text: "recorded", Speaker: event.Speaker{Platform: "local", UserID: "7"}}})
		if all := r.stored(tea); find(all, "[Ann(7)]: [image] hello").Kind != "user-message" || find(all, "recorded").Kind != "user-message" {
			t.Errorf("%+v", all)
		}
	})
	play(t, "a person is shown by platform, id and name, and the owner as the owner", func(t *testing.T, r *rig) {
		r.say(local.Said{Room: "tea", Member: "Ann", Text: "one"})
		r.say(local.Said{Room: "tea", Member: "me", Text: "two"})
		all := r.stored(tea)
		if s := find(all, "one").Speaker; s.Platform != "local" || s.UserID != "Ann" || s.Nickname != "Ann" || s.Owner || s.Source != "" {
			t.Errorf("%+v", s)
		}
		if s := find(all, "two").Speaker; !s.Owner {
			t.Errorf("%+v", s)
		}
	})
}

func TestWhatHappensInRooms(t *testing.T) {
	play(t, "SP-NOTICE-13 SP-NOTICE-14 SP-UMSG-11 SP-TURNI-01 what happens on a platform is a notice under the platform's name for it, and may open a turn or join one", func(t *testing.T, r *rig) {
		poke := r.say(local.Said{Room: "tea", Member: "Bob", Happens: local.Poke})
		got := find(r.shown(tea), poke.EventID)
		if got.Kind != "notice" || got.Topic != "poke" || got.Text != "Bob poked her." || got.Entry != "opened" || got.TurnID != poke.TurnID || got.addressed() != "true" {
			t.Errorf("the poke: %+v, addressed %s", got, got.addressed())
		}
		again := r.say(local.Said{Room: "tea", Member: "Ann", Happens: local.Poke})
		r.do(core.JoinInputs{Turn: poke.TurnID})
		r.reply(poke.TurnID, "Ouch.")
		settle()
		if got := find(r.stored(tea), again.EventID); got.Entry != "joined" || got.TurnID != poke.TurnID || got.addressed() != "true" {
			t.Errorf("the second poke: %+v", got)
		}
		if turn := find(r.stored(tea), poke.TurnID); turn.Source != "poke" {
			t.Errorf("the turn: %+v", turn)
		}
		request := r.say(local.Said{Room: "Ann", Member: "Ann", Text: "it is me", Happens: local.FriendRequest})
		if got := find(r.shown(ann), request.EventID); got.Kind != "notice" || got.Topic != "local-request" || got.Text != "Ann asks to be her friend: it is me" || got.Entry != "opened" || got.addressed() != "absent" {
			t.Errorf("the request: %+v", got)
		}
		joined := r.say(local.Said{Room: "tea", Member: "Eve", Happens: local.Join})
		if got := find(r.stored(tea), joined.EventID); got.Topic != "group_increase" || got.Entry != "" || got.TurnID != "" || got.addressed() != "absent" {
			t.Errorf("the new member: %+v", got)
		}
	})
	play(t, "SP-QUEUE-03 a platform event that waits is in the queue by its sentence", func(t *testing.T, r *rig) {
		r.ask()
		c := r.watch(tea)
		r.say(local.Said{Room: "tea", Member: "Bob", Happens: local.Poke})
		if q := c.item("queue"); len(q.Entries) != 1 || q.Entries[0].Text != "Bob poked her." || q.Entries[0].Speaker.Source != "poke" || q.Entries[0].Speaker.UserID != "Bob" {
			t.Errorf("%+v", q)
		}
	})
	play(t, "what happens where nobody ever spoke makes no room, unless she is to hear of it", func(t *testing.T, r *rig) {
		if heard := r.say(local.Said{Room: "tea", Member: "Eve", Happens: local.Join}); heard.SessionID != "" {
			t.Errorf("%+v", heard)
		}
		if heard := r.say(local.Said{Room: "tea", Member: "Bob", Happens: local.Poke}); heard.SessionID == "" {
			t.Error("the poke made none")
		}
	})
}

func TestTheRules(t *testing.T) {
	said := func(member, words string) local.Said { return local.Said{Room: "tea", Member: member, Text: words} }
	for _, c := range []struct {
		name  string
		rules core.Rules
		said  local.Said
		opens bool
	}{
		{"addressed, a remark", core.Rules{Answer: core.AnswerAddressed}, said("Bob", "hello"), false},
		{"addressed, a mention", core.Rules{Answer: core.AnswerAddressed}, said("Bob", "hello @Aalis"), true},
		{"addressed, a name", core.Rules{Answer: core.AnswerAddressed, Names: []string{"Mira"}}, said("Bob", "mira, hello"), true},
		{"addressed, a name inside a word", core.Rules{Answer: core.AnswerAddressed, Names: []string{"Mira"}}, said("Bob", "a miracle, admiral"), false},
		{"addressed, a name between Chinese words", core.Rules{Answer: core.AnswerAddressed, Names: []string{"小艾"}}, said("Bob", "请小艾看看"), true},
		{"addressed, a private chat", core.Rules{Answer: core.AnswerAddressed}, local.Said{Room: "Ann", Member: "Ann", Text: "hello"}, true},
		{"always", core.Rules{Answer: core.AnswerAlways}, said("Bob", "hello"), true},
		{"never", core.Rules{Answer: core.AnswerNever}, said("Bob", "hello @Aalis"), false},
		{"never, a private chat", core.Rules{Answer: core.AnswerNever}, local.Said{Room: "Ann", Member: "Ann", Text: "hello"}, false},
		{"nothing set", core.Rules{}, said("Bob", "hello @Aalis"), false},
		{"the owner only, somebody else", core.Rules{Answer: core.AnswerAlways, OwnerOnly: true}, said("Bob", "hello @Aalis"), false},
		{"the owner only, the owner", core.Rules{Answer: core.AnswerAddressed, OwnerOnly: true}, said("me", "hello @Aalis"), true},
		{"the owner only, a poke by somebody else", core.Rules{Answer: core.AnswerAlways, OwnerOnly: true}, local.Said{Room: "tea", Member: "Bob", Happens: local.Poke}, false},
	} {
		play(t, c.name, func(t *testing.T, r *rig) {
			r.rule(c.rules)
			if heard := r.say(c.said); (heard.TurnID != "") != c.opens {
				t.Errorf("%+v", heard)
			}
		})
	}
	play(t, "for a while after a reply, remarks open no turn even where she always answers; a mention does", func(t *testing.T, r *rig) {
		r.rule(core.Rules{Answer: core.AnswerAlways, Pause: 10_000})
		r.reply(r.say(said("Bob", "one")).TurnID, "1")
		if r.say(said("Bob", "two")).TurnID != "" {
			t.Error("a remark opened a turn at once")
		}
		turn := r.say(said("Bob", "@Aalis three")).TurnID
		if turn == "" {
			t.Fatal("a mention opened none")
		}
		r.reply(turn, "3")
		time.Sleep(11 * time.Second)
		if r.say(said("Bob", "four")).TurnID == "" {
			t.Error("a remark opened none after the pause")
		}
	})
}

func TestAMessageThatComesAgain(t *testing.T) {
	play(t, "FAIL-H10 a message that the platform delivers three times is one message, one turn and one reply, though the reply's receipt is lost", func(t *testing.T, r *rig) {
		r.answers(local.Hang, "") // it takes the reply and never says so
		id, heard, err := r.platform.Say(t.Context(), local.Said{Room: "tea", Member: "Ann", Text: "@Aalis, is there tea?"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			again, err := r.platform.Redeliver(t.Context(), id)
			if err != nil || !again.Repeated || again.EventID != heard.EventID || again.TurnID != heard.TurnID {
				t.Errorf("%+v, %v", again, err)
			}
		}
		item := r.reply(heard.TurnID, "There is tea.")
		time.Sleep(time.Minute)
		again, err := r.platform.Redeliver(t.Context(), id)
		if err != nil || !again.Repeated {
			t.Errorf("%+v, %v", again, err)
		}
		time.Sleep(time.Minute)
		kinds := map[string]int{}
		for _, i := range r.stored(tea) {
			kinds[i.Kind]++
		}
		if kinds["user-message"] != 1 || kinds["turn"] != 1 || kinds["agent-message"] != 1 {
			t.Errorf("%v", kinds)
		}
		if n := len(r.platform.Sent("tea")); n != 1 {
			t.Errorf("the platform got the reply %d times", n)
		}
		if got := find(r.stored(tea), item); !strings.Contains(got.undelivered(), "may have gone out") {
			t.Errorf("%+v", got)
		}
	})
	play(t, "what was said while the connection was down arrives once, in order", func(t *testing.T, r *rig) {
		r.platform.Drop()
		for i := range 5 {
			r.say(local.Said{Room: "tea", Member: "Ann", Text: fmt.Sprint("word ", i)})
		}
		if err := r.platform.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, i := range r.stored(tea) {
			said = append(said, i.Text)
		}
		if got := strings.Join(said, ","); got != "word 0,word 1,word 2,word 3,word 4" {
			t.Error(got)
		}
	})
}

// clock is a command that tells how often it was given.
type clock struct {
	mu    sync.Mutex // guards given
	given int
}

func (c *clock) Knows(said string) bool { return strings.HasPrefix(said, "/clock") }

func (c *clock) Run(_ context.Context, _ string, by event.Actor, said string) (text.Text, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.given++
	return text.Plain(fmt.Sprintf("%s by %s: %d", said, by.UserID, c.given)), nil
}

func TestCommandsInRooms(t *testing.T) {
	play(t, "SP-NOTICE-11 a command of the owner's is done once, opens no turn, and is answered in the room; of others it is a remark", func(t *testing.T, r *rig) {
		id, heard, err := r.platform.Say(t.Context(), local.Said{Room: "tea", Member: "me", Text: "/clock now", Mention: true})
		if err != nil || heard.TurnID != "" {
			t.Fatalf("%+v, %v", heard, err)
		}
		if _, err := r.platform.Redeliver(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		r.say(local.Said{Room: "tea", Member: "Bob", Text: "/clock now"})
		settle()
		all := r.stored(tea)
		if got := find(all, "/clock now by me: 1"); got.Kind != "notice" || got.Topic != "command-reply" || len(all) != 3 {
			t.Errorf("%+v", all)
		}
		if sent := r.platform.Sent("tea"); len(sent) != 1 || sent[0].Text != "/clock now by me: 1" {
			t.Errorf("the platform took %+v", sent)
		}
	}, func(o *room.Options) { o.Commands = &clock{} })
}

func TestTheRecordOfARoom(t *testing.T) {
	play(t, "SP-SUM-08 SP-SUM-09 SP-SUM-10 SP-SUM-15 SP-SUM-16 SP-GROUP-07 a room is filed by what its adapter says, and follows it", func(t *testing.T, r *rig) {
		r.say(local.Said{Room: "tea", Member: "Ann", Text: "hello"})
		r.say(local.Said{Room: "me", Member: "me", Text: "hello"})
		c := r.connect()
		read := func() map[string]string {
			var got struct {
				Sessions []struct {
					ID, Title, Kind, Section, Platform, Instance, Account string
					Chat                                                  struct {
						Type       string
						MultiParty bool
					}
					Place struct{ Key, Kind, Name string }
				}
				Groups []struct{ Platform, Instance, Label string }
			}
			if err := json.Unmarshal(c.ask("sessions/list", `{"section":"rooms"}`), &got); err != nil {
				t.Fatal(err)
			}
			all := map[string]string{}
			for _, s := range got.Sessions {
				all[s.ID] = fmt.Sprint(s.Title, s.Kind, s.Section, s.Platform, s.Instance, s.Account, s.Chat, s.Place)
			}
			for _, g := range got.Groups {
				all["group"] = g.Platform + " " + g.Instance + " " + g.Label
			}
			return all
		}
		all := read()
		if want := "Tea room" + "room" + "rooms" + "local" + "local" + "10001" + "{group true}" + "{window:" + tea + " window Tea room}"; strings.ReplaceAll(all[tea], " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%q", all[tea])
		}
		if mine := all["local:10001:private:me"]; !strings.Contains(mine, "workspace:default") {
			t.Errorf("%q", mine)
		}
		if all["group"] != "local local Local rooms" {
			t.Errorf("%q", all["group"])
		}
		r.platform.Create(local.Group{ID: "tea", Name: "Coffee room", Members: []string{"Ann"}})
		r.say(local.Said{Room: "tea", Member: "Ann", Text: "renamed"})
		if got := read()[tea]; strings.Count(got, "Coffee room") != 2 {
			t.Errorf("%q", got)
		}
	})
	t.Run("SP-GROUP-07 an instance that is not the only one is named with its own name", func(t *testing.T) {
		for id, want := range map[string]string{"local": "Local rooms", "local:home": "Local rooms (home)"} {
			if got := local.New(local.Config{ID: id}).Info().Name().In(text.English); got != want {
				t.Errorf("%s: %q", id, got)
			}
		}
	})
}

// crowd is a group of n who speak at once, each k times.
func crowd(t testing.TB, r *rig, n, k int, words func(who, i int) string) {
	t.Helper()
	g := local.Group{ID: "crowd", Name: "A crowd"}
	for i := range n {
		g.Members = append(g.Members, fmt.Sprint("m", i))
	}
	r.platform.Create(g)
	var all sync.WaitGroup
	for i, who := range g.Members {
		all.Go(func() {
			for j := range k {
				if _, _, err := r.platform.Say(context.Background(), local.Said{Room: "crowd", Member: who, Text: words(i, j)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestACrowd(t *testing.T) {
	const address = "local:10001:group:crowd"
	play(t, "FAIL-H10 500 members who call her at once, three times each: all is recorded once and in order, one turn opens, and the queue stays short", func(t *testing.T, r *rig) {
		const members, each = 500, 3
		r.platform.Create(local.Group{ID: "crowd", Name: "A crowd", Members: []string{"m0"}})
		r.say(local.Said{Room: "crowd", Member: "m0", Text: "before"})
		c := r.watch(address)
		crowd(t, r, members, each, func(who, i int) string { return fmt.Sprintf("@Aalis %d of %d", i, who) })
		synctest.Wait()
		next, seen, opened, pending := make([]int, members), 0, 0, 0
		if err := r.loop.Read(t.Context(), func(tx *store.ReadTx) error {
			s, err := tx.Session(address)
			if err != nil {
				return err
			}
			if pending, err = tx.QueueLength(s.SID); err != nil {
				return err
			}
			events, err := tx.Between(s.SID, 0, 1<<31)
			for _, e := range events {
				in, ok := e.Payload.(event.Input)
				if !ok || in.Text == "before" {
					continue
				}
				var i, who int
				if _, err := fmt.Sscanf(in.Text, "@Aalis %d of %d", &i, &who); err != nil {
					return err
				}
				if next[who] != i {
					t.Errorf("of member %d, %d came before %d", who, i, next[who])
				}
				next[who]++
				seen++
				if in.State == event.InputOpened {
					opened++
				}
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if seen != members*each || opened != 1 || pending != core.QueueMax {
			t.Errorf("%d recorded, %d turns, %d wait", seen, opened, pending)
		}
		if c.bytes > 1500*members*each {
			t.Errorf("a client was sent %d bytes for %d messages", c.bytes, members*each)
		}
	})
	play(t, "500 members who speak at once and call nobody open no turn", func(t *testing.T, r *rig) {
		crowd(t, r, 500, 1, func(who, _ int) string { return fmt.Sprint("word ", who) })
		synctest.Wait()
		c := r.connect()
		if raw := string(c.ask("sessions/list", `{"section":"rooms"}`)); strings.Contains(raw, `"running":true`) {
			t.Error(raw)
		}
		if all := r.stored(address); len(all) != 100 {
			t.Errorf("%d items in a page", len(all))
		}
	})
}

// BenchmarkReceive measures inbound messages of a crowd, each waiting for its own commit.
func BenchmarkReceive(b *testing.B) {
	for _, members := range []int{1, 50, 500} {
		b.Run(fmt.Sprintf("%d members", members), func(b *testing.B) {
			r := open(b, here)
			defer r.stop()
			for {
				if err := r.platform.Restore(b.Context()); err == nil && len(r.platform.Rooms()) > 0 {
					if _, heard, err := r.platform.Say(b.Context(), local.Said{Room: "tea", Member: "Ann", Text: "first"}); err == nil && heard.SessionID != "" {
						break
					}
				}
			}
			each := max(1, b.N/members)
			b.ResetTimer()
			crowd(b, r, members, each, func(who, i int) string { return fmt.Sprintf("word %d of %d", i, who) })
			b.ReportMetric(float64(each*members)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
