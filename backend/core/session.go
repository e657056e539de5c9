package core

import (
	"strings"
	"unicode/utf8"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// TitleMax bounds names and titles, in characters (decisions B11).
const TitleMax = 200

// DefaultPlace is the key of the workspace every owner's session starts in; NoPlace that of sessions which
// belong to no project and change nothing.
const (
	DefaultPlace = "workspace:default"
	NoPlace      = "none:"
)

// CreateSession files a session. Kind "" is owner without and task with a parent.
type CreateSession struct {
	Actor     event.Actor
	Origin    string // sp, v1, ch, ms, im, task; "" is sp
	Kind      string
	Name      string // "" for the default name
	Parent    string
	Place     string // "" for the default workspace
	ExtKey    string // a room's address
	Platform  string
	Instance  string
	Account   string
	Chat      *event.Window
	SpawnedBy string
	Harness   string
	// Key makes a repeated creation of the same principal the first one again, "" for none.
	Key string
}

func (c CreateSession) run(w *write) (Receipt, error) {
	name, err := cleanTitle(c.Name, true)
	if err != nil {
		return Receipt{}, err
	}
	if c.Key != "" {
		if id, found, err := w.Request(c.Actor.Principal, createOp, c.Key); err != nil || found {
			return Receipt{SessionID: id, Repeated: found}, err
		}
	}
	kind, origin := c.Kind, orElse(c.Origin, "sp")
	place, err := w.place(c.Place)
	if err != nil {
		return Receipt{}, err
	}
	var parent string
	if c.Parent != "" {
		p, err := w.session(c.Parent)
		if err != nil {
			return Receipt{}, err
		}
		if p.ArchivedAt != 0 {
			return Receipt{}, fault.New(fault.Conflict, text.New("session.archived-parent"))
		}
		parent, kind, place = p.ID, "task", p.Place
	}
	e, err := w.Create(event.Created{
		ID: event.NewID(), Name: name, Origin: origin, SessionKind: orElse(kind, "owner"), Tenant: "local", Initiator: event.OwnerID, Place: place,
		ExtKey: c.ExtKey, Platform: c.Platform, Instance: c.Instance, Account: c.Account, Chat: c.Chat, Parent: parent, SpawnedBy: c.SpawnedBy,
		Harness: orElse(c.Harness, "aalis"), HarnessV: 1, Environment: "local",
	}, c.Actor)
	if err != nil {
		return Receipt{}, err
	}
	w.events = append(w.events, e)
	if c.Key != "" {
		err = w.PutRequest(c.Actor.Principal, createOp, c.Key, e.Session, w.Now)
	}
	return Receipt{SessionID: e.Session, EventID: e.ID}, err
}

// createOp names creations among the requests that are remembered.
const createOp = "session.create"

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// cleanTitle trims and bounds a title.
func cleanTitle(s string, mayBeEmpty bool) (string, error) {
	s = strings.TrimSpace(s)
	if s == "" && !mayBeEmpty {
		return "", fault.New(fault.Invalid, text.New("session.title-empty"))
	}
	if n := utf8.RuneCountInString(s); n > TitleMax {
		return "", fault.New(fault.Invalid, text.New("session.title-long", "max", TitleMax, "n", n))
	}
	return s, nil
}

// RenameSession gives a session a title.
type RenameSession struct {
	Actor   event.Actor
	Session string
	Title   string
}

func (c RenameSession) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	title, err := cleanTitle(c.Title, false)
	if err != nil {
		return Receipt{}, err
	}
	_, err = w.append(s.SID, event.Draft{Actor: c.Actor, Payload: event.Updated{Title: &title}})
	return Receipt{SessionID: s.ID}, err
}

// TitleSession lets the program name one of the owner's sessions that has no name, and does nothing
// where the title is not Was any more: what a person chose is never overwritten. A room and a
// sub-session are named by whoever made them.
type TitleSession struct {
	Session string
	Title   string
	Was     string
}

func (c TitleSession) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	title, err := cleanTitle(c.Title, false)
	if err != nil {
		return Receipt{}, err
	}
	if s.Kind != "owner" || s.ParentSID != 0 || s.Name != "" || s.Title != c.Was || s.Title == title {
		return Receipt{SessionID: s.ID}, nil
	}
	_, err = w.append(s.SID, event.Draft{Actor: event.System(), Payload: event.Updated{Title: &title}})
	return Receipt{SessionID: s.ID, Done: true}, err
}

// ArchiveSession takes a session and its descendants out of the default lists, or back.
type ArchiveSession struct {
	Actor   event.Actor
	Session string
	Back    bool
}

