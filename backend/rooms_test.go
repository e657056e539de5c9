package backend_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"aalis/backend"
	"aalis/backend/room"
	"aalis/backend/room/local"
	"aalis/backend/text"
)

const teaRoom = "local:10001:group:tea"

func withRooms(c *backend.Config) {
	c.LocalRooms = &local.Config{Owner: "me", Groups: []local.Group{{ID: "tea", Name: "Tea room", Members: []string{"Ann", "Bob"}}}, Private: []string{"me"}}
}

func TestLayersOfRooms(t *testing.T) {
	s := speak(t, "settings: {types: {local: {channel: {rooms: {answer: never}}}, gone: {group: {rooms: {answer: never}}}}}\n", withRooms)
	s.call("ext/rooms/local/say", `{"room":"tea","member":"Ann","text":"hello"}`)
	var got struct {
		Result struct {
			Layers []struct {
				Layer       struct{ Scope, Platform, Type, Key string }
				Label, Type string
				Platform    string
			}
		}
	}
	if err := json.Unmarshal([]byte(s.call("session/config/layers", `{}`)), &got); err != nil {
		t.Fatal(err)
	}
	var types, places []string
	for _, l := range got.Result.Layers {
		switch l.Layer.Scope {
		case "platformType":
			types = append(types, l.Layer.Platform+"/"+l.Layer.Type+"="+l.Label)
		case "place":
			places = append(places, l.Layer.Key+"="+l.Label+"|"+l.Platform+"/"+l.Type)
		}
	}
	t.Run("SP-CONF-21 SP-CONF-22 the types that adapters declare, by their names, and those that are written, without; other platforms have none", func(t *testing.T) {
		if have, want := strings.Join(types, " "), "local/group=Group local/private=Private chat local/channel= gone/group="; have != want {
			t.Errorf("%s, want %s", have, want)
		}
	})
	t.Run("SP-CONF-24 a window is labelled by its type and its name, without the platform", func(t *testing.T) {
		if have, want := strings.Join(places, " "), "workspace:default=Default workspace|/ window:"+teaRoom+"=Group Tea room|local/group"; have != want {
			t.Errorf("%s, want %s", have, want)
		}
	})
}

func TestRoomsObeyTheirSettings(t *testing.T) {
	s := speak(t, "", withRooms)
	say := func(words string) string {
		return s.call("ext/rooms/local/say", `{"room":"tea","member":"Ann","text":"`+words+`"}`)
	}
	opens := func(what, words string, want bool) {
		t.Helper()
		got := say(words)
		if strings.Contains(got, `"turnId"`) != want || !strings.Contains(got, `"itemId"`) {
			t.Errorf("%s: %s", what, got)
		}
		if want {
			s.wait(s.done, "the end of the turn")
		}
	}
	set := func(layer, key, value string) {
		t.Helper()
		lacks(t, "the answer", s.call("session/config/layer/update", `{"layer":`+layer+`,"plugin":"rooms","key":"`+key+`","value":`+value+`}`), `"value":`+value)
	}
	opens("at first a remark", "hello", false)
	s.call("session/subscribe", `{"sessionId":"`+teaRoom+`"}`)
	opens("a mention", "@Aalis hello", true)
	set(`{"scope":"platform","platform":"local"}`, "answer", `"never"`)
	opens("never, by the platform", "@Aalis hello", false)
	set(`{"scope":"platformType","platform":"local","type":"group"}`, "answer", `"addressed"`)
	opens("again, by the type", "@Aalis hello", true)
	set(`{"scope":"place","key":"window:`+teaRoom+`"}`, "ownerOnly", `true`)
	opens("the owner only, by the window", "@Aalis hello", false)
	lacks(t, "the session", s.call("session/config/update", `{"sessionId":"`+teaRoom+`","plugin":"rooms","key":"ownerOnly","value":false}`), `"value":false`)
	lacks(t, "the session", s.call("session/config/update", `{"sessionId":"`+teaRoom+`","plugin":"rooms","key":"names","value":["Mira"]}`), `"value":["Mira"]`)
	opens("by a name, at the session", "Mira, hello", true)
	lacks(t, "a value that is none", s.call("session/config/update", `{"sessionId":"`+teaRoom+`","plugin":"rooms","key":"answer","value":"often"}`), `"code":-32602`)
	if mine := s.call("session/config/get", `{"sessionId":"`+s.session()+`"}`); strings.Contains(mine, `"plugin":"rooms"`) {
		t.Errorf("a session of the owner's has settings of rooms: %s", mine)
	}
}

