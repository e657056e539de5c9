package session

import (
	"context"
	"errors"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/store"
)

// actor is whoever sits at the connection's other end, as its transport knows it.
func (c *Conn) actor() event.Actor {
	who := c.peer.Caller
	return event.Actor{
		Kind: who.Principal.Kind, Principal: who.Principal.ID, Platform: who.Identity.Platform, UserID: who.Identity.UserID,
		Nickname: who.Principal.DisplayName, Owner: who.Principal.Kind == principal.Owner, Via: "session",
		Surface: c.peer.Surface,
	}
}

// do runs a command that has nothing to report.
func (c *Conn) do(ctx context.Context, cmd core.Command) (Empty, error) {
	_, err := c.server.o.Loop.Do(ctx, cmd)
	return Empty{}, err
}

// sessionCreate files a session. A sub-session needs the settings service, a root does not (Spec
// SP-SESS-05, -06).
func (c *Conn) sessionCreate(ctx context.Context, p SessionCreateParams) (SessionCreateResult, error) {
	cmd := core.CreateSession{Actor: c.actor(), Name: p.Name}
	if p.ParentID != nil {
		if _, err := c.settings(); err != nil {
			return SessionCreateResult{}, err
		}
		if cmd.Parent = *p.ParentID; cmd.Parent == "" { // to the command that is a root
			return SessionCreateResult{}, core.NoSession("")
		}
	}
	if p.Ext != nil {
		cmd.Place = p.Ext.Place
	}
	made, err := c.server.o.Loop.Do(ctx, cmd)
	if err != nil {
		return SessionCreateResult{}, err
	}
	var result SessionCreateResult
	err = c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		s, err := tx.Session(made.SessionID)
		if errors.Is(err, store.ErrNotFound) { // deleted by another client at once
			return core.NoSession(made.SessionID)
		}
		if err == nil {
			result.Session, err = c.summary(tx, s.SID)
		}
		return err
	})
	return result, err
}

func (c *Conn) sessionRename(ctx context.Context, p SessionRenameParams) (Empty, error) {
	return c.do(ctx, core.RenameSession{Actor: c.actor(), Session: p.SessionID, Title: p.Title})
}

func (c *Conn) sessionArchive(ctx context.Context, p SessionParams) (Empty, error) {
	return c.do(ctx, core.ArchiveSession{Actor: c.actor(), Session: p.SessionID})
}

func (c *Conn) sessionUnarchive(ctx context.Context, p SessionParams) (Empty, error) {
	return c.do(ctx, core.ArchiveSession{Actor: c.actor(), Session: p.SessionID, Back: true})
}

func (c *Conn) sessionDelete(ctx context.Context, p SessionParams) (Empty, error) {
	return c.do(ctx, core.DeleteSession{Actor: c.actor(), Session: p.SessionID})
}

// sessionBatch names only what failed (Spec SP-SESS-17).
func (c *Conn) sessionBatch(ctx context.Context, p SessionBatchParams) (SessionBatchResult, error) {
	done, err := c.server.o.Loop.Do(ctx, core.BatchSessions{Actor: c.actor(), Delete: p.Op == BatchDelete, IDs: p.IDs})
	if err != nil {
		return SessionBatchResult{}, err
	}
	result := SessionBatchResult{Failed: []BatchFailure{}}
	for _, f := range done.Failures {
		result.Failed = append(result.Failed, BatchFailure{SessionID: f.SessionID, Message: c.server.say(f.Message)})
	}
	return result, nil
}

// sessionMarkSeen moves the owner's moment, whoever of the owner's clients says so.
func (c *Conn) sessionMarkSeen(ctx context.Context, p SessionParams) (Empty, error) {
	return c.do(ctx, core.MarkSeen{Session: p.SessionID, Principal: event.OwnerID})
}

// sessionsWatch lets the connection see the list change. It is watching before it is told so, so that
// nothing that follows the answer can be missed.
func (c *Conn) sessionsWatch(context.Context, Empty) (Empty, error) {
	c.feed.mu.Lock()
	defer c.feed.mu.Unlock()
	c.feed.sessions.watch(c.feed.cursor.Position())
	return Empty{}, nil
}
