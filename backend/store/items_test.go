package store

import (
	"context"
	"strings"
	"testing"

	"aalis/backend/event"
)

// TestTimelinePlan asks SQLite how it reads a page: along the key from the newest row back, without
// sorting, so that a page costs what it holds.
func TestTimelinePlan(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Read(context.Background(), func(tx *ReadTx) error {
		query, args := Timeline{SID: 1, Below: 9, Kinds: []event.Kind{event.UserMessage, event.AgentMessage}}.query()
		var plan []string
		err := tx.each("EXPLAIN QUERY PLAN "+query, args, func(r row) error { plan = append(plan, r.str(3)); return nil })
		if len(plan) == 0 || !strings.Contains(plan[0], "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)") {
			t.Errorf("the first step is not the key: %q", plan)
		}
		for _, step := range plan {
			if strings.Contains(step, "B-TREE") || strings.HasPrefix(step, "SCAN") {
				t.Errorf("%q in %q", step, plan)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
