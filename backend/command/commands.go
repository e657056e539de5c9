package command

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"aalis/backend/core"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

func help(context.Context, call) (text.Text, error) { return text.New("command-reply.help"), nil }

// clear empties the conversation. Its own message goes with it; what it answers is the first thing after.
func clear(ctx context.Context, c call) (text.Text, error) {
	_, err := c.options.Loop.Do(ctx, core.ClearHistory{Actor: c.Send.Actor, Session: c.sessionID})
	return text.New("command-reply.cleared"), err
}

func compress(ctx context.Context, c call) (text.Text, error) {
	return text.New("command-reply.compressed"), c.options.Compress(ctx, c.sessionID)
}

// model says which model is used here, or sets it.
func model(ctx context.Context, c call) (text.Text, error) {
	platform := c.Send.Actor.Platform
	now, all, err := c.options.Model(ctx, c.sessionID, platform)
	if err != nil {
		return text.Text{}, err
	}
	list := strings.Join(all, ", ")
	switch {
	case c.rest == "":
		return text.New("command-reply.model", "model", cmp.Or(now, "–"), "all", list), nil
	case !c.Manages:
		return text.Text{}, fault.New(fault.Forbidden, text.New("command-reply.not-allowed"))
	}
	wanted, ok := choose(all, c.rest)
	if !ok {
		return text.New("command-reply.model-unknown", "model", c.rest, "all", list), nil
	}
	if err := c.options.SetModel(ctx, c.sessionID, platform, wanted); err != nil {
		return text.Text{}, err
	}
	return text.New("command-reply.model-set", "model", wanted), nil
}

// choose finds a model by its id, or by its name where only one has it. An id that nobody lists is taken
// as it is when it names a provider: servers take models they do not list.
func choose(all []string, word string) (id string, ok bool) {
	if slices.Contains(all, word) {
		return word, true
	}
	var fits []string
	for _, id := range all {
		if _, name, _ := strings.Cut(id, "/"); strings.EqualFold(name, word) || strings.EqualFold(id, word) {
			fits = append(fits, id)
		}
	}
	if len(fits) == 1 {
		return fits[0], true
	}
	provider, name, named := strings.Cut(word, "/")
	known := slices.ContainsFunc(all, func(id string) bool { return strings.HasPrefix(id, provider+"/") })
	return word, named && known && name != ""
}

// status tells how the session stands.
func status(ctx context.Context, c call) (text.Text, error) {
	now, _, err := c.options.Model(ctx, c.sessionID, c.Send.Actor.Platform)
	if err != nil {
		return text.Text{}, err
	}
	usage, err := c.options.Usage(ctx, c.sessionID)
	if err != nil {
		return text.Text{}, err
	}
	var session store.Session
	var head store.Head
	var waiting int
	if err := c.options.Loop.Read(ctx, func(tx *store.ReadTx) error {
		if session, err = tx.Session(c.sessionID); err != nil {
			return err
		}
		if head, err = tx.Head(session.SID); err != nil {
			return err
		}
		queue, err := tx.PendingInputs(session.SID)
		waiting = len(queue)
		return err
	}); err != nil {
		return text.Text{}, fmt.Errorf("reading the session: %w", err)
	}
	turn := text.New("command-reply.idle")
	if head.RunningTurn != "" {
		turn = text.New("command-reply.running")
	}
	percent := 0
	if usage.Window > 0 {
		percent = int(math.Round(100 * float64(usage.Prompt) / float64(usage.Window)))
	}
	folder := c.options.Folder(session.Place)
	if core.IsWindow(session.Place) { // the others there need not know
		folder = "–"
	}
	return text.New(
		"command-reply.status", "model", cmp.Or(now, "–"), "used", usage.Prompt, "window", usage.Window, "percent", percent,
		"in", head.TokensIn+head.SubTokensIn, "out", head.TokensOut+head.SubTokensOut, "turn", turn, "waiting", waiting,
		"tasks", head.OpenBackground, "folder", folder,
	), nil
}