func TestSendingIntoARoom(t *testing.T) {
	call, pushed := program(t, withRooms)
	call("initialize", hello)
	call("presence/update", `{"active":true}`)
	call("ext/rooms/local/say", `{"room":"tea","member":"Ann","text":"hello"}`)
	mine := field(t, call("session/create", `{}`), "id")
	call("session/subscribe", `{"sessionId":"`+mine+`"}`)
	call("turn/send", `{"sessionId":"`+mine+`","content":"send: tea Tea!"}`)
	t.Run("an address that is none is refused before the owner is asked", func(t *testing.T) {
		card := push(t, pushed, `"tool":"send_message"`, `"status":"failed"`)
		if !strings.Contains(card, `near it are: `+teaRoom+` (Tea room)`) {
			t.Error(card)
		}
		push(t, pushed, `"kind":"turn"`, `"outcome"`)
	})
	t.Run("SP-TOOL-22 the owner is asked, the platform takes it, and the card says so", func(t *testing.T) {
		call("turn/send", `{"sessionId":"`+mine+`","content":"send: `+teaRoom+` Tea!"}`)
		asked := push(t, pushed, `"method":"approval/requested"`)
		if !strings.Contains(asked, `"params":{"room":"`+teaRoom+`","text":"Tea!"}`) {
			t.Error(asked)
		}
		call("approval/respond", `{"approvalId":"`+field(t, asked, "id")+`","decision":"approve","contentHash":"`+field(t, asked, "contentHash")+`"}`)
		card := push(t, pushed, `"tool":"send_message"`, `"status":"completed"`)
		if !strings.Contains(card, `"sentToRoom":true`) {
			t.Error(card)
		}
		if rooms := call("ext/rooms/local/list", `{}`); !strings.Contains(rooms, `"sent":1`) {
			t.Error(rooms)
		}
		if said := call("session/history", `{"sessionId":"`+teaRoom+`"}`); !strings.Contains(said, `"kind":"agent-message"`) || !strings.Contains(said, `"text":"Tea!"`) {
			t.Error(said)
		}
	})
}