func (c ArchiveSession) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	tree, err := w.Subtree(s.SID)
	if err != nil {
		return Receipt{}, err
	}
	to := !c.Back
	for _, one := range tree {
		if (one.ArchivedAt != 0) == to {
			continue
		}
		if _, err := w.append(one.SID, event.Draft{Actor: c.Actor, Payload: event.Updated{Archived: &to}}); err != nil {
			return Receipt{}, err
		}
	}
	return Receipt{SessionID: s.ID}, nil
}

// DeleteSession stops a session and its descendants and buries them. What is running is closed in
// the same transaction, so that nothing can be written behind the tombstone; contents are erased
// afterwards by Erase. Spec SP-SESS-13, SP-SESS-14.
type DeleteSession struct {
	Actor   event.Actor
	Session string
}

func (c DeleteSession) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	tree, err := w.Subtree(s.SID)
	if err != nil {
		return Receipt{}, err
	}
	for i := len(tree) - 1; i >= 0; i-- {
		if err := w.bury(tree[i], c.Actor); err != nil {
			return Receipt{}, err
		}
	}
	return Receipt{SessionID: s.ID}, nil
}

func (w *write) bury(s store.Session, by event.Actor) error {
	if err := w.dropInputs(s.SID, "deleted", by); err != nil {
		return err
	}
	t, running, err := w.stopRunning(s.SID, by, "deleted")
	if err != nil {
		return err
	}
	if running {
		if err := w.closeTurn(t, ending{outcome: event.Aborted}); err != nil {
			return err
		}
	}
	tasks, err := w.buryTasks(s.SID)
	if err != nil {
		return err
	}
	if _, err = w.append(s.SID, event.Draft{Actor: by, Payload: event.Deleted{By: by.Principal, Tasks: tasks}}); err != nil {
		return err
	}
	return w.DropSessionSettings(s.SID)
}

// BatchSessions archives or deletes several sessions, one after the other; one failure does not
// keep the others from being done. Spec SP-SESS-15 to 18.
type BatchSessions struct {
	Actor  event.Actor
	Delete bool
	IDs    []string
}

func (c BatchSessions) run(w *write) (Receipt, error) {
	var failures []Failure
	gone := map[string]bool{}
	for _, id := range c.IDs {
		if gone[id] {
			continue
		}
		s, err := w.SessionOrTomb(id)
		if err != nil || s.DeletedAt != 0 {
			failures = append(failures, Failure{SessionID: id, Message: NoSession(id).Message})
			gone[id] = true
			continue
		}
		var cmd Command = ArchiveSession{Actor: c.Actor, Session: s.ID}
		if c.Delete {
			tree, err := w.Subtree(s.SID)
			if err != nil {
				return Receipt{}, err
			}
			for _, t := range tree {
				gone[t.ID], gone[t.WireID()] = true, true
			}
			cmd = DeleteSession{Actor: c.Actor, Session: s.ID}
		}
		if _, err := cmd.run(w); err != nil {
			return Receipt{}, err // a failing disk, not a failing id
		}
		gone[id] = true
	}
	return Receipt{Failures: failures}, nil
}

// MarkSeen sets the moment a principal last looked at a session to now. Rooms accept it without
// effect (decisions B22).
type MarkSeen struct {
	Session   string
	Principal string
}

func (c MarkSeen) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	root, err := w.SessionBySID(s.RootSID)
	if err != nil {
		return Receipt{}, err
	}
	if root.Kind == "room" {
		return Receipt{SessionID: s.ID}, nil
	}
	if err := w.MarkSeen(s.SID, c.Principal); err != nil {
		return Receipt{}, err
	}
	w.after = append(w.after, Note{Kind: NoteSeen, Session: s.ID})
	return Receipt{SessionID: s.ID}, nil
}

// EraseDeleted takes one step of removing the contents of deleted sessions. Done when nothing is
// left to erase.
type EraseDeleted struct{}

func (EraseDeleted) run(w *write) (Receipt, error) {
	sids, err := w.Erasing()
	if err != nil || len(sids) == 0 {
		return Receipt{Done: err == nil}, err
	}
	_, err = w.Erase(sids[0])
	return Receipt{}, err
}

// skeletonAge is how long the numbers of an erased session are kept, ms (kernel 8).
const skeletonAge = 30 * 24 * 3600 * 1000

// PurgeSkeletons removes what is left of sessions deleted long ago.
type PurgeSkeletons struct{}

func (PurgeSkeletons) run(w *write) (Receipt, error) {
	n, err := w.Purge(w.Now - skeletonAge)
	return Receipt{Count: n, Done: n == 0}, err
}
