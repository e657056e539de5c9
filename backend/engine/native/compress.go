package native

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"aalis/backend/engine"
	"aalis/backend/provider"
	"aalis/backend/text"
)

// How a conversation is shortened.
const (
	// DefaultCompressAt is the share of the context window, in percent, at which a conversation is
	// shortened by itself when nothing is set. Spec domain 6.
	DefaultCompressAt = 70
	// keepRecent is how many of the newest messages stay. Spec domain 6.
	keepRecent = 20
	// keepShare is the share of the window that they may fill: the newest one stays whatever it fills.
	keepShare = 0.25
	// summaryShare is the share of the window that a summary may fill; it has minSummary tokens at least
	// and maxSummary at most. Spec domain 6.
	summaryShare = 0.05
	minSummary   = 512
	maxSummary   = 8000
	// minGain is how much must go, in tokens; by itself, minShare of the window: what grows slowly behind
	// instructions that alone exceed the line must not be shortened at every turn (FAIL-F1).
	minGain  = 200
	minShare = 0.05
	// readShare is the share of the window that the conversation may fill in front of who shortens it.
	readShare = 0.6
	// maxRequest bounds what is quoted of the request under way, in characters.
	maxRequest = 4000
)

//go:embed compress.md
var compressText string

var compressPrompt = template.Must(template.New("compress.md").Option("missingkey=error").Parse(compressText))

var _ engine.Compressor = (*Engine)(nil)

// Keep decides what stays. See engine.Compressor.
func (e *Engine) Keep(ctx context.Context, t engine.Turn, said []engine.Entry) (keep int, ok bool, err error) {
	p, err := e.prepare(ctx, t)
	if err != nil {
		return 0, false, failure(ctx, err, 0)
	}
	window := float64(p.entry.ContextWindow)
	cut := cut(said, int(window*keepShare))
	least := minGain
	if t.TurnID != "" {
		least = max(least, int(window*minShare))
	}
	gone := said[:cut]
	if len(gone) > 0 && gone[0].Kind == engine.EntrySummary { // to be written again, not gained
		gone = gone[1:]
	}
	return len(said) - cut, size(gone) >= least, nil
}

// cut gives the index of the first entry that stays: the newest messages, as many as fit into a number
// of tokens, and everything from a call on that still runs. What came of one call of the model is one
// message and is not torn apart.
func cut(said []engine.Entry, most int) int {
	cut, messages, sum := len(said), 0, 0
	for i := len(said) - 1; i >= 0; i-- {
		if said[i].Kind == engine.EntrySummary {
			break
		}
		sum += entrySize(said[i])
		if !begins(said, i) {
			continue
		}
		if messages > 0 && (messages == keepRecent || sum > most) {
			break
		}
		cut = i
		messages++
	}
	for i := range cut {
		if said[i].Kind == engine.EntryTool && said[i].Status == "" {
			for cut = i; !begins(said, cut); cut-- {
			}
			break
		}
	}
	return cut
}

// begins reports whether an entry is the first of a message.
func begins(said []engine.Entry, i int) bool {
	switch said[i].Kind {
	case engine.EntryAgent, engine.EntryReasoning, engine.EntryTool:
		return i == 0 || said[i-1].TurnID != said[i].TurnID || said[i-1].Step != said[i].Step
	}
	return true
}

// size estimates the tokens of entries.
func size(said []engine.Entry) int {
	sum := 0
	for _, e := range said {
		sum += entrySize(e)
	}
	return sum
}

func entrySize(e engine.Entry) int {
	if e.Kind == engine.EntryReasoning {
		return 0 // thinking is not sent back
	}
	sum := tokens(utf8.RuneCountInString(e.Text) + utf8.RuneCountInString(e.Tool) + utf8.RuneCount(e.Args) + utf8.RuneCountInString(e.Result))
	for _, f := range e.Files {
		if f.Kind == "file" && f.Size <= maxTextFile {
			sum += tokens(int(f.Size))
		}
	}
	return sum + images(e)*imageTokens
}