// program is windowOn with a configuration.
func program(t *testing.T, edit func(*backend.Config)) (call func(method, params string) string, pushed <-chan string) {
	t.Helper()
	c := backend.Config{DataDir: t.TempDir(), Language: text.English}
	edit(&c)
	b, err := backend.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran, ready := make(chan error, 1), make(chan struct{})
	go func() { ran <- b.Run(ctx, func(backend.Ready) { close(ready) }) }()
	<-ready
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	answers, pushes := make(chan string, 1), make(chan string, 256)
	conn := b.Connect(func(string) {}, func(frame string) {
		if strings.Contains(frame, `"id":`) && !strings.Contains(frame, `"method":`) {
			answers <- frame
			return
		}
		pushes <- frame
	})
	t.Cleanup(conn.Close)
	return func(method, params string) string {
		conn.Receive(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
		return <-answers
	}, pushes
}

func TestTheLocalPlatform(t *testing.T) {
	t.Run("it is not there unless it is configured", func(t *testing.T) {
		s := speak(t, "", nil)
		for _, method := range []string{"list", "say", "crowd", "answer"} {
			params := map[string]string{"list": `{}`, "say": `{"room":"tea","member":"Ann","text":"x"}`, "crowd": `{"room":"tea","members":1,"each":1}`, "answer": `{"room":"tea","how":"accept"}`}[method]
			lacks(t, method, s.call("ext/rooms/local/"+method, params), `"code":"unsupported"`, "config.yaml")
		}
		if all, err := s.b.Options(t.Context(), "toolGroups", ""); err != nil || strings.Contains(strings.Join(all.Models, " "), "rooms") {
			t.Errorf("%v, %v", all, err)
		}
	})
	s := speak(t, "", withRooms)
	t.Run("what is wrong is said, with what there is", func(t *testing.T) {
		lacks(t, "a room", s.call("ext/rooms/local/say", `{"room":"coffee","member":"Ann","text":"x"}`), `"code":"not-found"`, "Tea room")
		lacks(t, "a member", s.call("ext/rooms/local/say", `{"room":"tea","member":"Eve","text":"x"}`), `"code":"not-found"`, "Ann, Bob")
		lacks(t, "nothing said", s.call("ext/rooms/local/say", `{"room":"tea","member":"Ann","text":" "}`), `"code":-32602`)
		lacks(t, "an event", s.call("ext/rooms/local/say", `{"room":"tea","member":"Ann","happens":"dance"}`), `"code":-32602`, "poke")
		lacks(t, "an answer", s.call("ext/rooms/local/answer", `{"room":"tea","how":"maybe"}`), `"code":-32602`, "refuse")
	})
	t.Run("a crowd speaks at once, and all of it is kept", func(t *testing.T) {
		lacks(t, "a crowd that is none", s.call("ext/rooms/local/crowd", `{"room":"tea","members":100000,"each":1}`), `"code":-32602`)
		lacks(t, "a crowd", s.call("ext/rooms/local/crowd", `{"room":"tea","members":50,"each":2}`), `"result":{}`)
		said := s.call("session/history", `{"sessionId":"`+teaRoom+`","limit":200}`)
		if n := strings.Count(said, `"userId":"Member `); n != 100 {
			t.Errorf("%d", n)
		}
	})
	t.Run("FAIL-H10 delivered three times it is one message", func(t *testing.T) {
		s.call("ext/rooms/local/say", `{"room":"tea","member":"Ann","text":"once","times":3}`)
		if said := s.call("session/history", `{"sessionId":"`+teaRoom+`"}`); strings.Count(said, `"text":"once"`) != 1 {
			t.Error(said)
		}
	})
}

// lame is an adapter that gives up and takes nothing.
type lame struct{ runs chan struct{} }

func (l lame) Info() room.Info {
	return room.Info{ID: "lame", Platform: "lame", Label: text.Plain("Lame")}
}

func (l lame) Run(context.Context, room.Inbox) error {
	l.runs <- struct{}{}
	return context.DeadlineExceeded
}

func (lame) Send(context.Context, room.Address, room.Outgoing) error { return room.ErrOffline }

func TestAnAdapterThatGivesUp(t *testing.T) {
	t.Run("it is run again, and takes nobody with it", func(t *testing.T) {
		one := lame{make(chan struct{}, 8)}
		s := speak(t, "", func(c *backend.Config) { withRooms(c); c.Rooms = []room.Adapter{one} })
		for range 2 {
			select {
			case <-one.runs:
			case <-time.After(20 * time.Second):
				t.Fatal("it was not run again")
			}
		}
		lacks(t, "the other", s.call("ext/rooms/local/say", `{"room":"tea","member":"Ann","text":"x"}`), `"itemId"`)
		layers := s.call("session/config/layers", `{}`)
		if !strings.Contains(layers, `{"layer":{"scope":"platform","platform":"lame"}}`) || strings.Contains(layers, `"platformType","platform":"lame"`) {
			t.Error(layers)
		}
	})
}
