package app

import (
	"fmt"

	"aalis/backend/room/local"
)

// roomsKey is the key of config.yaml under which the chat platforms stand. It is no variable: it is a tree.
const roomsKey = "rooms"

var (
	roomKinds = []string{"local"}
	localKeys = []string{"account", "name", "owner", "groups", "private"}
	groupKeys = []string{"id", "name", "members"}
)

// maxMembers bounds one group of the local platform.
const maxMembers = 10_000

// localRooms reads rooms.local: the platform that is played inside the program. nil: it is not there.
func (r *reader) localRooms() *local.Config {
	value := r.v.Get(roomsKey)
	if value == nil {
		return nil
	}
	top, ok := r.entry(roomsKey, value, roomKinds)
	if !ok || top.of["local"] == nil {
		return nil
	}
	e, ok := r.entry(roomsKey+".local", top.of["local"], localKeys)
	if !ok {
		return nil
	}
	c := local.Config{Account: e.text("account"), Name: e.text("name"), Owner: e.text("owner"), Private: e.names("private")}
	if list, there := e.of["groups"]; there {
		c.Groups = e.groups(list)
	}
	if len(c.Groups) == 0 && len(c.Private) == 0 {
		sample := local.Sample()
		if c.Owner == "" {
			c.Owner = sample.Owner
		}
		c.Groups, c.Private = sample.Groups, sample.Private
	}
	return &c
}

func (e entry) groups(value any) []local.Group {
	list, ok := value.([]any)
	if !ok {
		e.r.wrong(e.at+".groups", "config.want-list", "value", shown(value))
		return nil
	}
	var all []local.Group
	seen := map[string]bool{}
	for i, each := range list {
		at := fmt.Sprintf("%s.groups[%d]", e.at, i)
		g, ok := e.r.entry(at, each, groupKeys)
		if !ok {
			continue
		}
		one := local.Group{ID: g.text("id"), Name: g.text("name"), Members: g.names("members")}
		if one.ID == "" || seen[one.ID] {
			e.r.wrong(at+".id", "config.want-name")
			continue
		}
		seen[one.ID] = true
		all = append(all, one)
	}
	return all
}

// names reads a list of names, each once.
func (e entry) names(key string) []string {
	value, there := e.of[key]
	if !there || value == nil {
		return nil
	}
	list, ok := value.([]any)
	if !ok || len(list) > maxMembers {
		e.r.wrong(e.at+"."+key, "config.want-texts", "value", shown(value))
		return nil
	}
	var all []string
	seen := map[string]bool{}
	for i, each := range list {
		name := fmt.Sprint(each) // numbers are names, too
		if name == "" || seen[name] {
			e.r.wrong(fmt.Sprintf("%s.%s[%d]", e.at, key, i), "config.want-name")
			continue
		}
		seen[name] = true
		all = append(all, name)
	}
	return all
}
