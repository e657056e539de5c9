// Package room is the tools with which she looks at the chat rooms and sends messages into them. It owns
// what the model is told; where the rooms are and how a message gets there is given to it.
package room

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"aalis/backend/tool"
)

//go:embed send_message.md
var sendWords string

//go:embed list_rooms.md
var listWords string

// Place is a room as the model is told of it.
type Place struct {
	Address  string
	Name     string
	Platform string
	Several  bool // several people talk there
}

// Outcome is what became of a message; State is as of a delivery in the log.
type Outcome struct {
	State  string
	Reason string
	Pieces int
	Of     int
}

// Find lists the rooms whose address or name contains a text, the newest first, at most limit. "" is all.
type Find func(ctx context.Context, query string, limit int) ([]Place, error)

// Deliver sends a message into a room for a call, and waits a while for the platform's answer.
type Deliver func(ctx context.Context, call tool.Call, address, text string) (Outcome, error)

// listMax bounds a list.
const listMax = 50

type listParams struct {
	Query string `json:"query,omitempty" jsonschema_description:"Words of the name or the address."`
}

// List shows the rooms.
func List(find Find) tool.Definition {
	return tool.Define(tool.Definition{
		Name: "list_rooms", Description: listWords, Effect: tool.Read, Example: json.RawMessage(`{"query":"tea"}`),
	}, func(_ context.Context, _ tool.Call, p listParams) (tool.Prepared, error) {
		return tool.Prepared{Execute: func(ctx context.Context, _ tool.Output) (tool.Result, error) {
			rooms, err := find(ctx, strings.TrimSpace(p.Query), listMax)
			if err != nil {
				return tool.Result{}, tool.Fail(tool.Failed, "the rooms could not be read: %w", err)
			}
			if len(rooms) == 0 {
				return tool.Result{Text: "There is no such room."}, nil
			}
			var b strings.Builder
			for _, r := range rooms {
				kind := "one other person"
				if r.Several {
					kind = "several people"
				}
				fmt.Fprintf(&b, "%s  %q  on %s, %s\n", r.Address, r.Name, r.Platform, kind)
			}
			return tool.Result{Text: b.String()}, nil
		}}, nil
	})
}

type sendParams struct {
	Room string `json:"room" jsonschema:"minLength=1" jsonschema_description:"Address or name of the room."`
	Text string `json:"text" jsonschema:"minLength=1,maxLength=4000" jsonschema_description:"What to say there."`
}

// Send sends a message into a room, once the owner approves. Spec SP-TOOL-22.
func Send(find Find, deliver Deliver) tool.Definition {
	return tool.Define(tool.Definition{
		Name: "send_message", Description: sendWords, Effect: tool.Write,
		Example: json.RawMessage(`{"room":"local:10001:group:tea","text":"Tea is ready."}`),
	}, func(ctx context.Context, call tool.Call, p sendParams) (tool.Prepared, error) {
		if strings.TrimSpace(p.Text) == "" {
			return tool.Prepared{}, tool.Refuse(tool.InvalidArgs, "text is blank")
		}
		to, err := target(ctx, find, strings.TrimSpace(p.Room))
		if err != nil {
			return tool.Prepared{}, err
		}
		return tool.Prepared{NeedsApproval: true, Execute: func(ctx context.Context, _ tool.Output) (tool.Result, error) {
			got, err := deliver(ctx, call, to.Address, p.Text)
			if err != nil {
				return tool.Result{}, tool.Fail(tool.Failed, "the message could not be sent: %w", err)
			}
			return told(to, got)
		}}, nil
	})
}

// target finds the one room that is meant.
func target(ctx context.Context, find Find, name string) (Place, error) {
	rooms, err := find(ctx, name, listMax)
	if err != nil {
		return Place{}, tool.Refuse(tool.Failed, "the rooms could not be read: %w", err)
	}
	var same, near []Place
	for _, r := range rooms {
		switch {
		case r.Address == name:
			return r, nil
		case strings.EqualFold(r.Name, name):
			same = append(same, r)
		}
		near = append(near, r)
	}
	switch {
	case len(same) == 1:
		return same[0], nil
	case len(same) > 1:
		return Place{}, tool.Refuse(tool.InvalidArgs, "several rooms are called %q; name one by its address: %s", name, addresses(same))
	case len(near) > 0:
		return Place{}, tool.Refuse(tool.NotFoundErr, "there is no room %q; near it are: %s", name, addresses(near))
	}
	return Place{}, tool.Refuse(tool.NotFoundErr, "there is no room %q; list_rooms shows which there are", name)
}

func addresses(rooms []Place) string {
	all := make([]string, 0, len(rooms))
	for _, r := range rooms[:min(len(rooms), 10)] {
		all = append(all, fmt.Sprintf("%s (%s)", r.Address, r.Name))
	}
	return strings.Join(all, ", ")
}

// told is what the model reads of the outcome.
func told(to Place, o Outcome) (tool.Result, error) {
	switch o.State {
	case "accepted":
		return tool.Result{Text: "Sent into " + to.Name + "."}, nil
	case "pending":
		return tool.Result{Text: "On its way into " + to.Name + "; the platform has not answered yet. Do not send it again."}, nil
	case "unknown":
		return tool.Result{Text: "It may have gone out into " + to.Name + "; the platform did not confirm it. Do not send it again."}, nil
	case "partial":
		return tool.Result{}, tool.Fail(tool.Failed, "only the first %d of %d pieces went out into %s", o.Pieces, o.Of, to.Name)
	}
	if o.Reason == "" {
		return tool.Result{}, tool.Fail(tool.Failed, "it did not go out into %s", to.Name)
	}
	return tool.Result{}, tool.Fail(tool.Failed, "it did not go out into %s: %s", to.Name, o.Reason)
}
