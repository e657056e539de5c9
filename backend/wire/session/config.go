package session

import "context"

// settings gives the settings service (Spec SP-CONF-01).
func (c *Conn) settings() (Settings, error) {
	if s := c.server.current().Settings; s != nil {
		return s, nil
	}
	return nil, absent("wire.service-settings")
}

func (c *Conn) configGet(ctx context.Context, p SessionParams) (ConfigGetResult, error) {
	s, err := c.settings()
	if err != nil {
		return ConfigGetResult{}, err
	}
	return s.Session(ctx, p.SessionID, c.peer.Caller.Identity.Platform, c.server.o.Language())
}

func (c *Conn) configUpdate(ctx context.Context, p ConfigUpdateParams) (ConfigUpdateResult, error) {
	s, err := c.settings()
	if err != nil {
		return ConfigUpdateResult{}, err
	}
	return s.WriteSession(ctx, p, c.peer.Caller.Identity.Platform, c.server.o.Language())
}

func (c *Conn) configLayers(ctx context.Context, _ Empty) (ConfigLayersResult, error) {
	s, err := c.settings()
	if err != nil {
		return ConfigLayersResult{}, err
	}
	return s.Layers(ctx, c.server.o.Language())
}

func (c *Conn) configLayerGet(ctx context.Context, p ConfigLayerGetParams) (ConfigLayerGetResult, error) {
	s, err := c.settings()
	if err != nil {
		return ConfigLayerGetResult{}, err
	}
	return s.Layer(ctx, p.Layer, c.server.o.Language())
}

func (c *Conn) configLayerUpdate(ctx context.Context, p ConfigLayerUpdateParams) (ConfigLayerUpdateResult, error) {
	s, err := c.settings()
	if err != nil {
		return ConfigLayerUpdateResult{}, err
	}
	return s.WriteLayer(ctx, p, c.server.o.Language())
}

func (c *Conn) configOverrides(ctx context.Context, p ConfigOverridesParams) (ConfigOverridesResult, error) {
	s, err := c.settings()
	if err != nil {
		return ConfigOverridesResult{}, err
	}
	return s.Overrides(ctx, p.Plugin, c.server.o.Language())
}
