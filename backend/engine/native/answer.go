package native

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"aalis/backend/provider"
	"aalis/backend/text"
)

const (
	// maxAnswer bounds one answer in bytes, thinking and arguments included: a model that does not
	// stop must not fill the memory.
	maxAnswer = 16 << 20
	// maxCalls bounds the tool calls of one answer.
	maxCalls = 64
)

// answer is what one model call says, while it says it.
type answer struct {
	run  *run
	step int

	begun     bool         // a chunk has come: the call must not be repeated
	atFirst   func() error // called when it comes; nil does nothing
	messageID string
	text      strings.Builder
	thoughtID string // the open reasoning, "" when none is open
	thinking  strings.Builder
	thought   strings.Builder // all thinking of the answer
	calls     []*proposed
	size      int
	usage     *provider.Usage
	finish    provider.FinishReason
	took      time.Duration
}

// proposed is a tool call whose arguments arrive.
type proposed struct {
	id   string
	name string
	args strings.Builder
}

// take streams the answer to the host. After an error what is open stays open: package turn ends it
// with the turn.
func (a *answer) take(ctx context.Context, req provider.Request) error {
	start := time.Now()
	defer func() { a.took = time.Since(start) }()
	for chunk, err := range a.run.entry.Model.Stream(ctx, req) {
		if err != nil {
			return err
		}
		if !a.begun && a.atFirst != nil {
			if err := a.atFirst(); err != nil {
				return err
			}
		}
		a.begun = true
		if err := a.chunk(ctx, chunk); err != nil {
			return err
		}
		if a.size > maxAnswer {
			return a.run.failed(a, "answer_too_long", text.New("turn.answer-too-long", "model", a.run.entry.Name, "max", maxAnswer))
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return a.endThought(ctx)
}

func (a *answer) chunk(ctx context.Context, c provider.Chunk) error {
	switch {
	case c.Text != "":
		return a.say(ctx, c.Text)
	case c.Reasoning != "":
		return a.think(ctx, c.Reasoning)
	case c.Call != nil:
		return a.propose(ctx, *c.Call)
	case c.Usage != nil:
		a.usage = c.Usage
	case c.Finish != "":
		a.finish = c.Finish
	}
	return nil
}

// say streams a piece of the message. White space before the first word is dropped: models put it
// between their thinking and a tool call, and it would be a message that says nothing.
func (a *answer) say(ctx context.Context, piece string) error {
	if a.messageID == "" {
		piece = strings.TrimLeftFunc(piece, unicode.IsSpace)
		if piece == "" {
			return nil
		}
		if err := a.endThought(ctx); err != nil {
			return err
		}
		id, err := a.run.host.StartMessage(ctx, a.step)
		if err != nil {
			return fmt.Errorf("starting message: %w", err)
		}
		a.messageID = id
	}
	a.text.WriteString(piece)
	a.size += len(piece)
	return a.run.host.Text(a.messageID, piece)
}

func (a *answer) think(ctx context.Context, piece string) error {
	if a.thoughtID == "" {
		piece = strings.TrimLeftFunc(piece, unicode.IsSpace)
		if piece == "" {
			return nil
		}
		id, err := a.run.host.StartReasoning(ctx, a.step)
		if err != nil {
			return fmt.Errorf("starting reasoning: %w", err)
		}
		a.thoughtID = id
	}
	a.thinking.WriteString(piece)
	a.thought.WriteString(piece)
	a.size += len(piece)
	return a.run.host.Text(a.thoughtID, piece)
}

func (a *answer) endThought(ctx context.Context) error {
	if a.thoughtID == "" {
		return nil
	}
	id := a.thoughtID
	a.thoughtID = ""
	defer a.thinking.Reset()
	if err := a.run.host.EndReasoning(ctx, id, a.thinking.String()); err != nil {
		return fmt.Errorf("completing reasoning: %w", err)
	}
	return nil
}

// propose shows the card as soon as the tool's name is known. Spec SP-TOOL-05.
func (a *answer) propose(ctx context.Context, d provider.CallDelta) error {
	if d.Index == len(a.calls) {
		if len(a.calls) == maxCalls {
			return a.run.failed(a, "too_many_calls", text.New("turn.too-many-calls", "model", a.run.entry.Name, "max", maxCalls))
		}
		if err := a.endThought(ctx); err != nil {
			return err
		}
		id, err := a.run.host.ProposeTool(ctx, d.Name)
		if err != nil {
			return fmt.Errorf("proposing tool call: %w", err)
		}
		a.calls = append(a.calls, &proposed{id: id, name: d.Name})
	}
	if d.Index < 0 || d.Index >= len(a.calls) {
		return fmt.Errorf("the model's call %d follows only %d", d.Index, len(a.calls))
	}
	a.calls[d.Index].args.WriteString(d.Args)
	a.size += len(d.Args)
	return nil
}

// estimate gives the answer's tokens at four characters each.
func (a *answer) estimate() int {
	n := utf8.RuneCountInString(a.text.String()) + utf8.RuneCountInString(a.thought.String())
	for _, c := range a.calls {
		n += utf8.RuneCountInString(c.name) + utf8.RuneCountInString(c.args.String())
	}
	return tokens(n)
}
