package session

import (
	"context"

	"aalis/backend/store"
)

// localRooms gives the platform that is played inside the program.
func (c *Conn) localRooms() (LocalRooms, error) {
	if r := c.server.current().LocalRooms; r != nil {
		return r, nil
	}
	return nil, absent("wire.service-local")
}

func (c *Conn) localList(ctx context.Context, _ Empty) (LocalRoomsResult, error) {
	r, err := c.localRooms()
	if err != nil {
		return LocalRoomsResult{}, err
	}
	all, err := r.List(ctx)
	return LocalRoomsResult{Rooms: all}, err
}

func (c *Conn) localSay(ctx context.Context, p LocalSayParams) (LocalSayResult, error) {
	r, err := c.localRooms()
	if err != nil {
		return LocalSayResult{}, err
	}
	return r.Say(ctx, p)
}

func (c *Conn) localCrowd(ctx context.Context, p LocalCrowdParams) (Empty, error) {
	r, err := c.localRooms()
	if err != nil {
		return Empty{}, err
	}
	return Empty{}, r.Crowd(ctx, p)
}

func (c *Conn) localAnswer(ctx context.Context, p LocalAnswerParams) (Empty, error) {
	r, err := c.localRooms()
	if err != nil {
		return Empty{}, err
	}
	return Empty{}, r.Answer(ctx, p)
}

// roomGroups lists the groups of rooms; they depend on no filter (Spec SP-GROUP-02, -03).
func (c *Conn) roomGroups(tx *store.ReadTx) ([]RoomGroup, error) {
	groups, err := tx.Groups()
	all := make([]RoomGroup, 0, len(groups))
	for _, g := range groups {
		all = append(all, RoomGroup{
			Platform: g.Platform, Instance: g.Instance, Label: c.groupLabel(g),
			Rooms: int(g.Rooms), Accounts: int(g.Accounts), Attention: int(g.Attention),
		})
	}
	return all, err
}

// groupLabel is the name of the adapter instance, or the platform for rooms without a recorded one. An
// instance that is not there, such as one that was removed, goes by its id (Spec SP-GROUP-07, -08,
// decisions B30).
func (c *Conn) groupLabel(g store.Group) string {
	if g.Instance == "" {
		return g.Platform
	}
	if r := c.server.current().Rooms; r != nil {
		if name, ok := r.Instance(g.Instance); ok {
			return name.In(c.server.o.Language())
		}
	}
	return g.Instance
}
