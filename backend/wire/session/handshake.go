package session

import (
	"context"

	"aalis/backend/fault"
	"aalis/backend/text"
	"aalis/backend/wire/jsonrpc"
)

// initialize shakes hands. An incompatible client is told so and then disconnected; the connection is
// of no use any more (Spec SP-VER-12 to -14).
func (c *Conn) initialize(_ context.Context, p InitializeParams) (InitializeResult, error) {
	s := c.server
	if !compatible(Version, p.ProtocolVersion) {
		refusal := fault.New(fault.Unsupported, text.New("wire.version-mismatch", "server", Version, "client", p.ProtocolVersion))
		c.turnedAway = jsonrpc.ErrorOf(refusal)
		c.after = func() { c.peer.Disconnect(s.say(refusal.Message)) }
		return InitializeResult{}, refusal
	}
	s.log.Info("a client shook hands", "connection", c.id, "surface", c.peer.Surface,
		"client", p.Client.Name, "client_version", p.Client.Version)
	result := InitializeResult{
		ProtocolVersion: Version,
		Experimental:    true,
		Server:          ServerInfo{Name: s.o.Name},
		Identity:        Identity{Platform: c.peer.Caller.Identity.Platform, UserID: c.peer.Caller.Identity.UserID},
		Surface:         c.peer.Surface,
		Features:        s.current().features(),
		AppName:         s.appName(),
		Ext:             &HostExt{Language: string(s.o.Language())},
	}
	c.after = func() { c.shake(result) }
	return result, nil
}

// shake opens the connection for pushes. The client was told told; what changed between that and now
// it learns by the first push.
func (c *Conn) shake(told InitializeResult) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c.shaken = true
	c.feed.language = told.Ext.Language // nobody else has the feed yet
	c.startFeed()
	if now := s.services.features(); now != told.Features {
		c.push("features/changed", FeaturesChanged{Features: now})
	}
}

// push sends a notification.
func (c *Conn) push(method string, params any) {
	frame, err := jsonrpc.Notification(method, params)
	if err != nil {
		c.server.log.Error("a notification does not encode", "method", method, "error", err)
		return
	}
	c.send(frame)
}
