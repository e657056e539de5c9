package store

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		"plain":     {},
		"next page": {After: after},
		"archived":  {Archived: true, After: after},
		"both":      {Both: true, After: after},
		"words":     {Match: "x:y", After: after},
		"rooms":     {Platform: &onebot, Both: true},
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

// TestLikelyMissesNothing holds the condition in SQL to the rule it speeds up.
func TestLikelyMissesNothing(t *testing.T) {
	st, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	const address = "onebot:Me:group:20_1%"
	words := rapid.OneOf(
		rapid.SampledFrom([]string{"ONEBOT:20_1%", "onebot:", ":", "_", "%", `\`, "g%", "ÉTÉ", "买菜", "20x1", "onebot:20x1%"}),
		rapid.StringOfN(rapid.SampledFrom([]rune(`iİıIsſkK%_\:买éÉ `)), 1, 4, -1),
	)
	rapid.Check(t, func(rt *rapid.T) {
		name, title, want := words.Draw(rt, "name"), words.Draw(rt, "title"), words.Draw(rt, "words")
		where, patterns, ok := likely(want)
		if !ok || !matches(want, name, title, "", address) {
			return
		}
		found := false
		if err := st.Read(context.Background(), func(tx *ReadTx) (err error) {
			found, err = tx.c.one("SELECT 1 FROM (SELECT ? AS name, ? AS title, '' AS id, ? AS ext_key) s WHERE true"+where,
				append([]any{name, title, address}, patterns...), func(row) {})
			return err
		}); err != nil {
			rt.Fatal(err)
		}
		if !found {
			rt.Fatalf("%q is not found in %q, %q, %q", want, name, title, address)
		}
	})
}