// images is how many images go with an entry.
func images(e engine.Entry) (n int) {
	for _, f := range e.Files {
		if f.Kind == "image" {
			n++
		}
	}
	return n
}

// Summarize has the session's model write the summary. See engine.Compressor. The demo engine follows
// no instructions: it gives the people's words in short.
func (e *Engine) Summarize(ctx context.Context, t engine.Turn, gone, kept []engine.Entry, facts engine.Facts) (engine.Summary, error) {
	p, err := e.prepare(ctx, t)
	if err != nil {
		return engine.Summary{}, failure(ctx, err, 0)
	}
	budget := min(max(minSummary, int(float64(p.entry.ContextWindow)*summaryShare)), maxSummary)
	s := engine.Summary{Model: p.entry.ID}
	var words string
	if p.entry.Kind == provider.DemoType {
		words, s.Model = digest(gone, budget), ""
	} else {
		var system strings.Builder
		if err := compressPrompt.Execute(&system, map[string]any{"Words": budget * 3 / 4}); err != nil {
			return s, fmt.Errorf("rendering prompt: %w", err)
		}
		began := time.Now()
		read := transcript(gone, int(float64(p.entry.ContextWindow)*readShare))
		a, err := complete(ctx, p.entry, system.String(), read, 8*budget)
		if err != nil {
			return s, failure(ctx, err, time.Since(began))
		}
		words, s.Prompt, s.Completion = a.words, a.usage.Prompt, a.usage.Completion
	}
	words = strings.TrimSpace(words)
	if words == "" {
		return s, &engine.Failure{Code: "no_summary", Message: text.New("compress.empty", "model", p.entry.Name), Provider: p.entry.Provider}
	}
	s.Text = words + sections(gone, kept, facts)
	return s, nil
}

// sections are what no author of a summary may lose (FAIL-F3).
func sections(gone, kept []engine.Entry, facts engine.Facts) string {
	var out strings.Builder
	part := func(title string, lines []string) {
		if len(lines) > 0 {
			out.WriteString("\n\n" + title + ":\n- " + strings.Join(lines, "\n- "))
		}
	}
	if asked := request(gone, kept); asked != "" {
		out.WriteString("\n\nThe request under way, word for word:\n" + clip(asked, maxRequest))
	}
	part("The plan as it stands", facts.Plan)
	part("Waiting for the owner's approval", facts.Open)
	part("Calls that failed", facts.Failed)
	part("Files that were changed", facts.Files)
	return out.String()
}

// request gives the last words of a person, unless they stay anyway.
func request(gone, kept []engine.Entry) string {
	for _, e := range kept {
		if e.Kind == engine.EntryUser {
			return ""
		}
	}
	for i := len(gone) - 1; i >= 0; i-- {
		if gone[i].Kind == engine.EntryUser {
			return gone[i].Text
		}
	}
	return ""
}

