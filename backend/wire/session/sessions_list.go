package session

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"aalis/backend/core"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// listLimit is the size of a page that names none (Spec SP-LIST-40).
const listLimit = 50

func (c *Conn) sessionsList(ctx context.Context, p SessionsListParams) (SessionsListResult, error) {
	if err := p.check(); err != nil {
		return SessionsListResult{}, err
	}
	result := SessionsListResult{Sessions: []SessionSummary{}}
	lang := c.server.o.Language()
	err := c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		q, err := p.listQuery(tx)
		if err != nil {
			return err
		}
		filters := fingerprint(q)
		if p.Cursor != nil {
			if q.After, err = openCursor(tx, *p.Cursor, filters); err != nil {
				return err
			}
		}
		page, more, err := tx.List(q)
		if err != nil {
			return err
		}
		for _, s := range page {
			result.Sessions = append(result.Sessions, summarize(s, lang))
		}
		if more {
			result.NextCursor = makeCursor(page[len(page)-1], filters)
		}
		result.Groups, err = c.roomGroups(tx)
		return err
	})
	return result, err
}

// check holds the filters to the rules that no schema says.
func (p SessionsListParams) check() error {
	switch {
	case p.Instance != nil && p.Platform != nil: // Spec SP-LIST-25
		return together("instance", "platform")
	case bool(p.Background) && p.Archived != nil: // Spec SP-LIST-33
		return together("background", "archived")
	}
	return nil
}

func together(one, other string) error {
	return fault.New(fault.Invalid, text.New("wire.params-together", "one", "params."+one, "other", "params."+other))
}

// listQuery says what the filters mean. An unknown parent is not-found (Spec SP-LIST-12).
func (p SessionsListParams) listQuery(tx *store.ReadTx) (store.ListQuery, error) {
	q := store.ListQuery{
		Archived: p.Archived != nil && *p.Archived, Both: bool(p.Background), Background: bool(p.Background),
		Instance: p.Instance, Platform: p.Platform, Match: strings.TrimSpace(p.Query), Limit: p.Limit,
	}
	if q.Limit == 0 {
		q.Limit = listLimit
	}
	if p.ParentID != nil {
		parent, err := tx.Session(*p.ParentID)
		if errors.Is(err, store.ErrNotFound) {
			return q, core.NoSession(*p.ParentID)
		}
		q.ParentSID = parent.SID
		return q, err
	}
	rooms := p.Instance != nil || p.Platform != nil // both are about rooms (Spec SP-LIST-28)
	if p.Section != SectionRooms && !rooms {
		q.Lists = append(q.Lists, store.ListOwner)
	}
	if p.Section != SectionOwner {
		q.Lists = append(q.Lists, store.ListRoom)
	}
	return q, nil
}

// cursor is the sort key of the last session of a page, and which filters it belongs to.
type cursor struct {
	Filters  string `json:"f"`
	List     int64  `json:"l"`
	Rank     int64  `json:"r"`
	RecordAt int64  `json:"a"`
	Session  string `json:"s"`
}

// fingerprint names the filters of a query; the size of a page is none, and may change between them.
func fingerprint(q store.ListQuery) string {
	q.Limit = 0
	sum := sha256.Sum256(fmt.Appendf(nil, "%v %d %t %t %s %s %q", q.Lists, q.ParentSID, q.Archived, q.Both,
		optional(q.Instance), optional(q.Platform), q.Match))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

func optional(s *string) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%q", *s)
}

func makeCursor(last store.Summary, filters string) string {
	h := last.Head
	b, err := json.Marshal(cursor{Filters: filters, List: h.List, Rank: h.Rank, RecordAt: h.RecordAt, Session: last.Session.ID})
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// openCursor finds the position that a cursor names. One that was never given out, or for other
// filters, is an error (Spec SP-LIST-44). The session it stands behind may have been deleted or moved.
func openCursor(tx *store.ReadTx, s, filters string) (*store.Place, error) {
	refused := fault.New(fault.Invalid, text.New("wire.params-cursor"))
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil {
		return nil, refused
	}
	var at cursor
	if err := json.Unmarshal(b, &at); err != nil || at.Filters != filters {
		return nil, refused
	}
	last, err := tx.SessionOrTomb(at.Session)
	if errors.Is(err, store.ErrNotFound) {
		return nil, refused
	}
	return &store.Place{List: at.List, Rank: at.Rank, RecordAt: at.RecordAt, SID: last.SID}, err
}
