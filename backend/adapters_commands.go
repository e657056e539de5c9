package backend

import (
	"context"
	"encoding/json"
	"fmt"

	"aalis/backend/command"
	"aalis/backend/core"
	"aalis/backend/settings/field"
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