// digest stands in for a model's summary: what people said, the newest words first to stay.
func digest(gone []engine.Entry, budget int) string {
	var lines []string
	room := budget
	for i := len(gone) - 1; i >= 0 && room > 0; i-- {
		switch e := gone[i]; e.Kind {
		case engine.EntryUser:
			lines = append(lines, "- "+clip(strings.Join(strings.Fields(e.Text), " "), 200))
		case engine.EntrySummary:
			lines = append(lines, clip(e.Text, 4*room))
		default:
			continue
		}
		room -= tokens(utf8.RuneCountInString(lines[len(lines)-1]))
	}
	if len(lines) == 0 {
		return ""
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return "What was said before:\n" + strings.Join(lines, "\n")
}

// transcript writes a conversation out for who shortens it, in a number of tokens: long texts are cut
// in the middle, shorter and shorter, and then the oldest entries are left out.
func transcript(said []engine.Entry, most int) string {
	var all []string
	for _, limit := range []int{8000, 2000, 500, 120} {
		all = all[:0]
		sum := 0
		for _, e := range said {
			if line := line(e, limit); line != "" {
				all = append(all, line)
				sum += tokens(utf8.RuneCountInString(line))
			}
		}
		if sum <= most {
			return strings.Join(all, "\n\n")
		}
	}
	from, sum := len(all), 0
	for from > 0 && sum <= most {
		from--
		sum += tokens(utf8.RuneCountInString(all[from]))
	}
	if from > 0 {
		all[from] = fmt.Sprintf("[%d earlier entries are left out]", from)
	}
	return strings.Join(all[from:], "\n\n")
}

func line(e engine.Entry, limit int) string {
	switch e.Kind {
	case engine.EntryUser:
		who := "A person"
		if e.Speaker != "" {
			who = oneLine(e.Speaker)
		}
		words := who + ": " + clip(e.Text, limit)
		for _, f := range e.Files {
			words += fmt.Sprintf("\n[attached %s %q, %d bytes]", f.Kind, f.Name, f.Size)
		}
		return words
	case engine.EntryAgent:
		return "Assistant: " + clip(e.Text, limit)
	case engine.EntryNotice:
		return "The program: " + clip(e.Text, limit)
	case engine.EntrySummary:
		return "Summary of what was said before:\n" + clip(e.Text, 8*limit)
	case engine.EntryTool:
		return fmt.Sprintf("Assistant called %s(%s)\nResult (%s): %s", e.Tool, clip(string(e.Args), limit), e.Status, clip(e.Result, limit))
	}
	return ""
}

// clip cuts the middle out of long words, so that their end stays: of an output it tells most.
func clip(s string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	head := limit * 2 / 3
	return string(runes[:head]) + "\n[…]\n" + string(runes[len(runes)-(limit-head):])
}

// makeRoom shortens the conversation when the next call would pass the line. One attempt is enough until
// it has fallen below the line again: what an attempt could not shorten, the next cannot either.
func (r *run) makeRoom(ctx context.Context) error {
	past := r.set.line > 0 && float64(r.projected()) >= r.set.line*float64(r.entry.ContextWindow)
	shortened, err := r.host.Compress(ctx, past && !r.tried)
	if err != nil {
		return fmt.Errorf("compressing: %w", err)
	}
	r.tried = past
	if !shortened {
		return nil
	}
	return r.reread(ctx)
}

// squeeze shortens a conversation that the model has refused for its length, once in a turn.
func (r *run) squeeze(ctx context.Context, refused error) (again bool, err error) {
	f, ok := errors.AsType[*engine.Failure](refused)
	if !ok || f.Code != string(provider.ErrOverflow) {
		return false, refused
	}
	if r.set.line == 0 {
		f.Message = text.New("turn.overflow-off", "model", r.entry.Name)
		return false, f
	}
	if r.squeezed {
		f.Message = text.New("turn.overflow-still", "model", r.entry.Name)
		return false, f
	}
	r.squeezed = true
	shortened, err := r.host.Compress(ctx, true)
	if err != nil {
		return false, fmt.Errorf("compressing: %w", err)
	}
	if !shortened {
		f.Message = text.New("turn.overflow-still", "model", r.entry.Name)
		return false, f
	}
	return true, r.reread(ctx)
}

// reread takes the conversation as it is now.
func (r *run) reread(ctx context.Context) error {
	history, err := r.host.History(ctx)
	if err != nil {
		return fmt.Errorf("reading history: %w", err)
	}
	r.said, r.known, r.knownLen = history, 0, 0
	if r.turn.Continue {
		r.said = append(r.said, engine.Entry{Kind: engine.EntryNotice, TurnID: r.turn.TurnID, Text: continueWords})
	}
	return nil
}

// projected is what the next call will send, in tokens: what a server counted last and what has come
// since, or an estimate of all where that is more.
func (r *run) projected() int {
	req, _ := r.request(r.said, false) // images are counted, not read
	all := estimated(r.engine.weigh(r.set, req))
	for _, e := range r.said {
		all += images(e) * imageTokens
	}
	if r.known == 0 {
		return all
	}
	return max(all, r.known+size(r.said[min(r.knownLen, len(r.said)):]))
}
