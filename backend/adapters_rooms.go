package backend

import (
	"context"
	"fmt"

	"aalis/backend/core"
	"aalis/backend/engine/native"
	"aalis/backend/room"
	"aalis/backend/room/local"
	"aalis/backend/settings"
	"aalis/backend/store"
	"aalis/backend/text"
	"aalis/backend/tool"
	roomtools "aalis/backend/tool/room"
	"aalis/backend/wire/session"
)

// openRooms makes the adapters of chat platforms. Settings and tools need them before the log is there.
func (b *Backend) openRooms() {
	if b.config.LocalRooms != nil {
		b.local = local.New(*b.config.LocalRooms)
		b.adapters = append(b.adapters, b.local)
	}
	b.adapters = append(b.adapters, b.config.Rooms...)
}

// platforms lists those of the adapters with the types of chats they declare (Spec SP-CONF-20 to -22). One
// platform of several adapters is one.
func (b *Backend) platforms() []settings.Platform {
	var all []settings.Platform
	at := map[string]int{}
	for _, a := range b.adapters {
		info := a.Info()
		i, known := at[info.Platform]
		if !known {
			i = len(all)
			at[info.Platform] = i
			all = append(all, settings.Platform{ID: info.Platform})
		}
		for _, t := range info.Types {
			all[i].Types = append(all[i].Types, settings.PlatformType(t))
		}
	}
	return all
}

// ruling gives the writer what is set for a room.
func (b *Backend) ruling(rows core.SettingRows, s store.Session) (core.Rules, error) {
	set, err := b.settings.Effective(rows, s, "", room.Plugin)
	return room.RulesOf(set), err
}

// roomTools lets her look at the rooms and send into them.
type roomTools struct{ b *Backend }

// groups is their group; none where there are no adapters.
func (r roomTools) groups() []native.ToolGroup {
	if len(r.b.adapters) == 0 {
		return nil
	}
	return []native.ToolGroup{{
		ID: room.Plugin, Label: text.New("settings.group-rooms"), About: text.New("settings.group-rooms-about"),
		Tools: []tool.Definition{roomtools.List(r.find), roomtools.Send(r.find, r.deliver)},
	}}
}

func (r roomTools) find(ctx context.Context, query string, limit int) ([]roomtools.Place, error) {
	var all []roomtools.Place
	err := r.b.loop.Read(ctx, func(tx *store.ReadTx) error {
		page, _, err := tx.List(store.ListQuery{Lists: []int64{store.ListRoom}, Match: query, Limit: limit})
		for _, s := range page {
			p := roomtools.Place{Address: s.Session.WireID(), Name: s.Session.Title, Platform: s.Session.Platform}
			if p.Name == "" {
				p.Name = s.Session.Name
			}
			p.Several = s.Session.Chat != nil && s.Session.Chat.MultiParty
			all = append(all, p)
		}
		return err
	})
	return all, err
}

func (r roomTools) deliver(ctx context.Context, call tool.Call, address, words string) (roomtools.Outcome, error) {
	got, err := r.b.rooms.Send(ctx, call.TurnID, call.CallID, address, room.Outgoing{Text: words})
	return roomtools.Outcome(got), err
}

// localRooms lets the owner's commands play the local platform.
type localRooms struct{ platform *local.Adapter }

func (l localRooms) List(context.Context) ([]session.LocalRoom, error) {
	all := []session.LocalRoom{}
	for _, r := range l.platform.Rooms() {
		all = append(all, session.LocalRoom(r))
	}
	return all, nil
}

func (l localRooms) Say(ctx context.Context, p session.LocalSayParams) (session.LocalSayResult, error) {
	id, heard, err := l.platform.Say(ctx, local.Said{Room: p.Room, Member: p.Member, Text: p.Text, Mention: p.Mention, ReplyTo: p.ReplyTo, Happens: p.Happens})
	if err != nil {
		return session.LocalSayResult{}, err
	}
	for range p.Times - 1 {
		if _, err := l.platform.Redeliver(ctx, id); err != nil {
			return session.LocalSayResult{}, fmt.Errorf("delivering it again: %w", err)
		}
	}
	return session.LocalSayResult{MessageID: id, SessionID: heard.SessionID, ItemID: heard.EventID, TurnID: heard.TurnID}, nil
}

func (l localRooms) Crowd(ctx context.Context, p session.LocalCrowdParams) error {
	return l.platform.Crowd(ctx, p.Room, p.Members, p.Each, p.Mention)
}

func (l localRooms) Answer(_ context.Context, p session.LocalAnswerParams) error {
	return l.platform.Answers(p.Room, local.Answer{How: p.How, Reason: p.Reason})
}
