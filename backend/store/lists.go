package store

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Place in a list, for paging: the sort key of the last session shown.
type Place struct {
	List, Rank, RecordAt, SID int64
}

// ListQuery filters a list.
type ListQuery struct {
	Lists      []int64 // ListOwner, ListRoom, in this order; ignored with ParentSID
	ParentSID  int64   // list the direct children of this session instead
	Archived   bool
	Both       bool    // archived and not
	Background bool    // only where something runs in the background
	Instance   *string // only with this adapter instance
	Platform   *string // only of this platform and without a recorded instance
	Match      string  // words to find, "" for all
	After      *Place
	Limit      int
}

// List reads a page, one session more than the limit deciding whether more follows. The order is by
// list, rank, newest change and number; every statement walks an index that has it, so that a page
// costs what it shows and not what there is.
func (r reads) List(q ListQuery) (page []Summary, more bool, err error) {
	var sids []int64
	add := func(w row) error {
		if q.Match != "" && !matches(q.Match, w.str(keyWidth), w.str(keyWidth+1), w.str(keyWidth+2), w.str(keyWidth+3)) {
			return nil
		}
		if len(sids) == q.Limit {
			more = true
			return errStop
		}
		sids = append(sids, w.int(0))
		return nil
	}
	for _, list := range q.lists() {
		for _, span := range q.spans(list) {
			sql, args := q.statement(list, span)
			if err := r.each(sql, args, add); err != nil {
				return nil, false, err
			}
			if more {
				page, err = r.lines(sids)
				return page, true, err
			}
		}
	}
	page, err = r.lines(sids)
	return page, false, err
}

// lists gives the lists that the page may still reach into.
func (q ListQuery) lists() []int64 {
	if q.ParentSID != 0 {
		return []int64{ListChild}
	}
	var left []int64
	for _, list := range q.Lists {
		if q.After == nil || list >= section(q.After.List) {
			left = append(left, list)
		}
	}
	return left
}

// section is the list a page position belongs to, archived or not.
func section(list int64) int64 { return list &^ ListArchived }

// span is a part of a list's order that one range of the index covers.
type span struct {
	where string
	args  []any
}

// spans cuts what of a list lies behind the position into ranges, in order. One condition over all
// of it would be read from the list's beginning.
func (q ListQuery) spans(list int64) []span {
	p := q.After
	if p == nil || section(p.List) != list {
		return []span{{}}
	}
	return []span{
		{" AND h.rank = ? AND h.record_at = ? AND h.sid > ?", []any{p.Rank, p.RecordAt, p.SID}},
		{" AND h.rank = ? AND h.record_at < ?", []any{p.Rank, p.RecordAt}},
		{" AND h.rank > ?", []any{p.Rank}},
	}
}

// keyWidth is the number of columns of a statement before those that words are looked for in.
const keyWidth = 4

// statement reads a span of a list. Archived and other sessions stand in two lists, which the union
// merges in order.
func (q ListQuery) statement(list int64, s span) (sql string, args []any) {
	lists := []int64{list}
	switch {
	case q.Both:
		lists = []int64{list, list | ListArchived}
	case q.Archived:
		lists = []int64{list | ListArchived}
	}
	columns, from := "SELECT h.sid, h.list, h.rank, h.record_at", " FROM session_heads h"
	if q.Match != "" {
		columns += ", s.name, s.title, s.id, s.ext_key"
	}
	if q.Match != "" || q.Instance != nil || q.Platform != nil {
		from += " CROSS JOIN sessions s ON s.sid = h.sid" // the order is that of h
	}
	var filter string
	var filters []any
	switch {
	case q.ParentSID != 0:
		from = " FROM sessions s CROSS JOIN session_heads h ON h.sid = s.sid"
		filter, filters = " AND s.parent_sid = ?", []any{q.ParentSID}
	case q.Background: // few of all: reading the table once and sorting them costs a tenth
		from = strings.Replace(from, "session_heads h", "session_heads h NOT INDEXED", 1)
	}
	if q.Background {
		filter += " AND h.open_background + h.sub_busy > 0"
	}
	if where, patterns, ok := likely(q.Match); ok {
		filter, filters = filter+where, append(filters, patterns...)
	}
	if q.Instance != nil {
		filter, filters = filter+" AND s.instance = ?", append(filters, *q.Instance)
	}
	if q.Platform != nil {
		filter, filters = filter+" AND s.platform = ? AND s.instance IS NULL", append(filters, *q.Platform)
	}
	var selects []string
	for _, l := range lists {
		selects = append(selects, columns+from+" WHERE h.list = ?"+s.where+filter)
		args = append(append(append(args, l), s.args...), filters...)
	}
	return strings.Join(selects, " UNION ALL ") + " ORDER BY 3, 4 DESC, 1", args
}

