// Package demo is the model that is none: deterministic, offline, and open about it. It stands in
// when config.yaml names no provider, so that every part of the program can be tried. It says back
// what it was told and obeys directives, each on a line of its own in the last message of a person:
//
//	run: <command>     write: <path>, body on the following lines     read: <path>
//	think: <words>     slow: <n> pieces, ten a second                 fail: <reason>
//	plan: <a; b; c>     background: <command>
//	subtask: <words; more lines>       wait: <seconds> for the sub-tasks made so far
//
// They are obeyed in order; after each tool call it says what came back. It acts only through the
// tools it is offered, so its calls pass the same approvals and checkpoints as a model's. It keeps
// nothing between calls: where it stands is read from the conversation.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"
	"unicode"

	"aalis/backend/provider"
	"aalis/backend/text"
)

const (
	modelName = "demo"

	pieceRunes = 8                      // of one streamed piece
	maxPieces  = 200                    // of one text; longer ones are streamed in larger pieces
	pieceDelay = 10 * time.Millisecond  // between pieces
	slowDelay  = 100 * time.Millisecond // between the pieces of slow
	maxSlow    = 10_000
)

// Kind is the type "demo" of config.yaml.
func Kind() provider.Kind {
	return provider.Kind{Open: func(s provider.Settings) provider.Source { return source{id: s.ID} }}
}

type source struct{ id string }

// Model gives the demo engine under any name.
func (s source) Model(string) provider.Model { return model(s) }

// ListModels names the one there is.
func (s source) ListModels(context.Context) ([]provider.ModelConfig, error) {
	return []provider.ModelConfig{{Name: modelName}}, nil
}

// Thinking says that the demo can be asked to think, which it does aloud and in one sentence.
func (s source) Thinking(string) []string {
	return []string{provider.ThinkNone, provider.ThinkLow, provider.ThinkHigh}
}

type model struct{ id string }

// Stream answers. It reports no usage, since it counts no tokens.
func (m model) Stream(ctx context.Context, req provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		s := &speaker{yield: yield, err: ctx.Err()}
		finish, err := m.answer(ctx, s, req)
		switch {
		case s.left:
		case s.err != nil:
			yield(provider.Chunk{}, s.err)
		case err != nil:
			yield(provider.Chunk{}, err)
		default:
			yield(provider.Chunk{Finish: finish}, nil)
		}
	}
}

// answer goes on from where the conversation stands: behind the directive whose result came last.
func (m model) answer(ctx context.Context, s *speaker, req provider.Request) (provider.FinishReason, error) {
	words, results := lastTurn(req.Messages)
	if s.over() {
		return "", nil
	}
	lang := language(words)
	say := func(key text.Key, args ...any) { s.text(ctx, text.New(key, args...).In(lang)) }
	todo := directives(words)
	if said, told := news(req.Messages); told && allCalled(todo, req.Tools, results) {
		say("demo.told", "words", fence(said))
		return provider.FinishStop, nil
	}
	if req.Thinking != "" && req.Thinking != provider.ThinkNone && len(results) == 0 {
		s.think(ctx, text.New("demo.thinks", "how", req.Thinking).In(lang))
	}
	switch {
	case strings.TrimSpace(words) == "":
		say("demo.empty")
		return provider.FinishStop, nil
	case len(todo) == 0:
		say("demo.hello", "words", quote(words))
		say("demo.how")
		return provider.FinishStop, nil
	}
	called := 0
	for _, d := range todo {
		if s.over() {
			return "", nil
		}
		name, args := d.call()
		if w, ok := args.(wait); ok {
			args = w.made(results)
		}
		offered := offers(req.Tools, name)
		if offered && called < len(results) {
			called++
			if called == len(results) {
				m.came(say, d, results[called-1])
			}
			continue
		}
		if called < len(results) {
			continue // said before the call that has come back
		}
		switch {
		case d.words == "":
			say("demo.bad-empty", "what", d.line())
		case name != "" && !offered:
			say("demo.no-tool", "what", d.line(), "tool", name)
		case name != "":
			s.call(ctx, name, args)
			return provider.FinishToolCalls, nil
		case d.verb == "fail":
			return "", &provider.Error{Code: provider.ErrServer, Provider: m.id, Message: text.New("demo.fail", "words", d.words), Raw: d.words}
		default:
			m.speak(ctx, s, say, d)
		}
	}
	say("demo.done")
	return provider.FinishStop, nil
}

