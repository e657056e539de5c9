package scripted

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"aalis/backend/provider"
	"aalis/backend/text"
)

// Parse reads a script. An error names the line, what is wrong with it and what would be right.
func Parse(script string) ([]Call, error) {
	p := parser{}
	n := 0
	for line := range strings.Lines(script) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("script line %d: %w", n, err)
		}
	}
	p.close()
	return p.calls, nil
}

// MustParse is Parse for tests; it panics on a mistake in the script.
func MustParse(script string) []Call {
	calls, err := Parse(script)
	if err != nil {
		panic(err)
	}
	return calls
}

type parser struct {
	calls []Call
	open  *Call
	tools int             // calls in the open block
	usage *provider.Usage // told at the end
	ended bool            // the block has its finish or error
}

func (p *parser) line(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	if verb == "call" {
		return p.begin(strings.TrimSpace(rest))
	}
	if p.open == nil {
		return fmt.Errorf("%q stands before the first \"call\"", verb)
	}
	if p.ended {
		return fmt.Errorf("%q stands after the end of its block; begin another with \"call\"", verb)
	}
	switch verb {
	case "text", "reasoning", "args":
		words, err := unquote(rest)
		if err != nil {
			return err
		}
		return p.piece(verb, words)
	case "tool":
		name, args, _ := strings.Cut(rest, " ")
		if name == "" {
			return fmt.Errorf("tool needs a name")
		}
		p.add(Step{Chunk: provider.Chunk{Call: &provider.CallDelta{Index: p.tools, Name: name, Args: args}}})
		p.tools++
	case "usage":
		u := provider.Usage{}
		if _, err := fmt.Sscanf(rest, "%d %d", &u.Prompt, &u.Completion); err != nil {
			return fmt.Errorf("usage wants two numbers, not %q", rest)
		}
		p.usage = &u
	case "finish":
		return p.finish(provider.FinishReason(rest))
	case "error":
		return p.fail(rest)
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil || d <= 0 {
			return fmt.Errorf("wait wants a duration like 300ms, not %q", rest)
		}
		p.add(Step{Wait: d})
	case "gate":
		if rest == "" {
			return fmt.Errorf("gate needs a name")
		}
		p.add(Step{Gate: rest})
	case "hang":
		p.add(Step{Hang: true})
		p.ended = true
	default:
		return fmt.Errorf("%q is unknown; known are call, text, reasoning, tool, args, usage, finish, error, wait, gate, hang", verb)
	}
	return nil
}

func (p *parser) begin(rest string) error {
	p.close()
	p.open = &Call{}
	if rest == "" {
		return nil
	}
	when, ok := strings.CutPrefix(rest, "when=")
	if !ok {
		return fmt.Errorf("call takes when=WORDS, not %q", rest)
	}
	words, err := unquote(when)
	p.open.When = words
	return err
}

func (p *parser) piece(verb, words string) error {
	switch {
	case words == "":
		return fmt.Errorf("%s needs words", verb)
	case verb == "text":
		p.add(Step{Chunk: provider.Chunk{Text: words}})
	case verb == "reasoning":
		p.add(Step{Chunk: provider.Chunk{Reasoning: words}})
	case p.tools == 0:
		return fmt.Errorf("args stands before a tool")
	default:
		p.add(Step{Chunk: provider.Chunk{Call: &provider.CallDelta{Index: p.tools - 1, Args: words}}})
	}
	return nil
}

func (p *parser) finish(reason provider.FinishReason) error {
	known := []provider.FinishReason{provider.FinishStop, provider.FinishToolCalls, provider.FinishLength, provider.FinishFilter}
	if !slices.Contains(known, reason) {
		return fmt.Errorf("finish %q is unknown; known are %v", reason, known)
	}
	if p.usage != nil {
		p.add(Step{Chunk: provider.Chunk{Usage: p.usage}})
	}
	p.add(Step{Chunk: provider.Chunk{Finish: reason}})
	p.ended = true
	return nil
}

func (p *parser) fail(rest string) error {
	code, rest, _ := strings.Cut(rest, " ")
	known := []provider.ErrorCode{
		provider.ErrUnreachable, provider.ErrTimeout, provider.ErrAuth, provider.ErrNotFound,
		provider.ErrRateLimit, provider.ErrOverflow, provider.ErrRefused, provider.ErrServer, provider.ErrGarbage,
	}
	e := &provider.Error{Code: provider.ErrorCode(code), Provider: "scripted"}
	if !slices.Contains(known, e.Code) {
		return fmt.Errorf("error %q is unknown; known are %v", code, known)
	}
	for rest != "" {
		option, after, _ := strings.Cut(rest, " ")
		key, value, _ := strings.Cut(option, "=")
		var err error
		switch key {
		case "status":
			e.Status, err = strconv.Atoi(value)
		case "after":
			e.RetryAfter, err = time.ParseDuration(value)
		case "retryable":
			e.Retryable = true
		default:
			e.Raw, after = rest, ""
		}
		if err != nil {
			return fmt.Errorf("%s=%q is not valid; write status=429 or after=2s", key, value)
		}
		rest = after
	}
	e.Message = text.Plain(e.Raw)
	if e.Raw == "" {
		e.Message = text.Plain(code)
	}
	p.add(Step{Err: e})
	p.ended = true
	return nil
}

func (p *parser) add(s Step) { p.open.Steps = append(p.open.Steps, s) }

// close ends the open block, with the finish its steps imply if it has none.
func (p *parser) close() {
	if p.open == nil {
		return
	}
	if !p.ended {
		reason := provider.FinishStop
		if p.tools > 0 {
			reason = provider.FinishToolCalls
		}
		_ = p.finish(reason) // both reasons are known
	}
	p.calls = append(p.calls, *p.open)
	*p = parser{calls: p.calls}
}

func unquote(s string) (string, error) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	words, err := strconv.Unquote(s)
	if err != nil {
		return "", fmt.Errorf("%s is not a quoted Go string", s)
	}
	return words, nil
}
