package session_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/wire/session"
)

// text is the streamed text of an item as a client has it.
func (w *watcher) text(sessionID, itemID string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	item := w.views[sessionID].items[itemID]
	for _, key := range []string{"text", "output"} {
		if s, ok := item[key].(string); ok {
			return s
		}
	}
	return ""
}

// TestStreaming subscribes while three items are streamed. Text that nobody has written yet is where
// a snapshot and the pushes behind it could lose or double something.
func TestStreaming(t *testing.T) {
	t.Run("FAIL-A7 SP-SUB-08 SP-SUB-09 SP-SUB-15 a snapshot holds what was streamed so far; with what follows it is the whole text at every moment", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			all := moves(80).Draw(rt, "moves")
			var wrong string
			synctest.Test(t, func(t *testing.T) { wrong = stream(t, all) })
			if wrong != "" {
				rt.Fatal(wrong)
			}
		})
	})
}

func stream(t *testing.T, all []move) (wrong string) {
	st := newStory(t, 0)
	defer st.close()
	id := st.sessions[0]
	turn := st.k.turn(id)
	call := st.k.do(core.ProposeTool{Turn: turn, Tool: "run_command", Step: 1}).ItemID
	st.k.do(core.CallTool{Turn: turn, CallID: call, Tool: "run_command", Args: json.RawMessage(`{}`), Effect: "read", Step: 1})
	items := []string{st.k.do(core.StartMessage{Turn: turn, Step: 1}).ItemID, st.k.do(core.StartReasoning{Turn: turn, Step: 1}).ItemID, call}
	whole := make(map[string]string)
	for _, m := range all {
		switch {
		case m.What < 55:
			piece := st.word()
			whole[items[m.Who]] += piece
			st.k.stream(items[m.Who], piece)
		case m.What < 75:
			time.Sleep(time.Duration(m.N) * time.Millisecond)
		case m.What < 90:
			st.watchers[m.Who].request("session/subscribe", id, "")
		default:
			synctest.Wait()
		}
		if m.N > 4 {
			continue
		}
		time.Sleep(9 * time.Millisecond) // longer than text is held back
		synctest.Wait()
		for i, w := range st.watchers {
			if !w.subscribed(id) {
				continue
			}
			for _, item := range items {
				if got := w.text(id, item); got != whole[item] {
					return fmt.Sprintf("client %d has %q, not %q", i, got, whole[item])
				}
			}
		}
	}
	st.rest()
	return st.disagreement()
}

// TestSubscribingUnderLoad subscribes again and again while an engine never pauses.
func TestSubscribingUnderLoad(t *testing.T) {
	bubble(t, "SP-SUB-09 SP-SUB-14 SP-SUB-15 nothing is pushed before a snapshot, lost or doubled when items are produced while it is built", func(t *testing.T) {
		st := newStory(t, 0)
		defer st.close()
		id := st.sessions[0]
		item := st.k.do(core.StartMessage{Turn: st.k.turn(id), Step: 1}).ItemID
		var engine sync.WaitGroup
		var whole strings.Builder
		engine.Go(func() {
			for n := range 2000 {
				piece := fmt.Sprintf("%d ", n)
				whole.WriteString(piece)
				if err := st.k.loop.Text(item, piece); err != nil {
					t.Error(err)
				}
				if n%50 == 0 {
					st.try(core.AddNotice{Session: id, Notice: event.Notice{Topic: "event-marker"}})
				}
			}
		})
		for n := range 150 {
			w := st.watchers[n%3]
			if n%7 == 0 {
				w.request("session/unsubscribe", id, "")
				w.forget(id)
			}
			w.request("session/subscribe", id, "")
		}
		engine.Wait()
		st.rest()
		for i, w := range st.watchers {
			if got := w.text(id, item); got != whole.String() {
				t.Errorf("client %d has %d of %d bytes", i, len(got), whole.Len())
			}
		}
		if wrong := st.disagreement(); wrong != "" {
			t.Error(wrong)
		}
	})
}

