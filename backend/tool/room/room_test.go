package room_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"aalis/backend/tool"
	"aalis/backend/tool/room"
	"aalis/backend/tool/tooltest"
)

var rooms = []room.Place{
	{Address: "local:1:group:tea", Name: "Tea room", Platform: "local", Several: true},
	{Address: "local:1:group:tea2", Name: "Tea room", Platform: "local", Several: true},
	{Address: "local:1:private:Ann", Name: "Ann", Platform: "local"},
}

func find(_ context.Context, query string, limit int) (all []room.Place, err error) {
	for _, r := range rooms {
		if strings.Contains(r.Address+" "+r.Name, query) && len(all) < limit {
			all = append(all, r)
		}
	}
	return all, nil
}

func TestTools(t *testing.T) {
	sent := func(context.Context, tool.Call, string, string) (room.Outcome, error) {
		return room.Outcome{State: "accepted"}, nil
	}
	tooltest.Run(t, tooltest.Case{Tool: room.List(find), Good: `{"query":"Tea"}`, Bad: []string{`{"query":5}`}})
	tooltest.Run(t, tooltest.Case{
		Tool: room.Send(find, sent), Good: `{"room":"Ann","text":"hello"}`,
		Bad: []string{`{"room":"Ann","text":"  "}`, `{"room":"Ann"}`, `{"room":"Tea room","text":"two are called so"}`},
	})
	t.Run("the owner is asked", func(t *testing.T) {
		got, err := tooltest.Prepare(t, room.Send(find, sent), tool.Place{}, `{"room":"Ann","text":"hello"}`)
		if err != nil || !got.NeedsApproval {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("the list says where several talk", func(t *testing.T) {
		got, err := tooltest.Call(t, room.List(find), tool.Place{}, `{}`)
		if err != nil || !strings.Contains(got.Text, `local:1:group:tea  "Tea room"  on local, several people`) || !strings.Contains(got.Text, "one other person") {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := tooltest.Call(t, room.List(find), tool.Place{}, `{"query":"x"}`); err != nil || got.Text != "There is no such room." {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("which room is meant is asked back with what there is", func(t *testing.T) {
		for name, want := range map[string]string{"Tea room": "local:1:group:tea2 (Tea room)", "group": "near it are: local:1:group:tea", "nowhere": "list_rooms"} {
			_, err := tooltest.Prepare(t, room.Send(find, sent), tool.Place{}, `{"room":"`+name+`","text":"x"}`)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	broken := errors.New("full")
	for _, c := range []struct {
		outcome room.Outcome
		err     error
		says    string
		failed  bool
	}{
		{outcome: room.Outcome{State: "accepted"}, says: "Sent into Ann."},
		{outcome: room.Outcome{State: "pending"}, says: "has not answered yet. Do not send it again."},
		{outcome: room.Outcome{State: "unknown"}, says: "may have gone out into Ann; the platform did not confirm it. Do not send it again."},
		{outcome: room.Outcome{State: "partial", Pieces: 1, Of: 3}, says: "only the first 1 of 3 pieces", failed: true},
		{outcome: room.Outcome{State: "refused", Reason: "muted"}, says: "did not go out into Ann: muted", failed: true},
		{outcome: room.Outcome{State: "failed"}, says: "did not go out into Ann", failed: true},
		{err: broken, says: "could not be sent", failed: true},
	} {
		t.Run("the model reads what became of it: "+c.says, func(t *testing.T) {
			var to string
			def := room.Send(find, func(_ context.Context, _ tool.Call, address, _ string) (room.Outcome, error) {
				to = address
				return c.outcome, c.err
			})
			got, err := tooltest.Call(t, def, tool.Place{}, `{"room":"Ann","text":"hello"}`)
			said := got.Text
			if err != nil {
				said = err.Error()
			}
			if !strings.Contains(said, c.says) || (err != nil) != c.failed || to != "local:1:private:Ann" {
				t.Errorf("%q to %s, %v", said, to, err)
			}
		})
	}
}
