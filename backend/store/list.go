package store

import (
	"encoding/json"

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
	err := r.each(`SELECT coalesce(platform, ''), coalesce(instance, ''), count(*), count(DISTINCT account),
			(SELECT count(*) FROM session_heads h JOIN sessions r ON r.sid = h.sid
				WHERE h.list = 1 AND h.pending_actions + h.sub_attention > 0 AND r.platform IS s.platform AND r.instance IS s.instance)
		FROM sessions s WHERE kind = 'room' AND archived_at IS NULL AND deleted_at IS NULL
		GROUP BY platform, instance ORDER BY 1, instance IS NULL, 2`, nil, func(w row) error {
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
