package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/store"
	"aalis/backend/wire/session"
)

// crowd makes a log with many sessions, each with a turn: one of ten a sub-task, one of fifty a room,
// the others the owner's; a tenth of all archived.
func crowd(tb testing.TB, dir string, sessions int) {
	tb.Helper()
	st, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	var tick int64
	next := func() int64 { tick++; return tick }
	at := time.Now().UnixMilli()
	var root string
	for made := 0; made < sessions; {
		tx, err := st.Begin(at, next)
		if err != nil {
			tb.Fatal(err)
		}
		for range min(1000, sessions-made) {
			tx.Now++
			c := event.Created{
				ID: event.NewID(), Name: fmt.Sprintf("Conversation %d about the garden", made), Origin: "sp", SessionKind: "owner", Tenant: "local",
				Initiator: event.OwnerID, Place: core.DefaultPlace, Harness: "aalis", HarnessV: 1, Environment: "local",
			}
			switch {
			case made%50 == 49:
				c.SessionKind, c.Origin, c.Platform, c.Instance, c.Account = "room", "im", "onebot", fmt.Sprintf("onebot-%d", made%4), "10001"
				c.ExtKey = fmt.Sprintf("onebot:10001:group:%d", made)
			case made%10 == 7:
				c.SessionKind, c.Origin, c.Parent = "task", "task", root
			default:
				root = c.ID
			}
			e, err := tx.Create(c, event.System())
			if err != nil {
				tb.Fatal(err)
			}
			if err := chat(tx, e.SID, made); err != nil {
				tb.Fatal(err)
			}
			made++
		}
		at = tx.Now
		if err := tx.Commit(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		tb.Fatal(err)
	}
}

func chat(tx *store.Tx, sid int64, n int) error {
	turn, input := event.NewID(), event.NewID()
	_, err := tx.Append(
		sid,
		event.Draft{ID: input, Turn: turn, Actor: console, Payload: event.Input{Text: "hello", State: event.InputOpened}},
		event.Draft{Turn: turn, Actor: event.System(), Payload: event.TurnStart{TurnID: turn, Trigger: input, Harness: "aalis"}},
		event.Draft{Turn: turn, Actor: event.Agent(), Payload: event.ModelCall{Prompt: 100, Completion: 20}},
		event.Draft{Turn: turn, Actor: event.System(), Payload: event.TurnEnd{TurnID: turn, Outcome: []string{event.Replied, event.Silent, event.Silent, event.Errored}[n%4]}},
	)
	if yes := true; err == nil && n%10 == 3 {
		_, err = tx.Append(sid, event.Draft{Actor: console, Payload: event.Updated{Archived: &yes}})
	}
	return err
}

// BenchmarkSessionsList asks for pages of a list of 50,000, request and answer included.
func BenchmarkSessionsList(b *testing.B) {
	dir := b.TempDir()
	crowd(b, dir, 50_000)
	k := startKernel(b, dir)
	var answer string
	server, err := session.NewServer(session.Options{Loop: k.loop})
	if err != nil {
		b.Fatal(err)
	}
	answered := make(chan struct{}, 1)
	conn := server.Connect(session.Peer{Caller: principal.Caller{Scopes: principal.AllScopes()}}, func(frame string) {
		answer = frame
		answered <- struct{}{}
	})
	defer conn.Close()
	ask := func(params m) session.SessionsListResult {
		raw, err := json.Marshal(m{"jsonrpc": "2.0", "id": 1, "method": "sessions/list", "params": params})
		if err != nil {
			b.Fatal(err)
		}
		conn.Receive(string(raw))
		<-answered
		var frame struct{ Result session.SessionsListResult }
		if err := json.Unmarshal([]byte(answer), &frame); err != nil {
			b.Fatal(err)
		}
		return frame.Result
	}
	conn.Receive(hello)
	<-answered
	deep := m{"limit": 200}
	for range 100 {
		deep["cursor"] = ask(deep).NextCursor
	}
	deep["limit"] = 50
	for _, c := range []struct {
		name   string
		params m
	}{
		{"first page", m{}},
		{"200 a page", m{"limit": 200}},
		{"20,000 further", deep},
		{"rooms", m{"section": "rooms"}},
		{"archived", m{"archived": true}},
		{"background", m{"background": true}},
		{"instance", m{"instance": "onebot-1"}},
		{"search, all match", m{"query": "garden"}},
		{"search, none match", m{"query": "nothing of that name"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				ask(c.params)
			}
		})
	}
}

// BenchmarkStart opens a log and makes its loop, as a start does.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{10_000, 50_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			crowd(b, dir, n)
			var opening, comparing time.Duration
			for b.Loop() {
				began := time.Now()
				st, err := store.Open(store.Options{Dir: dir})
				if err != nil {
					b.Fatal(err)
				}
				opening += time.Since(began)
				if err := st.Read(context.Background(), func(tx *store.ReadTx) error {
					began := time.Now()
					_, err := tx.HeadsAgree()
					comparing += time.Since(began)
					return err
				}); err != nil {
					b.Fatal(err)
				}
				if _, err := core.New(core.Options{Store: st}); err != nil {
					b.Fatal(err)
				}
				if err := st.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(opening.Microseconds())/float64(b.N), "open-µs/op")
			b.ReportMetric(float64(comparing.Microseconds())/float64(b.N), "compare-µs/op")
		})
	}
}
