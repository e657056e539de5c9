// Package title names the owner's sessions that nobody named. It owns the rules of a name: the first
// words stand until the first answer is there, then the model is asked once, and what a person chose is
// never overwritten. It keeps nothing: after a restart a name that was not asked for stays as it is.
// It opens no turn and writes nothing but titles. backend.Run runs it beside the turns.
package title

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
)

const (
	// maxFirst is how many characters of the first message stand as the name; maxTitle bounds the
	// model's.
	maxFirst = 20
	maxTitle = 50
	// askWithin bounds the model's answer.
	askWithin = time.Minute
	// atOnce bounds the questions under way: names can wait.
	atOnce = 2
)

// Ask has the session's model name a conversation by its first exchange; "" for nothing better.
type Ask func(ctx context.Context, sessionID, question, answer string) (string, error)

// Options of Run. Loop and Ask are required.
type Options struct {
	Loop *core.Loop
	Ask  Ask
	Log  *slog.Logger // nil discards
}

// Run names sessions until ctx ends, and returns when no question is under way. An error means that
// the log can no longer be followed.
func Run(ctx context.Context, o Options) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &titler{Options: o, free: make(chan struct{}, atOnce)}
	defer t.asking.Wait()
	cursor := o.Loop.Cursor()
	for {
		entries, err := cursor.Next(ctx)
		if errors.Is(err, core.ErrFellBehind) {
			continue // those that were missed keep the name they have
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("following the log: %w", err)
		}
		for _, e := range entries {
			if e.Fact == nil {
				continue
			}
			if err := t.fact(ctx, e.Fact); err != nil && ctx.Err() == nil {
				t.Log.Warn("a session cannot be named", "session", e.Fact.Session, "error", err)
			}
		}
	}
}

type titler struct {
	Options
	free   chan struct{} // holds one token per question under way
	asking sync.WaitGroup
}

func (t *titler) fact(ctx context.Context, e *event.Event) error {
	switch p := e.Payload.(type) {
	case event.Input:
		if p.State == event.InputOpened {
			return t.set(ctx, e.Session, First(question(p)), "")
		}
	case event.TurnEnd:
		if p.Outcome == event.Replied {
			return t.replied(ctx, e.Session, e.Turn)
		}
	}
	return nil
}

// set names a session whose name is was.
func (t *titler) set(ctx context.Context, session, title, was string) error {
	if title == "" {
		return nil
	}
	_, err := t.Loop.Do(ctx, core.TitleSession{Session: session, Title: title, Was: was})
	if errors.Is(err, store.ErrNotFound) {
		return nil // deleted meanwhile
	}
	return err
}

// replied asks for the name of a session after its first exchange.
func (t *titler) replied(ctx context.Context, session, turn string) error {
	question, answer, err := t.exchange(ctx, session, turn)
	if err != nil || question == "" || answer == "" {
		return err
	}
	t.asking.Go(func() {
		select {
		case t.free <- struct{}{}:
			defer func() { <-t.free }()
		case <-ctx.Done():
			return
		}
		ask, cancel := context.WithTimeout(ctx, askWithin)
		defer cancel()
		words, err := t.Ask(ask, session, question, answer)
		if err == nil {
			err = t.set(ctx, session, Clean(words), First(question))
		}
		if err != nil && ctx.Err() == nil {
			t.Log.Info("a session keeps its first words as its name", "session", session, "error", err)
		}
	})
	return nil
}

// exchange gives what was asked and answered in the turn, if it is the session's first and the session
// still has the name of its first words; empty otherwise.
func (t *titler) exchange(ctx context.Context, session, turn string) (asks, answer string, err error) {
	err = t.Loop.Read(ctx, func(tx *store.ReadTx) error {
		s, err := tx.Session(session)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		row, err := tx.Turn(turn)
		if err != nil {
			return err
		}
		if _, found, err := tx.TurnBefore(row.SID, row.StartedSeq); err != nil || found {
			return err
		}
		asked, err := tx.TurnInputs(row.SID, turn)
		if err != nil || len(asked) == 0 {
			return err
		}
		if in, ok := asked[0].Payload.(event.Input); ok && s.Title == First(question(in)) {
			asks = question(in)
		}
		events, err := tx.TurnEvents(row)
		for _, e := range events {
			if said, ok := e.Payload.(event.Message); ok {
				answer = said.Text
			}
		}
		return err
	})
	return asks, answer, err
}

// question is what was said, or what the first file is called that came without words.
func question(in event.Input) string {
	if in.Text == "" && len(in.Attachments) > 0 {
		return in.Attachments[0].Name
	}
	return in.Text
}

// First gives the name that the first message makes: its first line's first 20 characters.
func First(message string) string {
	for line := range strings.Lines(message) {
		if line = tidy(line); line != "" {
			return cut(line, maxFirst)
		}
	}
	return ""
}

// marks are what models put around a name.
const marks = " \"'`*_“”‘’«»「」『』《》"

// Clean makes a name of a model's words: the first line, without the marks models put around it, of at
// most 50 characters.
func Clean(words string) string {
	for line := range strings.Lines(words) {
		line = strings.TrimLeft(tidy(line), "#->"+marks)
		line = strings.TrimRight(line, ".。"+marks)
		if line != "" {
			return cut(line, maxTitle)
		}
	}
	return ""
}

// tidy makes one line of words: no control characters, no white space but single spaces.
func tidy(words string) string {
	return strings.Join(strings.FieldsFunc(words, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// cut ends a text that is too long with an ellipsis, which counts.
func cut(words string, most int) string {
	runes := []rune(words)
	if len(runes) <= most {
		return words
	}
	return strings.TrimRight(string(runes[:most-1]), " ") + "…"
}
