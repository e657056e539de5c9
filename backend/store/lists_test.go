package store

import (
	"context"
	"strings"
	"testing"
)

// TestListsNeedNoSort asks the planner: a list of any length is read from its index, in order, from
// where the page before ended.
func TestListsNeedNoSort(t *testing.T) {
	st, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	onebot := "onebot"
	after := &Place{List: ListOwner, Rank: RankRest, RecordAt: 1, SID: 1}
	for name, q := range map[string]ListQuery{
		"plain":      {},
		"next page":  {After: after},
		"archived":   {Archived: true, After: after},
		"background": {Both: true, Background: true, After: after},
		"words":      {Match: "x", After: after},
		"rooms":      {Platform: &onebot, Both: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, span := range q.spans(ListOwner) {
				sql, args := q.statement(ListOwner, span)
				if err := st.Read(context.Background(), func(tx *ReadTx) error {
					return tx.each("EXPLAIN QUERY PLAN "+sql, args, func(w row) error {
						step := w.str(3)
						if strings.Contains(step, "B-TREE") || strings.HasPrefix(step, "SCAN") {
							t.Errorf("%s\n%s", sql, step)
						}
						if strings.Contains(step, " h ") && !strings.Contains(step, "INDEX heads_list (list=?"+map[bool]string{true: " AND rank"}[span.where != ""]) {
							t.Errorf("%s\n%s", sql, step)
						}
						return nil
					})
				}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
