package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"aalis/backend/provider"
)

// wireChunk is one data document, of a stream or (with message instead of delta) a whole answer.
type wireChunk struct {
	Choices []wireChoice    `json:"choices"`
	Usage   *wireUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Object  string          `json:"object"`
}

type wireChoice struct {
	Index        int        `json:"index"`
	Delta        *wireDelta `json:"delta"`
	Message      *wireDelta `json:"message"`
	FinishReason string     `json:"finish_reason"`
	Usage        *wireUsage `json:"usage"` // where some endpoints put it
}

type wireDelta struct {
	Content          content         `json:"content"`
	Refusal          rawText         `json:"refusal"`
	Reasoning        rawText         `json:"reasoning"`
	ReasoningContent rawText         `json:"reasoning_content"`
	ToolCalls        []wireCallDelta `json:"tool_calls"`
	FunctionCall     *wireCallPiece  `json:"function_call"` // the form before tool_calls
}

type wireCallDelta struct {
	Index    *int          `json:"index"`
	ID       string        `json:"id"`
	Function wireCallPiece `json:"function"`
}

type wireCallPiece struct {
	Name      string   `json:"name"`
	Arguments argsText `json:"arguments"`
}

// argsText is a piece of the arguments; endpoints that send them as an object get its text.
type argsText []byte

// UnmarshalJSON takes a string or an object.
func (a *argsText) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		*a = bytes.Clone(b)
		return nil
	}
	return (*rawText)(a).UnmarshalJSON(b)
}

type wireUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// serverError is an error the server put into its answer instead of a status.
type serverError struct{ body []byte }

func (e *serverError) Error() string { return "the stream carries an error" }

var (
	errNotProtocol = errors.New("data is not a chat completion")
	errCut         = errors.New("the stream ended in the middle of an event")
)

// decoder makes provider chunks of events. It belongs to one answer.
type decoder struct {
	text, thinking joiner
	calls          []*callState
	usage          *provider.Usage
	finish         provider.FinishReason
	done           bool  // [DONE] was seen
	says           quirk // under which name the thinking came
	out            []provider.Chunk
}

// event decodes one event and gives its chunks, which stay valid until the next call.
func (d *decoder) event(ev event) ([]provider.Chunk, error) {
	d.out = d.out[:0]
	data := strings.TrimSpace(ev.data)
	if data == "[DONE]" {
		d.done = true
		return nil, nil
	}
	if ev.name == "error" {
		return nil, &serverError{body: []byte(data)}
	}
	// Several documents in one event are two data lines of a server that forgot the blank one.
	docs := json.NewDecoder(strings.NewReader(data))
	for {
		var doc json.RawMessage
		err := docs.Decode(&doc)
		switch {
		case errors.Is(err, io.EOF):
			return d.out, nil
		case err != nil && strings.HasSuffix(data, "[DONE]"):
			d.done = true
			return d.out, nil
		case err != nil && ev.cut:
			return d.out, errCut
		case err != nil:
			return d.out, errNotProtocol
		}
		if err := d.document(doc); err != nil {
			return d.out, err
		}
	}
}

func (d *decoder) document(doc []byte) error {
	var c wireChunk
	if err := json.Unmarshal(doc, &c); err != nil {
		if looksLikeError(doc) {
			return &serverError{body: doc}
		}
		return errNotProtocol
	}
	if c.Choices == nil && (looksLikeError(doc) || c.Object == "error") {
		return &serverError{body: doc}
	}
	if c.Error != nil && string(c.Error) != "null" {
		return &serverError{body: doc}
	}
	d.count(c.Usage)
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // we ask for one answer
		}
		d.count(choice.Usage)
		if choice.Delta != nil {
			d.delta(choice.Delta)
		} else if choice.Message != nil {
			d.delta(choice.Message)
		}
		if choice.FinishReason == "error" {
			return &serverError{body: doc}
		}
		if choice.FinishReason != "" {
			d.finish = finishReason(choice.FinishReason)
		}
	}
	return nil
}

func (d *decoder) count(u *wireUsage) {
	if u != nil && (u.PromptTokens > 0 || u.CompletionTokens > 0) {
		d.usage = &provider.Usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens}
	}
}

func (d *decoder) delta(w *wireDelta) {
	thinking := w.Content.thinking
	switch {
	case len(w.ReasoningContent) > 0: // some send the same thinking under both names
		thinking, d.says = append(thinking, w.ReasoningContent...), saysReasoningContent
	case len(w.Reasoning) > 0:
		thinking, d.says = append(thinking, w.Reasoning...), saysReasoning
	}
	if len(thinking) > 0 {
		d.emit(provider.Chunk{Reasoning: d.thinking.add(thinking)})
	}
	if words := append(w.Content.text, w.Refusal...); len(words) > 0 {
		d.emit(provider.Chunk{Text: d.text.add(words)})
	}
	for _, c := range w.ToolCalls {
		d.call(c)
	}
	if f := w.FunctionCall; f != nil {
		zero := 0
		d.call(wireCallDelta{Index: &zero, Function: *f})
	}
}

func (d *decoder) emit(c provider.Chunk) {
	if c.Text != "" || c.Reasoning != "" || c.Call != nil || c.Usage != nil || c.Finish != "" {
		d.out = append(d.out, c)
	}
}

// complete reports whether the server has said that the answer is whole, after which nothing that
// happens to the connection matters.
func (d *decoder) complete() bool { return d.done || d.finish != "" }

// end gives the last chunks of a complete answer.
func (d *decoder) end() []provider.Chunk {
	d.out = d.out[:0]
	d.emit(provider.Chunk{Reasoning: d.thinking.flush()})
	d.emit(provider.Chunk{Text: d.text.flush()})
	for i, c := range d.calls {
		c.flush(d, i)
	}
	d.emit(provider.Chunk{Usage: d.usage})
	finish := d.finish
	if finish == "" || finish == provider.FinishStop {
		finish = provider.FinishStop
		if len(d.calls) > 0 { // several endpoints say stop beside calls
			finish = provider.FinishToolCalls
		}
	}
	d.emit(provider.Chunk{Finish: finish})
	return d.out
}

func finishReason(s string) provider.FinishReason {
	switch s {
	case "length", "max_tokens", "model_length":
		return provider.FinishLength
	case "content_filter", "safety":
		return provider.FinishFilter
	case "tool_calls", "function_call":
		return provider.FinishToolCalls
	}
	return provider.FinishStop
}
