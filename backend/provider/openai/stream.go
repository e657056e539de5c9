package openai

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"aalis/backend/provider"
)

const (
	// afterFinish is how long the usage chunk may take once the server has said why it stopped; the
	// answer is whole by then, and a server that keeps the connection open costs only this.
	afterFinish = 2 * time.Second
	// afterDone is how long the end of the body may take; read to its end, the connection is used again.
	afterDone = 50 * time.Millisecond
	// maxErrorBody bounds what is read of an error's body, in bytes.
	maxErrorBody = 64 << 10
)

var errSilent = errors.New("the server has been silent for too long")

// Stream runs one request. See provider.Model.
func (m *model) Stream(ctx context.Context, req provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		name := m.name
		if req.Model != "" {
			name = req.Model
		}
		a := &answer{source: m.source, model: name, yield: yield}
		if err := a.run(ctx, req); err != nil && !errors.Is(err, errBroken) {
			yield(provider.Chunk{}, err)
		}
	}
}

// errBroken means that the caller left its loop; it must not be yielded to again.
var errBroken = errors.New("the caller left the loop")

// answer is one running call of a model.
type answer struct {
	source *Source
	model  string
	yield  func(provider.Chunk, error) bool
	gave   bool // a chunk was given out, so the call must not be repeated
	opened bool // the server has answered
	dec    decoder
	watch  *watch
}

func (a *answer) run(ctx context.Context, req provider.Request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.watch = &watch{limit: a.source.settings.IdleTimeout, cancel: func() { cancel(errSilent) }}
	err := a.exchange(ctx, inner, req)
	known, isKnown := errors.AsType[*provider.Error](err)
	switch {
	case err == nil, errors.Is(err, errBroken):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case isKnown:
		return known
	case errors.Is(context.Cause(inner), errSilent):
		return a.silent()
	}
	return a.broken(err)
}

// exchange has the caller's context for what it gives out and an inner one, which the watch cancels
// too, for the connection.
func (a *answer) exchange(ctx, inner context.Context, req provider.Request) error {
	resp, err := a.open(inner, req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	a.opened = true
	body := bufio.NewReaderSize(a.watch.reader(resp.Body), 16<<10)
	first, err := firstByte(body)
	if err != nil {
		return err
	}
	switch {
	case first == '<' || strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"):
		return a.webPage(resp.StatusCode)
	case first == '{' || first == '[':
		err = a.whole(ctx, body)
	default:
		err = a.events(ctx, body)
	}
	if err != nil {
		return err
	}
	a.watch.limit = afterDone
	_, _ = io.CopyN(io.Discard, body, 4<<10)
	return nil
}

// open posts the request until the endpoint takes its form; each departure is tried once.
func (a *answer) open(ctx context.Context, req provider.Request) (*http.Response, error) {
	for {
		quirks := a.source.quirksOf(a.model)
		body, err := encode(a.model, req, quirks)
		if err != nil {
			return nil, err
		}
		a.watch.start()
		resp, err := a.source.post(ctx, body)
		a.watch.stop()
		if err != nil {
			return nil, err
		}
		if resp.StatusCode >= 200 && resp.StatusCode < 300 {
			return resp, nil
		}
		raw, _ := io.ReadAll(io.LimitReader(a.watch.reader(resp.Body), maxErrorBody))
		resp.Body.Close()
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		fix := remedy(resp.StatusCode, raw, quirks, req.Thinking != "")
		if fix == 0 {
			return nil, a.refusal(resp.StatusCode, resp.Header, raw)
		}
		a.source.learn(a.model, fix)
	}
}

// remedy gives the one departure that a refusal asks for and that has not been tried yet. asked says
// that the request named a reasoning_effort.
func remedy(status int, raw []byte, tried quirk, asked bool) quirk {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return 0
	}
	body := bytes.ToLower(raw)
	says := func(words string) bool { return bytes.Contains(body, []byte(words)) }
	switch {
	case tried&noStreamOptions == 0 && (says("stream_options") || says("include_usage")):
		return noStreamOptions
	case tried&maxCompletionTokens == 0 && says("max_completion_tokens"):
		return maxCompletionTokens
	case tried&noEffort == 0 && asked && (says("reasoning_effort") || says("reasoning effort")):
		return noEffort
	case tried&noReasoning == 0 && tried&(saysReasoning|saysReasoningContent) != 0 && says("reasoning"):
		return noReasoning
	}
	return 0
}

