package backend

import (
	"context"
	"encoding/json"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/server"
	"aalis/backend/store"
	"aalis/backend/tool"
	"aalis/backend/wire/session"
)

// wire lets the door hand its connections to the session protocol.
type wire struct{ s *session.Server }

func (w wire) Connect(p server.Peer, send func(frame string)) server.Connection {
	return w.s.Connect(session.Peer(p), send)
}

// credentials keeps the door's credentials in the database: reads at once, writes by the loop.
type credentials struct{ loop *core.Loop }

func (c credentials) Principal(ctx context.Context, id string) (p principal.Principal, found bool, err error) {
	err = c.loop.Read(ctx, func(tx *store.ReadTx) error {
		var row store.Principal
		if row, found, err = tx.Principal(id); err != nil {
			return err
		}
		p = principal.Principal{
			ID: row.ID, Kind: row.Kind, TenantID: row.Tenant, Platform: row.Platform, UserID: row.UserID, AppID: row.App,
			EnvironmentID: row.Environment, DisplayName: row.Name,
		}
		return nil
	})
	return p, found, err
}

func (c credentials) PutCredential(ctx context.Context, k principal.Credential) error {
	_, err := c.loop.Do(ctx, core.PutCredential{Credential: store.Credential(k)})
	return err
}

func (c credentials) Credential(ctx context.Context, hash principal.Hash) (k principal.Credential, found bool, err error) {
	err = c.loop.Read(ctx, func(tx *store.ReadTx) error {
		row, ok, err := tx.Credential(hash)
		k, found = principal.Credential(row), ok
		return err
	})
	return k, found, err
}

func (c credentials) TouchCredential(ctx context.Context, hash principal.Hash, expiresAt int64) error {
	_, err := c.loop.Do(ctx, core.TouchCredential{Hash: hash, ExpiresAt: expiresAt})
	return err
}

func (c credentials) RevokeCredential(ctx context.Context, hash principal.Hash, at int64) error {
	_, err := c.loop.Do(ctx, core.RevokeCredential{Hash: hash, At: at})
	return err
}

func (c credentials) ListCredentials(ctx context.Context, kind principal.CredentialKind) (all []principal.Credential, err error) {
	err = c.loop.Read(ctx, func(tx *store.ReadTx) error {
		rows, err := tx.Credentials(kind)
		for _, r := range rows {
			all = append(all, principal.Credential(r))
		}
		return err
	})
	return all, err
}

// agent is the dialogue service: turns can be stopped from the session above.
type agent struct{ loop *core.Loop }

func (a agent) StopChildren(ctx context.Context, sessionID string) error {
	_, err := a.loop.Do(ctx, core.StopDescendants{Actor: event.System(), Session: sessionID})
	return err
}

// plans lets her tool keep her to-do lists in the log.
type plans struct{ loop *core.Loop }

func (p plans) keep(ctx context.Context, call tool.Call, entries []event.PlanEntry) error {
	_, err := p.loop.Do(ctx, core.SetPlan{Actor: event.Agent(), Session: call.SessionID, Turn: call.TurnID, Entries: entries})
	return err
}

// display lets the protocol show a call as its tool declares.
func display(r *tool.Registry) session.Display {
	return func(name string, args json.RawMessage, end *session.CallEnd) session.ToolDisplay {
		def, ok := r.Get(name)
		if !ok {
			return nil
		}
		shown := tool.ResolveDisplay(def.Display, args, (*tool.Ended)(end))
		switch {
		case shown == nil:
			return nil
		case shown.Kind == session.DisplayCommand:
			d := &session.CommandDisplay{Kind: shown.Kind, Command: *shown.Command}
			if shown.Cwd != nil {
				d.Cwd = *shown.Cwd
			}
			if shown.ExitCode != nil {
				code := int(*shown.ExitCode)
				d.ExitCode = &code
			}
			return d
		}
		return &session.FileChangeDisplay{Kind: shown.Kind, Path: *shown.Path, Removed: shown.Removed, Added: shown.Added}
	}
}
