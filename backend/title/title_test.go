package title_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/title"
)

var owner = event.Actor{Kind: "owner", Principal: event.OwnerID, Platform: "webui", UserID: "console", Owner: true, Via: "session"}

// rig is a log that is named by a model that says what ask says.
type rig struct {
	t    *testing.T
	loop *core.Loop
}

type admitted struct{}

func (admitted) Admit(event.Policy) string { return "" }

// named runs fn in a bubble.
func named(t *testing.T, ask title.Ask, fn func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(store.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		loop, err := core.New(core.Options{Store: st, Admission: admitted{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var parts sync.WaitGroup
		naming, stopNaming := context.WithCancel(ctx)
		var named sync.WaitGroup
		parts.Go(func() { _ = loop.Run(ctx) })
		named.Go(func() {
			if err := title.Run(naming, title.Options{Loop: loop, Ask: ask}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		fn(&rig{t: t, loop: loop})
		stopNaming()
		named.Wait()
		cancel()
		parts.Wait()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
}

func (r *rig) do(cmd core.Command) core.Receipt {
	r.t.Helper()
	got, err := r.loop.Do(context.Background(), cmd)
	if err != nil {
		r.t.Fatalf("%T: %v", cmd, err)
	}
	synctest.Wait()
	return got
}

func (r *rig) send(session, words string) string {
	return r.do(core.SendInput{Actor: owner, Session: session, Input: event.Input{Text: words, Speaker: event.Speaker{Owner: true}}}).TurnID
}

func (r *rig) reply(turn, words string) {
	id := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
	r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: id, Text: words}, Last: true})
}

func (r *rig) title(session string) (title string) {
	r.t.Helper()
	err := r.loop.Read(context.Background(), func(tx *store.ReadTx) error {
		s, err := tx.Session(session)
		title = s.Title
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return title
}

func (r *rig) titled(session, want string) {
	r.t.Helper()
	if got := r.title(session); got != want {
		r.t.Errorf("the title is %q, want %q", got, want)
	}
}

func TestNames(t *testing.T) {
	var asked []string
	say := func(_ context.Context, _, question, answer string) (string, error) {
		asked = append(asked, question+" | "+answer)
		return " “Trips to Rome”. \nBecause you asked", nil
	}
	t.Run("the first words stand until the model has named the first exchange, once", func(t *testing.T) {
		named(t, say, func(r *rig) {
			s := r.do(core.CreateSession{Actor: owner}).SessionID
			turn := r.send(s, "\n  Please find me\ta cheap trip\nto Rome")
			r.titled(s, "Please find me a ch…")
			r.reply(turn, "Here it is")
			r.titled(s, "Trips to Rome")
			r.reply(r.send(s, "and Paris"), "There")
			r.titled(s, "Trips to Rome")
			if len(asked) != 1 || !strings.HasSuffix(asked[0], "to Rome | Here it is") {
				t.Errorf("asked %q", asked)
			}
		})
	})
	t.Run("a message of files only gives the name of the first", func(t *testing.T) {
		asked = nil
		named(t, say, func(r *rig) {
			s := r.do(core.CreateSession{Actor: owner}).SessionID
			turn := r.do(core.SendInput{Actor: owner, Session: s, Input: event.Input{Attachments: []event.Attachment{{Name: "bill.pdf"}, {Name: "b"}}, Speaker: event.Speaker{Owner: true}}}).TurnID
			r.titled(s, "bill.pdf")
			r.reply(turn, "It is a bill")
			r.titled(s, "Trips to Rome")
		})
		if len(asked) != 1 || asked[0] != "bill.pdf | It is a bill" {
			t.Errorf("%q", asked)
		}
	})
	t.Run("a rename by hand is never overwritten, before, between or while the model thinks", func(t *testing.T) {
		slow := func(ctx context.Context, _, _, _ string) (string, error) {
			time.Sleep(5 * time.Second)
			return "late", ctx.Err()
		}
		named(t, slow, func(r *rig) {
			for _, when := range []string{"before", "between", "while"} {
				s := r.do(core.CreateSession{Actor: owner}).SessionID
				rename := func(now string) {
					if now == when {
						r.do(core.RenameSession{Actor: owner, Session: s, Title: "mine"})
					}
				}
				rename("before")
				turn := r.send(s, "hello")
				rename("between")
				r.reply(turn, "hi")
				rename("while")
				time.Sleep(10 * time.Second)
				synctest.Wait()
				r.titled(s, "mine")
			}
		})
	})
	t.Run("sessions with a name, sub-sessions and rooms are left as they are", func(t *testing.T) {
		named(t, say, func(r *rig) {
			mine := r.do(core.CreateSession{Actor: owner, Name: "mine"}).SessionID
			child := r.do(core.CreateSession{Actor: owner, Parent: mine}).SessionID
			room := r.do(core.CreateSession{Actor: owner, Origin: "im", Kind: "room", ExtKey: "onebot:1:group:2", Platform: "onebot"}).SessionID
			for _, s := range []string{mine, child, room} {
				r.reply(r.send(s, "hello"), "hi")
				r.titled(s, "")
			}
		})
	})
	t.Run("what the model cannot name keeps its first words", func(t *testing.T) {
		for _, ask := range []title.Ask{
			func(context.Context, string, string, string) (string, error) { return "", errors.New("no model") },
			func(context.Context, string, string, string) (string, error) { return " \n**\n", nil },
			func(ctx context.Context, _, _, _ string) (string, error) { <-ctx.Done(); return "", ctx.Err() },
		} {
			named(t, ask, func(r *rig) {
				s := r.do(core.CreateSession{Actor: owner}).SessionID
				r.reply(r.send(s, "hello"), "hi")
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				r.titled(s, "hello")
			})
		}
	})
	t.Run("only the first exchange is asked about, whatever came of it", func(t *testing.T) {
		asked := 0
		named(t, func(context.Context, string, string, string) (string, error) {
			asked++
			return "", errors.New("no model")
		}, func(r *rig) {
			s := r.do(core.CreateSession{Actor: owner}).SessionID
			for range 3 {
				r.reply(r.send(s, "hello"), "hi")
			}
			if asked != 1 {
				t.Errorf("asked %d times", asked)
			}
		})
	})
	t.Run("a session that is deleted meanwhile is let go", func(t *testing.T) {
		named(t, func(context.Context, string, string, string) (string, error) {
			time.Sleep(time.Second)
			return "late", nil
		}, func(r *rig) {
			s := r.do(core.CreateSession{Actor: owner}).SessionID
			r.reply(r.send(s, "hello"), "hi")
			r.do(core.DeleteSession{Actor: owner, Session: s})
			time.Sleep(5 * time.Second)
			synctest.Wait()
		})
	})
}

func TestWords(t *testing.T) {
	for words, want := range map[string]string{
		"hello": "hello", " \n two\twords\x1b ": "two words", "12345678901234567890": "12345678901234567890", "123456789012345678901": "1234567890123456789…", "": "",
		"帮我看看这个项目里的测试为什么总是失败好吗": "帮我看看这个项目里的测试为什么总是失败…",
	} {
		if got := title.First(words); got != want {
			t.Errorf("First(%q) = %q, want %q", words, got, want)
		}
	}
	for words, want := range map[string]string{
		"A name.": "A name", "# **A name**\nmore": "A name", "“名字”。": "名字", "- a": "a", strings.Repeat("x", 60): strings.Repeat("x", 49) + "…", "\n\n": "", "C#": "C#",
	} {
		if got := title.Clean(words); got != want {
			t.Errorf("Clean(%q) = %q, want %q", words, got, want)
		}
	}
}
