package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/room/local"
)

func TestRoomsInTheConfiguration(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       *local.Config
	}{
		{"without a word there are none", "", nil},
		{"an empty word plays none", "rooms: {local: }\n", nil},
		{"an empty map plays a sample", "rooms: {local: {}}\n", func() *local.Config { c := local.Sample(); return &c }()},
		{
			"groups, members and private chats", "rooms:\n  local:\n    account: \"7\"\n    name: Mira\n    owner: me\n    groups:\n      - id: tea\n        name: Tea room\n        members: [Ann, Bob, 7]\n    private: [me]\n",
			&local.Config{Account: "7", Name: "Mira", Owner: "me", Groups: []local.Group{{ID: "tea", Name: "Tea room", Members: []string{"Ann", "Bob", "7"}}}, Private: []string{"me"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			configure(t, english(t), c.file)
			got, problem := load(t, globals{})
			if diff := cmp.Diff(c.want, got.localRooms); diff != "" || problem != "" {
				t.Errorf("%s%s", diff, problem)
			}
		})
	}
	t.Run("what is wrong is said, all at once, with the place", func(t *testing.T) {
		configure(t, english(t), "rooms:\n  onebot: {}\n  local:\n    acount: 7\n    groups:\n      - {name: no id}\n      - {id: tea, members: [Ann, Ann]}\n      - {id: tea}\n      - 5\n    private: Ann\n")
		_, problem := load(t, globals{})
		for _, want := range []string{"rooms.onebot", "rooms.local.acount", "rooms.local.groups[0].id", "rooms.local.groups[1].members[1]", "rooms.local.groups[2].id", "rooms.local.groups[3]", "rooms.local.private"} {
			if !strings.Contains(problem, want) {
				t.Errorf("%s is not in:\n%s", want, problem)
			}
		}
	})
	t.Run("it is no variable", func(t *testing.T) {
		english(t)
		t.Setenv("AALIS_ROOMS", "{}")
		if _, problem := load(t, globals{}); !strings.Contains(problem, "AALIS_ROOMS") {
			t.Error(problem)
		}
	})
}