// events reads the stream up to its end. It succeeds only when the server has said that the answer
// is whole, by a finish reason or [DONE].
func (a *answer) events(ctx context.Context, body *bufio.Reader) error {
	in := &sse{in: body}
	for seen := false; !a.dec.done; seen = true {
		ev, err := in.next()
		if err != nil {
			if !seen && errors.Is(err, io.EOF) {
				return a.garbage(nil) // an answer to its end, and no event in it
			}
			if a.dec.complete() && !errors.Is(err, errTooLong) {
				break
			}
			return a.readError(err)
		}
		if err := a.event(ctx, ev); err != nil {
			return err
		}
		if a.dec.finish != "" {
			a.watch.limit = min(a.watch.limit, afterFinish)
		}
	}
	return a.give(ctx, a.dec.end())
}

// whole reads an answer of an endpoint that does not stream.
func (a *answer) whole(ctx context.Context, body io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(body, maxEventBytes+1))
	if err != nil {
		return err
	}
	if len(raw) > maxEventBytes {
		return a.tooLong()
	}
	if err := a.event(ctx, event{data: string(raw)}); err != nil {
		return err
	}
	if !a.dec.complete() {
		return a.garbage(raw)
	}
	return a.give(ctx, a.dec.end())
}

func (a *answer) event(ctx context.Context, ev event) error {
	chunks, err := a.dec.event(ev)
	if gaveErr := a.give(ctx, chunks); gaveErr != nil {
		return gaveErr
	}
	if a.dec.says != 0 {
		a.source.learn(a.model, a.dec.says)
		a.dec.says = 0
	}
	var inStream *serverError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &inStream):
		return a.refusal(0, nil, inStream.body)
	case errors.Is(err, errNotProtocol):
		return a.garbage([]byte(ev.data))
	}
	return err
}

func (a *answer) give(ctx context.Context, chunks []provider.Chunk) error {
	for _, c := range chunks {
		if err := ctx.Err(); err != nil {
			return err // also between chunks that have long arrived
		}
		a.gave = true
		if !a.yield(c, nil) {
			return errBroken
		}
	}
	return nil
}

func (a *answer) readError(err error) error {
	if errors.Is(err, errTooLong) {
		return a.tooLong()
	}
	return err
}

// firstByte looks at the first byte that is no white space and no byte order mark, and leaves it in
// body.
func firstByte(body *bufio.Reader) (byte, error) {
	for {
		b, err := body.Peek(1)
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n\xEF\xBB\xBF", rune(b[0])) && b[0] < 0x80 {
			return b[0], nil
		}
		_, _ = body.Discard(1)
	}
}

// watch cancels the call when the server is silent for limit. It runs only while the server is
// waited for, so a slow caller is not taken for a silent server. It belongs to one goroutine.
type watch struct {
	limit  time.Duration
	cancel func()
	timer  *time.Timer
}

func (w *watch) start() {
	if w.timer == nil {
		w.timer = time.AfterFunc(w.limit, w.cancel)
		return
	}
	w.timer.Reset(w.limit)
}

func (w *watch) stop() { w.timer.Stop() }

func (w *watch) reader(r io.Reader) io.Reader { return &watched{watch: w, in: r} }

type watched struct {
	watch *watch
	in    io.Reader
}

// Read watches one read.
func (r *watched) Read(p []byte) (int, error) {
	r.watch.start()
	defer r.watch.stop()
	return r.in.Read(p)
}