// lines reads the summaries of sessions in the given order, with all ancestors.
func (r reads) lines(sids []int64) ([]Summary, error) {
	wanted, err := json.Marshal(sids)
	if err != nil {
		return nil, err
	}
	found := make(map[int64]Summary, len(sids))
	if err := r.summaries("WHERE h.sid IN (SELECT value FROM json_each(?))", []any{string(wanted)}, func(s Summary) bool {
		found[s.Session.SID] = s
		return true
	}); err != nil {
		return nil, err
	}
	page := make([]Summary, 0, len(sids))
	above := map[int64][]Session{} // ancestors by parent
	for _, sid := range sids {
		s := found[sid]
		parent := s.Session.ParentSID
		if up, known := above[parent]; known && parent != 0 {
			s.Root, s.Ancestors = up[0], up
		} else if err := r.family(&s); err != nil {
			return nil, err
		}
		above[parent] = s.Ancestors
		page = append(page, s)
	}
	return page, nil
}

// matches looks for the words in name, title and the id that is shown, whatever their case;
// "platform:group" also finds a room by both ends of its address. Spec SP-LIST-35 to 37, decisions B9.
func matches(words, name, title, id, address string) bool {
	want := fold(words)
	if address != "" {
		id = address
	}
	for _, hay := range []string{name, title, id} {
		if strings.Contains(fold(hay), want) {
			return true
		}
	}
	platform, group, two := strings.Cut(want, ":")
	if !two || address == "" {
		return false
	}
	parts := strings.Split(fold(address), ":")
	return len(parts) > 1 && parts[0] == platform && parts[len(parts)-1] == group
}

// likely is a condition that SQLite can judge and that holds for all that matches finds: most rows
// need not be looked at here then, which is what makes searching fast. LIKE knows the case of ASCII
// only, so there is none for words with other letters that have one.
func likely(words string) (where string, patterns []any, ok bool) {
	const most = 1000 // bytes; SQLite bounds patterns
	cased := func(r rune) bool { return r >= utf8.RuneSelf && unicode.ToUpper(r) != unicode.ToLower(r) }
	if words == "" || len(words) > most || strings.ContainsFunc(words, cased) || strings.Contains(words, "\x00") {
		return "", nil, false
	}
	escape := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace
	const like = ` LIKE ? ESCAPE '\'`
	where = "s.name" + like + " OR s.title" + like + " OR coalesce(s.ext_key, s.id)" + like
	for _, column := range []string{"s.name", "s.title"} { // the letters beyond ASCII whose other case is in it
		where += " OR length(" + column + ") <> octet_length(" + column + ") AND " + column + " GLOB '*[\u0130\u0131\u017f\u212a]*'"
	}
	anywhere := "%" + escape(words) + "%"
	patterns = []any{anywhere, anywhere, anywhere}
	if platform, group, two := strings.Cut(words, ":"); two {
		where += " OR s.ext_key" + like
		patterns = append(patterns, escape(platform)+":%"+escape(group))
	}
	return " AND (" + where + ")", patterns, true
}

func fold(s string) string { return strings.Map(unicode.ToLower, strings.Map(unicode.ToUpper, s)) }

// ChangedSince lists, for a reader that lost entries, the sessions whose rows are newer than a tick
// or that the owner looked at since a moment (which is in no event), with all their ancestors; and
// apart from them those that were deleted.
func (r reads) ChangedSince(tick, seen int64) (changed []int64, removed []Session, err error) {
	err = r.each(`WITH RECURSIVE hit(sid) AS (
			SELECT sid FROM session_heads WHERE tick > ? UNION SELECT sid FROM session_reads WHERE seen_at >= ?
			UNION SELECT s.parent_sid FROM hit JOIN sessions s ON s.sid = hit.sid WHERE s.parent_sid IS NOT NULL)
		SELECT `+sessionColumns+` FROM hit JOIN sessions s ON s.sid = hit.sid ORDER BY s.sid`, []any{tick, seen}, func(w row) error {
		if s := scanSession(w); s.DeletedAt != 0 {
			removed = append(removed, s)
		} else {
			changed = append(changed, s.SID)
		}
		return nil
	})
	return changed, removed, err
}
