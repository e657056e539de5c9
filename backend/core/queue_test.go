package core_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/testkit"
)

// said is an input as a model of the queue knows it.
type said struct {
	id, text string
	state    string // waiting, entered, removed
}

func TestQueue(t *testing.T) {
	t.Run("FAIL-A18 FAIL-A21 whatever is sent, changed and removed in any order, every input enters one turn once, in order, with its last words, or was removed", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			choices := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 4, 120).Draw(rt, "choices")
			if said := testkit.Try(t, func(t testing.TB) { anyQueue(t, choices) }); len(said) > 0 {
				rt.Fatal(strings.Join(said, "\n"))
			}
		})
	})
}

func anyQueue(t testing.TB, choices []int) {
	r := open(t, t.TempDir())
	defer r.stop()
	try := func(cmd core.Command) (core.Receipt, error) { return r.loop.Do(context.Background(), cmd) }
	session, err := try(core.CreateSession{Actor: owner})
	if err != nil {
		t.Fatal(err)
	}
	id, turn := session.SessionID, ""
	var all []*said
	enter := func() {
		for _, in := range all {
			if in.state == "waiting" {
				in.state = "entered"
			}
		}
	}
	for i, c := range choices {
		which := c / 5
		switch {
		case c%5 == 0 || len(all) == 0:
			got, err := try(core.SendInput{Actor: owner, Session: id, Input: say(fmt.Sprint("words ", i))})
			if err != nil {
				t.Fatal(err)
			}
			in := &said{id: got.EventID, text: fmt.Sprint("words ", i), state: "waiting"}
			if !got.Waiting {
				in.state, turn = "entered", got.TurnID
			}
			all = append(all, in)
		case c%5 == 1:
			in := all[which%len(all)]
			_, err := try(core.ChangeInput{Actor: owner, Session: id, InputID: in.id, Text: fmt.Sprint("other ", i)})
			if (err == nil) != (in.state == "waiting") || err != nil && !fault.Is(err, fault.Conflict) {
				t.Fatalf("changing one that is %s: %v", in.state, err)
			}
			if err == nil {
				in.text = fmt.Sprint("other ", i)
			}
		case c%5 == 2:
			in := all[which%len(all)]
			_, err := try(core.RemoveInput{Actor: owner, Session: id, InputID: in.id})
			if (err == nil) != (in.state != "entered") || err != nil && !fault.Is(err, fault.Conflict) {
				t.Fatalf("removing one that is %s: %v", in.state, err)
			}
			if err == nil {
				in.state = "removed"
			}
		case c%5 == 3 && turn != "":
			if _, err := try(core.JoinInputs{Turn: turn}); err != nil {
				t.Fatal(err)
			}
			enter()
		case turn != "":
			if _, err := try(core.StopTurn{Turn: turn}); err != nil {
				t.Fatal(err)
			}
			enter() // the queue opens the next turn
			turn = runningTurn(t, r, id)
		}
	}
	compareQueue(t, r, id, all)
}

func runningTurn(t testing.TB, r *rig, session string) (turn string) {
	err := r.st.Read(context.Background(), func(tx *store.ReadTx) error {
		s, err := tx.Session(session)
		if err != nil {
			return err
		}
		h, err := tx.Head(s.SID)
		turn = h.RunningTurn
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// compareQueue compares what the log says entered and waits with the model.
func compareQueue(t testing.TB, r *rig, session string, all []*said) {
	var entered, waiting, wantEntered, wantWaiting []string
	for _, in := range all {
		switch in.state {
		case "entered":
			wantEntered = append(wantEntered, in.id+" "+in.text)
		case "waiting":
			wantWaiting = append(wantWaiting, in.id+" "+in.text)
		}
	}
	err := r.st.Read(context.Background(), func(tx *store.ReadTx) error {
		s, err := tx.Session(session)
		if err != nil {
			return err
		}
		queue, err := tx.PendingInputs(s.SID)
		for _, in := range queue {
			waiting = append(waiting, in.EventID+" "+in.Text)
		}
		if err != nil {
			return err
		}
		events, err := tx.Between(s.SID, -1, 1<<32-1)
		for _, e := range events {
			switch p := e.Payload.(type) {
			case event.Input:
				if p.State == event.InputOpened {
					entered = append(entered, e.ID+" "+p.Text)
				}
			case event.TurnStart:
				if p.Input != nil {
					entered = append(entered, p.Input.EventID+" "+p.Input.Text)
				}
			case event.InputJoin:
				entered = append(entered, p.InputID+" "+p.Input.Text)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(entered, wantEntered) || !slices.Equal(waiting, wantWaiting) {
		t.Errorf("entered %q, want %q; waiting %q, want %q", entered, wantEntered, waiting, wantWaiting)
	}
}
