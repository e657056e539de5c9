package store

import (
	"encoding/json"
	"strings"
	"unicode"

	"aalis/backend/event"
	"aalis/backend/text"
)

// Summary is everything a session's line in a list shows.
type Summary struct {
	Session   Session
	Head      Head
	Seen      int64     // when the owner last looked; 0 for never
	Root      Session   // the session itself for a root
	Ancestors []Session // root first; empty for a root
}

// Unread reports whether her last reply is newer than the owner's last look. Spec SP-UNREAD-01.
func (s Summary) Unread() bool { return s.Root.Kind != "room" && s.Head.LastReplyAt > s.Seen }

const summaryFrom = ` FROM session_heads h JOIN sessions s ON s.sid = h.sid LEFT JOIN session_reads r ON r.sid = h.sid AND r.principal_id = 'owner' `

func (r reads) summaries(where string, args []any, each func(Summary) (more bool)) error {
	return r.each("SELECT "+headColumns+", "+sessionColumns+", r.seen_at"+summaryFrom+where, args, func(w row) error {
		if !each(Summary{Head: scanHead(w), Session: scanSession(w[headWidth:]), Seen: w.int(headWidth + sessionWidth)}) {
			return errStop
		}
		return nil
	})
}

// family fills in root and ancestors.
func (r reads) family(s *Summary) error {
	s.Root = s.Session
	if s.Session.ParentSID == 0 {
		return nil
	}
	up, err := r.Ancestors(s.Session)
	if err != nil {
		return err
	}
	s.Ancestors, s.Root = up, up[0]
	return nil
}

// Summary reads one session's line; ErrNotFound for one that is missing or deleted.
func (r reads) Summary(sid int64) (Summary, error) {
	var got *Summary
	if err := r.summaries("WHERE h.sid = ? AND h.list <> 9", []any{sid}, func(s Summary) bool { got = &s; return false }); err != nil {
		return Summary{}, err
	}
	if got == nil {
		return Summary{}, ErrNotFound
	}
	return *got, r.family(got)
}

// Place in a list, for paging: the sort key of the last session shown.
type Place struct {
	List, Rank, RecordAt, SID int64
}

// ListQuery filters a list. The zero value lists every root that is not archived.
type ListQuery struct {
	Lists      []int64 // ListOwner, ListRoom, in this order; ignored with Parent
	ParentSID  int64   // list the direct children of this session instead
	Archived   bool
	Both       bool   // archived and not
	Background bool   // only where something runs in the background
	Instance   string // rooms of one adapter instance
	Platform   string // rooms of a platform without a recorded instance
	Match      string // words to find, "" for all
	After      *Place
	Limit      int
}

// List reads a page, one session more than the limit deciding whether more follows.
func (r reads) List(q ListQuery) (page []Summary, more bool, err error) {
	add := func(s Summary) bool {
		if !q.accepts(s) {
			return true
		}
		if len(page) == q.Limit {
			more = true
			return false
		}
		page = append(page, s)
		return true
	}
	if q.ParentSID != 0 {
		err = r.listChildren(q, add)
	} else {
		for _, list := range q.Lists {
			archive := []int64{list}
			switch {
			case q.Both:
				archive = []int64{list, list + ListArchived}
			case q.Archived:
				archive = []int64{list + ListArchived}
			}
			if err = r.listRoots(q, list, archive, add); err != nil || more {
				break
			}
		}
	}
	if err != nil {
		return nil, false, err
	}
	for i := range page {
		if err := r.family(&page[i]); err != nil {
			return nil, false, err
		}
	}
	return page, more, nil
}

// section is the list a page position belongs to, archived or not.
func section(list int64) int64 { return list &^ ListArchived }

func (r reads) listRoots(q ListQuery, list int64, archive []int64, add func(Summary) bool) error {
	const order = " ORDER BY h.rank, h.record_at DESC, h.sid"
	marks := strings.TrimSuffix(strings.Repeat("?,", len(archive)), ",")
	var args []any
	for _, l := range archive {
		args = append(args, l)
	}
	where := "WHERE h.list IN (" + marks + ")"
	if p := q.After; p != nil {
		if section(p.List) > list {
			return nil // the section was finished on an earlier page
		}
		if section(p.List) == list {
			where += " AND (h.rank > ? OR (h.rank = ? AND (h.record_at < ? OR (h.record_at = ? AND h.sid > ?))))"
			args = append(args, p.Rank, p.Rank, p.RecordAt, p.RecordAt, p.SID)
		}
	}
	return r.summaries(where+order, args, add)
}

func (r reads) listChildren(q ListQuery, add func(Summary) bool) error {
	where, args := "WHERE s.parent_sid = ? AND h.list <> 9", []any{q.ParentSID}
	if !q.Both {
		list := int64(ListChild)
		if q.Archived {
			list += ListArchived
		}
		where += " AND h.list = ?"
		args = append(args, list)
	}
	if p := q.After; p != nil {
		where += " AND (h.record_at < ? OR (h.record_at = ? AND h.sid > ?))"
		args = append(args, p.RecordAt, p.RecordAt, p.SID)
	}
	return r.summaries(where+" ORDER BY h.record_at DESC, h.sid", args, add)
}

func (q ListQuery) accepts(s Summary) bool {
	if q.Background && s.Head.OpenBackground+s.Head.SubBusy == 0 {
		return false
	}
	if q.Instance != "" && s.Session.Instance != q.Instance {
		return false
	}
	if q.Platform != "" && (s.Session.Platform != q.Platform || s.Session.Instance != "") {
		return false
	}
	return q.Match == "" || matches(s.Session, q.Match)
}

// matches looks for the words in name, title and id, whatever their case; "platform:group" also
// finds a room by both ends of its address. Spec SP-LIST-35 to 37, decisions B9.
func matches(s Session, words string) bool {
	want := fold(words)
	for _, hay := range []string{s.Name, s.Title, s.WireID()} {
		if strings.Contains(fold(hay), want) {
			return true
		}
	}
	platform, group, two := strings.Cut(want, ":")
	if !two {
		return false
	}
	parts := strings.Split(fold(s.ExtKey), ":")
	return len(parts) > 1 && parts[0] == platform && parts[len(parts)-1] == group
}

func fold(s string) string { return strings.Map(unicode.ToLower, strings.Map(unicode.ToUpper, s)) }

// Group is the rooms of one adapter instance, or those of a platform without a recorded one.
type Group struct {
	Platform  string
	Instance  string
	Rooms     int64
	Accounts  int64
	Attention int64
}

// Groups counts the rooms that are not archived. Spec SP-GROUP-01, SP-GROUP-06.
func (r reads) Groups() ([]Group, error) {
	var all []Group
	err := r.each(`SELECT coalesce(s.platform, ''), coalesce(s.instance, ''), count(*), count(DISTINCT s.account), sum(h.pending_actions + h.sub_attention > 0)
		FROM session_heads h JOIN sessions s ON s.sid = h.sid WHERE h.list = 1 GROUP BY 1, 2 ORDER BY 1, s.instance IS NULL, 2`, nil, func(w row) error {
		all = append(all, Group{Platform: w.str(0), Instance: w.str(1), Rooms: w.int(2), Accounts: w.int(3), Attention: w.int(4)})
		return nil
	})
	return all, err
}

// Reason is the sentence of the turn that failed last; ok is false without one.
func (h Head) Reason() (reason text.Text, ok bool) {
	if h.LastOutcome != event.Errored || h.LastError == "" {
		return text.Text{}, false
	}
	return reason, json.Unmarshal([]byte(h.LastError), &reason) == nil
}
