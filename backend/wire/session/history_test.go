package session_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aalis/backend/event"
	"aalis/backend/store"
)

// archive pages through a session's history from the newest back and gives the pages, oldest first.
func (w *watcher) archive(id string, limit int) ([]page, error) {
	var pages []page
	more := fmt.Sprintf(`,"limit":%d`, limit)
	for {
		asked := w.request("session/history", id, more)
		synctest.Wait()
		w.mu.Lock()
		p := w.pages[asked]
		w.mu.Unlock()
		if p.Error != nil {
			return nil, fmt.Errorf("page %d: %s", len(pages), p.Error.Message)
		}
		pages = append([]page{p}, pages...)
		if p.Before == "" {
			return pages, nil
		}
		more = fmt.Sprintf(`,"limit":%d,"before":%q`, limit, p.Before)
	}
}

func ids(items []map[string]any) (all []string) {
	for _, item := range items {
		all = append(all, item["itemId"].(string))
	}
	return all
}

// TestHistory pages through random conversations.
func TestHistory(t *testing.T) {
	t.Run("SP-HIST-03 SP-HIST-06 SP-HIST-07 SP-HIST-09 SP-TURNI-04 pages of any size hold every concluded item once and in order, and no page ends inside a step", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			all := moves(150).Draw(rt, "moves")
			limit := rapid.IntRange(1, 7).Draw(rt, "limit")
			var wrong string
			synctest.Test(t, func(t *testing.T) {
				st := newStory(t, 0)
				defer st.close()
				for _, m := range all {
					st.play(m)
				}
				st.rest()
				wrong = st.paging(limit)
			})
			if wrong != "" {
				rt.Fatal(wrong)
			}
		})
	})
}

// paging compares a session read in small pages with the same read in one.
func (st *story) paging(limit int) string {
	w := watch(st.t, st.server)
	defer w.Close()
	for n, id := range st.sessions {
		whole, err := w.archive(id, 200)
		if err != nil {
			return err.Error()
		}
		if len(whole) != 1 {
			return fmt.Sprintf("the whole is %d pages", len(whole))
		}
		pages, err := w.archive(id, limit)
		if err != nil {
			return err.Error()
		}
		joined := []map[string]any{}
		for i, p := range pages {
			if n := st.messages(id, p.Items); i > 0 && n < limit {
				return fmt.Sprintf("page %d of %d has %d messages", i, len(pages), n)
			}
			joined = append(joined, p.Items...)
		}
		if diff := cmp.Diff(ids(whole[0].Items), ids(joined)); diff != "" {
			return fmt.Sprintf("session %d, pages of %d: -whole +joined:\n%s", n, limit, diff)
		}
		if diff := cmp.Diff(whole[0].Items, joined); diff != "" {
			return fmt.Sprintf("session %d: -whole +joined:\n%s", n, diff)
		}
		if wrong := st.inOrder(id, whole[0].Items, pages); wrong != "" {
			return fmt.Sprintf("session %d: %s", n, wrong)
		}
	}
	return ""
}

// messages counts what the limit counts: each step of a turn is one.
func (st *story) messages(id string, items []map[string]any) int {
	steps := st.steps(id)
	counted := make(map[string]bool)
	for _, item := range items {
		itemID := item["itemId"].(string)
		switch {
		case item["kind"] == "user-message", item["kind"] == "notice":
			counted[itemID] = true
		case steps[itemID] != "":
			counted[steps[itemID]] = true
		}
	}
	return len(counted)
}

// inOrder holds history against the log: what runs is not in it, a step is on one page, and a turn's
// item stands behind everything else of the turn.
func (st *story) inOrder(id string, items []map[string]any, pages []page) string {
	running := st.k.running(id)
	seen := make(map[string]bool)
	ended := make(map[any]bool)
	for _, item := range items {
		itemID, turn := item["itemId"].(string), item["turnId"]
		switch {
		case seen[itemID]:
			return "twice: " + itemID
		case turn == running && running != "":
			return "of the running turn: " + itemID
		case item["kind"] == "plan" || item["kind"] == "usage" || item["kind"] == "queue":
			return "not of history: " + itemID
		case turn != nil && ended[turn]:
			return "behind its turn's end: " + itemID
		}
		seen[itemID] = true
		if item["kind"] == "turn" {
			ended[turn] = true
		}
	}
	steps := st.steps(id)
	page := make(map[string]int)
	for i, p := range pages {
		for _, item := range p.Items {
			step := steps[item["itemId"].(string)]
			if step == "" {
				continue
			}
			if was, known := page[step]; known && was != i {
				return "torn apart: " + step
			}
			page[step] = i
		}
	}
	return ""
}

// steps names the step of a turn that made each item, by what the log says.
func (st *story) steps(id string) map[string]string {
	of := make(map[string]string)
	st.k.read(func(tx *store.ReadTx) error {
		s, err := tx.Session(id)
		if err != nil {
			return err
		}
		events, err := tx.Between(s.SID, 0, 1<<31)
		for _, e := range events {
			switch p := e.Payload.(type) {
			case event.Message:
				of[p.MessageID] = fmt.Sprint(e.Turn, " ", p.Step)
			case event.Reasoning:
				of[p.ItemID] = fmt.Sprint(e.Turn, " ", p.Step)
			case event.Result:
				of[p.CallID] = fmt.Sprint(e.Turn, " ", p.Card.Step)
			}
		}
		return err
	})
	return of
}
