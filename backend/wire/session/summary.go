package session

import (
	"strings"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
)

// summary reads one session's line as the owner's lists show it; store.ErrNotFound for one that is
// missing or deleted.
func (c *Conn) summary(tx *store.ReadTx, sid int64) (SessionSummary, error) {
	s, err := tx.Summary(sid)
	if err != nil {
		return SessionSummary{}, err
	}
	return summarize(s, c.server.o.Language()), nil
}

// summarize draws a session's line (Spec SP-SUM-01 to -27, SP-TREE-01 to -15).
func summarize(s store.Summary, lang text.Language) SessionSummary {
	h, own, root := s.Head, s.Session, s.Root
	line := SessionSummary{
		ID:          own.WireID(),
		Title:       titleOf(own, lang),
		ChildCount:  int(h.Children),
		Kind:        SessionKind(own.Kind),
		Section:     SectionOwner,
		Platform:    root.Platform,
		Place:       placeOf(root, lang),
		CreatedAt:   own.CreatedAt,
		UpdatedAt:   h.RecordAt,
		LastReplyAt: h.LastReplyAt,
		Running:     h.RunningTurn != "",
		Error:       h.LastOutcome == event.Errored,
		Unread:      s.Unread(),
		Attention:   h.Pending+h.SubAttention > 0,
		Archived:    own.ArchivedAt != 0,
		Background:  int(h.OpenBackground + h.SubBusy),
	}
	if root.Kind == string(KindRoom) {
		line.Section = SectionRooms
		if root.Chat != nil {
			line.Chat = &Chat{Type: root.Chat.Type, MultiParty: root.Chat.MultiParty}
		}
	}
	if own.Kind == string(KindRoom) {
		line.Instance, line.Account = own.Instance, own.Account
	}
	// A model may have counted nothing; that it was called is accounted all the same.
	in, out := h.TokensIn+h.SubTokensIn, h.TokensOut+h.SubTokensOut
	if in+out > 0 || h.UsageSeq != 0 {
		line.Tokens = &Tokens{Input: in, Output: out}
	}
	if h.LastOutcome != "" {
		line.LastTurn = &LastTurn{Outcome: TurnOutcome(h.LastOutcome), EndedAt: h.LastEndedAt}
	}
	if reason, ok := h.Reason(); ok {
		line.Reason = reason.In(lang)
	}
	for _, up := range s.Ancestors {
		line.Ancestors = append(line.Ancestors, SessionRef{ID: up.WireID(), Title: titleOf(up, lang)})
	}
	if n := len(s.Ancestors); n > 0 {
		line.ParentID = s.Ancestors[n-1].WireID()
	}
	return line
}

// titleOf is the title, else the name, else a name out of the moment of creation in the time zone of
// this process (Spec SP-SUM-02, SP-I18N-03, decisions B12).
func titleOf(s store.Session, lang text.Language) string {
	switch {
	case s.Title != "":
		return s.Title
	case s.Name != "":
		return s.Name
	}
	at := time.UnixMilli(s.CreatedAt).Format("01/02 15:04")
	return text.New("session.default-name", "time", at).In(lang)
}

// windowPlace begins the keys of chat windows (decisions B33).
const windowPlace = "window:"

// placeOf is where a root lives; nil for a record that was filed as a fallback, which has none (Spec
// SP-SUM-12 to -18).
func placeOf(root store.Session, lang text.Language) *Place {
	key := root.Place
	switch {
	case key == "":
		return nil
	case key == core.NoPlace:
		return nil
	case key == core.DefaultPlace:
		return &Place{Key: key, Kind: PlaceWorkspace, Name: text.New("place.default").In(lang)}
	case !strings.HasPrefix(key, windowPlace):
		return &Place{Key: key, Kind: PlaceWorkspace, Name: strings.TrimPrefix(key, core.WorkspacePlace)}
	}
	name := key
	if root.Chat != nil && root.Chat.Name != "" {
		name = root.Chat.Name
	}
	return &Place{Key: key, Kind: PlaceWindow, Name: name}
}
