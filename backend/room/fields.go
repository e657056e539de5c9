package room

import (
	"encoding/json"

	"aalis/backend/core"
	"aalis/backend/settings/field"
	"aalis/backend/text"
)

// Plugin is the id under which the settings of rooms are declared.
const Plugin = "rooms"

// The keys of the settings.
const (
	keyAnswer    = "answer"
	keyOwnerOnly = "ownerOnly"
	keyNames     = "names"
	keyPause     = "pause"
	keyForget    = "forgetNotices"
)

// Fields declares what is set for rooms. They count at once: the writer asks for them with every message.
func Fields() field.Plugin {
	rooms := []field.Kind{field.Room}
	order := func(n float64) *float64 { return &n }
	answer := func(label text.Key, value string) field.Option {
		return field.Option{Label: text.New(label), Value: field.Raw(value)}
	}
	return field.Plugin{ID: Plugin, Fields: []field.Field{
		{
			Key: keyAnswer, Type: field.Select, Label: text.New("rooms.answer"), Description: text.New("rooms.answer-about"),
			Default: field.Raw(core.AnswerAddressed), Pattern: "^(" + core.AnswerAlways + "|" + core.AnswerAddressed + "|" + core.AnswerNever + ")$",
			Options: []field.Option{
				answer("rooms.answer-always", core.AnswerAlways), answer("rooms.answer-addressed", core.AnswerAddressed), answer("rooms.answer-never", core.AnswerNever),
			},
			Session: field.Spec{AppliesTo: rooms, Prominence: field.Composer, Order: order(1)},
		},
		{
			Key: keyOwnerOnly, Type: field.Boolean, Label: text.New("rooms.owner-only"), Description: text.New("rooms.owner-only-about"),
			Default: field.Raw(false), Session: field.Spec{AppliesTo: rooms, Prominence: field.Common, Order: order(2)},
		},
		{
			Key: keyNames, Type: field.List, Label: text.New("rooms.names"), Description: text.New("rooms.names-about"),
			Session: field.Spec{AppliesTo: rooms, Prominence: field.Common, Order: order(3), Unset: text.New("rooms.names-unset")},
		},
		{
			Key: keyPause, Type: field.Number, Label: text.New("rooms.pause"), Description: text.New("rooms.pause-about"),
			Default: field.Raw(10), Min: order(0), Max: order(86400),
			Session: field.Spec{AppliesTo: rooms, Prominence: field.Advanced, Order: order(4)},
		},
		{
			Key: keyForget, Type: field.Boolean, Label: text.New("rooms.forget"), Description: text.New("rooms.forget-about"),
			Default: field.Raw(false), Session: field.Spec{AppliesTo: rooms, Prominence: field.Advanced, Order: order(5)},
		},
	}}
}

// RulesOf makes the rules of a room out of its settings.
func RulesOf(set map[string]json.RawMessage) core.Rules {
	r := core.Rules{}
	var pause float64
	// Each value fits its field: settings give no others.
	for key, into := range map[string]any{keyAnswer: &r.Answer, keyOwnerOnly: &r.OwnerOnly, keyNames: &r.Names, keyPause: &pause, keyForget: &r.Forget} {
		if raw, ok := set[key]; ok {
			_ = json.Unmarshal(raw, into)
		}
	}
	r.Pause = int64(pause * 1000)
	return r
}