// TestPacing watches single frames: when text is sent, and as how many.
func TestPacing(t *testing.T) {
	begin := func(t *testing.T, ring int) (*story, *watcher, string, string) {
		st := newStory(t, ring)
		id := st.sessions[0]
		turn := st.k.turn(id)
		item := st.k.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
		synctest.Wait()
		time.Sleep(8 * time.Millisecond)
		return st, st.watchers[0], id, item
	}
	bubble(t, "the first piece goes at once, what comes within 8 ms is merged per item", func(t *testing.T) {
		st, w, id, item := begin(t, 0)
		defer st.close()
		other := st.k.do(core.StartReasoning{Turn: st.k.running(id), Step: 1}).ItemID
		synctest.Wait()
		time.Sleep(8 * time.Millisecond)
		before := w.count("item/delta")
		st.k.stream(item, "a")
		synctest.Wait()
		if got := w.count("item/delta") - before; got != 1 {
			t.Errorf("%d frames at once", got)
		}
		for _, piece := range []string{"b", "c", "d"} {
			st.k.stream(item, piece)
			st.k.stream(other, strings.ToUpper(piece))
			time.Sleep(2 * time.Millisecond)
		}
		synctest.Wait()
		if got := w.text(id, item); got != "a" {
			t.Errorf("%q before the pause is over", got)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if got := w.count("item/delta") - before; got != 3 || w.text(id, item) != "abcd" || w.text(id, other) != "BCD" {
			t.Errorf("%d frames, %q, %q", got, w.text(id, item), w.text(id, other))
		}
	})
	bubble(t, "FAIL-E12 text is merged as long as the connection has not got rid of what it was sent, and facts take it along", func(t *testing.T) {
		st, w, id, item := begin(t, 0)
		defer st.close()
		w.mu.Lock()
		w.queued = 1
		w.mu.Unlock()
		before := w.count("item/delta")
		for range 10 {
			st.k.stream(item, "x")
			time.Sleep(20 * time.Millisecond)
		}
		if got := w.count("item/delta") - before; got != 0 {
			t.Errorf("%d frames to a full connection", got)
		}
		st.k.do(core.StartReasoning{Turn: st.k.running(id), Step: 1})
		synctest.Wait()
		if got := w.count("item/delta") - before; got != 1 || w.text(id, item) != "xxxxxxxxxx" {
			t.Errorf("%d frames, %q", got, w.text(id, item))
		}
		st.k.stream(item, strings.Repeat("y", 64<<10))
		synctest.Wait()
		if got := w.count("item/delta") - before; got != 2 {
			t.Errorf("64 KiB waited")
		}
		wrongs(t, w)
	})
	bubble(t, "SP-SUB-34 a connection that fell out of the ring is told to read each session again, once, and pushes go on", func(t *testing.T) {
		st, w, id, item := begin(t, 4000)
		defer st.close()
		w.block(true)
		for range 60 {
			st.k.do(core.AddNotice{Session: id, Notice: event.Notice{Topic: "event-marker"}})
			time.Sleep(60 * time.Millisecond)
		}
		w.block(false)
		synctest.Wait()
		if n := w.count("session/resync"); n != 2 || !w.stale(st.sessions[0]) || !w.stale(st.sessions[1]) {
			t.Errorf("%d resyncs", n)
		}
		w.request("session/subscribe", id, "")
		st.k.stream(item, "and on")
		time.Sleep(9 * time.Millisecond)
		synctest.Wait()
		if got := w.text(id, item); got != "and on" {
			t.Errorf("%q", got)
		}
		wrongs(t, w)
	})
}

func wrongs(t *testing.T, w *watcher) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, wrong := range w.wrong {
		t.Error(wrong)
	}
}

// TestDeltaFrames holds the frames that are written by hand against the encoder of all others.
func TestDeltaFrames(t *testing.T) {
	bubble(t, "FAIL-E11 SP-SUB-22 a delta is as long as its text and 200 bytes more, however long the item is, and is the frame that the encoder would write", func(t *testing.T) {
		texts := []string{"a", "\"<b>\\\n\t\x00\u2028 漢字 😀", strings.Repeat("long ", 1000), "b"}
		if wrong := deltas(t, texts); wrong != "" {
			t.Error(wrong)
		}
	})
}

func deltas(t *testing.T, texts []string) string {
	st := newStory(t, 0)
	defer st.close()
	l := dial(st.server)
	defer l.Close()
	l.Receive(hello)
	id := st.sessions[0]
	turn := st.k.turn(id)
	item := st.k.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
	l.Receive(ask("1", "session/subscribe", fmt.Sprintf(`{"sessionId":%q}`, id)))
	for _, piece := range texts {
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		before := len(l.sent())
		if err := st.k.loop.Text(item, piece); err != nil {
			return err.Error()
		}
		synctest.Wait()
		for _, got := range l.sent()[before:] {
			var f struct {
				Params session.ItemDelta
			}
			if err := json.Unmarshal([]byte(got), &f); err != nil {
				return fmt.Sprintf("%v: %q", err, got)
			}
			if want := strings.ToValidUTF8(piece, "\ufffd"); f.Params.Text != want {
				return fmt.Sprintf("%q, want %q", got, want)
			}
			if want := encoded(f.Params); got != want {
				return fmt.Sprintf("%s\nwant\n%s", got, want)
			}
			quoted, _ := json.Marshal(piece)
			if len(got) > len(quoted)+200 {
				return fmt.Sprintf("%d bytes for %d of text", len(got), len(piece))
			}
		}
	}
	return ""
}

func encoded(p session.ItemDelta) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(struct {
		JSONRPC string            `json:"jsonrpc"`
		Method  string            `json:"method"`
		Params  session.ItemDelta `json:"params"`
	}{"2.0", "item/delta", p})
	return strings.TrimSuffix(b.String(), "\n")
}