func (m model) came(say func(text.Key, ...any), d directive, result string) {
	if strings.TrimSpace(result) == "" {
		say("demo.result-none", "what", d.line())
		return
	}
	say("demo.result", "what", d.line(), "words", fence(result))
}

func (m model) speak(ctx context.Context, s *speaker, say func(text.Key, ...any), d directive) {
	switch d.verb {
	case "think":
		s.think(ctx, d.words)
	case "slow":
		n, err := strconv.Atoi(d.words)
		if err != nil || n < 1 || n > maxSlow {
			say("demo.bad-number", "what", d.line(), "max", maxSlow)
			return
		}
		for i := range n {
			s.piece(ctx, provider.Chunk{Text: fmt.Sprintf("%d ", i+1)}, slowDelay)
		}
		s.piece(ctx, provider.Chunk{Text: "\n\n"}, 0)
	default:
		say("demo.later", "what", d.line())
	}
}

// lastTurn gives the last words of a person and the results of the tools called since.
func lastTurn(messages []provider.Message) (words string, results []string) {
	at := len(messages) - 1
	for at >= 0 && (messages[at].Role != provider.RoleUser || messages[at].Notice) {
		at--
	}
	if at < 0 {
		return "", nil
	}
	for _, m := range messages[at:] {
		if m.Role == provider.RoleTool {
			results = append(results, m.Text)
		}
	}
	return messages[at].Text, results
}

// news is what the program itself said last, if that was after an answer: nothing is under way then.
func news(messages []provider.Message) (said string, told bool) {
	at := len(messages)
	for at > 0 && messages[at-1].Notice {
		at--
		said = messages[at].Text + "\n" + said
	}
	return said, at > 0 && at < len(messages) && messages[at-1].Role == provider.RoleAssistant
}

// allCalled reports whether every tool that was asked for has been called.
func allCalled(todo []directive, tools []provider.ToolSpec, results []string) bool {
	asked := 0
	for _, d := range todo {
		if name, _ := d.call(); offers(tools, name) {
			asked++
		}
	}
	return asked <= len(results)
}

func offers(tools []provider.ToolSpec, name string) bool {
	for _, t := range tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// language answers in Chinese whoever writes Chinese characters, else in English.
func language(words string) text.Language {
	for _, r := range words {
		if unicode.Is(unicode.Han, r) {
			return text.Chinese
		}
	}
	return text.English
}

func quote(words string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(words), "\n", "\n> ")
}

// fence shows a tool's words line by line, as they are: between more backticks than they hold.
func fence(words string) string {
	marks := "```"
	for strings.Contains(words, marks) {
		marks += "`"
	}
	return marks + "\n" + strings.TrimSpace(words) + "\n" + marks
}

// speaker streams pieces at the demo's pace.
type speaker struct {
	yield func(provider.Chunk, error) bool
	left  bool  // the caller has left its loop
	err   error // ctx's error
}

func (s *speaker) over() bool { return s.left || s.err != nil }

// piece gives out one chunk and then waits.
func (s *speaker) piece(ctx context.Context, c provider.Chunk, delay time.Duration) {
	if s.over() {
		return
	}
	if s.err = ctx.Err(); s.err != nil {
		return
	}
	if !s.yield(c, nil) {
		s.left = true
		return
	}
	if delay == 0 {
		return
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		s.err = ctx.Err()
	}
}

func (s *speaker) text(ctx context.Context, words string) {
	for piece := range pieces(words) {
		s.piece(ctx, provider.Chunk{Text: piece}, pieceDelay)
	}
}

func (s *speaker) think(ctx context.Context, words string) {
	for piece := range pieces(words) {
		s.piece(ctx, provider.Chunk{Reasoning: piece}, pieceDelay)
	}
}

// call streams a tool call, its arguments in pieces, as a model does.
func (s *speaker) call(ctx context.Context, name string, args any) {
	raw, _ := json.Marshal(args) // strings always encode
	s.piece(ctx, provider.Chunk{Call: &provider.CallDelta{Name: name}}, pieceDelay)
	for piece := range pieces(string(raw)) {
		s.piece(ctx, provider.Chunk{Call: &provider.CallDelta{Args: piece}}, pieceDelay)
	}
}

func pieces(words string) iter.Seq[string] {
	return func(yield func(string) bool) {
		r := []rune(words)
		size := max(pieceRunes, (len(r)+maxPieces-1)/maxPieces)
		for len(r) > 0 {
			n := min(size, len(r))
			if !yield(string(r[:n])) {
				return
			}
			r = r[n:]
		}
	}
}
