package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"aalis/backend/command"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/room"
	"aalis/backend/settings/field"
	"aalis/backend/text"
)

// commandsOf gives the commands what they do their work with.
func (b *Backend) commandsOf(folders places) *command.Commands {
	return command.New(command.Options{
		Loop: b.loop, Compress: b.turns.Compress, Usage: b.turns.Usage, Model: b.modelOf, Log: b.log,
		SetModel: func(ctx context.Context, sessionID, platform, model string) error {
			_, err := b.settings.WriteSession(ctx, sessionID, platform, nativeHarness, "model", field.Raw(model))
			return err
		},
		Folder: func(place string) string { return folders.of(place).Root },
	})
}

// take hands a message to the commands.
func (b *Backend) take(ctx context.Context, send core.SendInput, manages bool) (bool, error) {
	return b.commands.Take(ctx, command.Call{Send: send, Manages: manages})
}

// modelOf gives the model of a session's next turn and all there are. Providers that do not answer are
// left out: their models can be named all the same.
func (b *Backend) modelOf(ctx context.Context, sessionID, platform string) (now string, all []string, err error) {
	values, err := b.resolve(ctx, sessionID, nativeHarness, platform)
	if err != nil {
		return "", nil, fmt.Errorf("reading the settings: %w", err)
	}
	if raw, set := values["model"]; set {
		if err := json.Unmarshal(raw, &now); err != nil {
			return "", nil, fmt.Errorf("reading the model: %w", err)
		}
	}
	if now == "" {
		now, _ = b.models.DefaultNow()
	}
	choices, err := b.modelChoices(ctx)
	for _, c := range choices.Choices {
		all = append(all, c.Value)
	}
	return now, all, err
}

// roomCommands are the commands as rooms have them: the reply goes out into the room.
type roomCommands struct{ b *Backend }

func (r roomCommands) Knows(said string) bool { return r.b.commands.Knows(said) }

func (r roomCommands) Run(ctx context.Context, sessionID string, by event.Actor, said string) (text.Text, error) {
	return r.b.commands.Do(ctx, sessionID, by, said, func(ctx context.Context, reply text.Text) {
		out := core.SendOut{Session: sessionID, Topic: room.TopicReply, Text: reply, Words: reply.In(r.b.language())}
		if _, err := r.b.loop.Do(context.WithoutCancel(ctx), out); err != nil && !errors.Is(err, core.ErrClosed) {
			r.b.log.Error("the answer to a command in a room is not written", "session", sessionID, "err", err)
		}
	}), nil
}
