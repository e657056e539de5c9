package native

import (
	"context"
	"fmt"
	"strings"

	"aalis/backend/engine"
	"aalis/backend/provider"
)

const titlePrompt = `Name the conversation below by what it is about, in the language the person writes: 15 characters at most.
Answer with the name alone: no quotation marks, no full stop, no explanation.`

const (
	// maxQuoted is how much of each side the model reads, in characters.
	maxQuoted = 2000
	// maxTitleAnswer is where a model that does not stop is left, in bytes.
	maxTitleAnswer = 4 << 10
)

// Title asks the session's model. See engine.Titler. The demo engine follows no instructions and is
// not asked.
func (e *Engine) Title(ctx context.Context, t engine.Turn, question, answer string) (string, error) {
	s, err := current(ctx, t)
	if err != nil {
		return "", err
	}
	entry, err := e.models.Lookup(ctx, s.model)
	if err != nil {
		return "", fmt.Errorf("choosing the model: %w", err)
	}
	if entry.Kind == provider.DemoType {
		return "", nil
	}
	said := "The person: " + head(question) + "\n\nThe answer: " + head(answer)
	a, err := complete(ctx, entry, titlePrompt, said, maxTitleAnswer)
	return a.words, err
}

// completion is what a model said to one question, and what that cost as far as its server counted.
type completion struct {
	words string
	usage provider.Usage
}

// complete asks a model one thing, without tools; its thinking is left out. Words beyond most bytes are
// not waited for.
func complete(ctx context.Context, entry provider.Entry, system, said string, most int) (completion, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var words strings.Builder
	var got completion
	req := provider.Request{Model: entry.Name, System: system, Messages: []provider.Message{{Role: provider.RoleUser, Text: said}}}
	for chunk, err := range entry.Model.Stream(ctx, req) {
		if err != nil {
			return got, fmt.Errorf("asking %s: %w", entry.ID, err)
		}
		if chunk.Usage != nil {
			got.usage = *chunk.Usage
		}
		if words.WriteString(chunk.Text); words.Len() > most {
			break
		}
	}
	got.words = words.String()
	return got, nil
}

func head(words string) string {
	runes := []rune(words)
	if len(runes) > maxQuoted {
		return string(runes[:maxQuoted]) + "…"
	}
	return words
}
