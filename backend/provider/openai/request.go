package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"

	"aalis/backend/provider"
)

type wireRequest struct {
	Model               string         `json:"model"`
	Messages            []wireMessage  `json:"messages"`
	Tools               []wireTool     `json:"tools,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type wireMessage struct {
	Role string `json:"role"`
	// Content is a text, or parts where there are images. Absent only beside tool calls: some endpoints
	// refuse an empty text there, others null.
	Content          any            `json:"content,omitempty"`
	Reasoning        string         `json:"reasoning,omitempty"`
	ReasoningContent string         `json:"reasoning_content,omitempty"`
	ToolCalls        []wireToolCall `json:"tool_calls,omitempty"`
	ToolCallID       string         `json:"tool_call_id,omitempty"`
}

type wireToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type wireTool struct {
	Type     string       `json:"type"`
	Function wireToolSpec `json:"function"`
}

type wireToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// encode renders the request for an endpoint with these quirks.
func encode(name string, req provider.Request, q quirk) ([]byte, error) {
	w := wireRequest{Model: name, Stream: true, Messages: encodeMessages(req, q)}
	if q&noStreamOptions == 0 {
		w.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if q&maxCompletionTokens != 0 {
		w.MaxCompletionTokens = req.MaxTokens
	} else {
		w.MaxTokens = req.MaxTokens
	}
	if q&noEffort == 0 {
		w.ReasoningEffort = req.Thinking
	}
	for _, t := range req.Tools {
		w.Tools = append(w.Tools, wireTool{Type: "function", Function: wireToolSpec{Name: t.Name, Description: t.Description, Parameters: t.Params}})
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(w); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func encodeMessages(req provider.Request, q quirk) []wireMessage {
	var out []wireMessage
	if req.System != "" {
		out = append(out, wireMessage{Role: "system", Content: req.System})
	}
	// Thinking is given back only within the running chain of tool calls, and only to a model that
	// streamed some: that is where such models want it, and all others may refuse the field.
	lastUser := -1
	for i, m := range req.Messages {
		if m.Role == provider.RoleUser {
			lastUser = i
		}
	}
	for i, m := range req.Messages {
		w := wireMessage{Role: string(m.Role), Content: contentOf(m)}
		switch m.Role {
		case provider.RoleAssistant:
			for _, c := range m.ToolCalls {
				w.ToolCalls = append(w.ToolCalls, wireToolCall{ID: wireID(c.ID), Type: "function", Function: wireFunction{Name: c.Name, Arguments: arguments(c.Args)}})
			}
			if len(w.ToolCalls) > 0 && m.Text == "" {
				w.Content = nil
			}
			if i > lastUser && q&noReasoning == 0 {
				switch {
				case q&saysReasoningContent != 0:
					w.ReasoningContent = m.Reasoning
				case q&saysReasoning != 0:
					w.Reasoning = m.Reasoning
				}
			}
		case provider.RoleTool:
			w.ToolCallID = wireID(m.CallID)
		}
		out = append(out, w)
	}
	return out
}

type wirePart struct {
	Type     string     `json:"type"`
	Text     string     `json:"text,omitempty"`
	ImageURL *wireImage `json:"image_url,omitempty"`
}

type wireImage struct {
	URL string `json:"url"`
}

// contentOf is a plain text wherever it can be: not every endpoint takes parts.
func contentOf(m provider.Message) any {
	if len(m.Images) == 0 {
		return m.Text
	}
	parts := []wirePart{{Type: "text", Text: m.Text}}
	if m.Text == "" {
		parts = nil
	}
	for _, i := range m.Images {
		parts = append(parts, wirePart{Type: "image_url", ImageURL: &wireImage{URL: "data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(i.Data)}})
	}
	return parts
}

func arguments(args json.RawMessage) string {
	if len(args) == 0 {
		return "{}"
	}
	return string(args)
}

// wireID shortens our call id to nine letters and digits, which every endpoint takes: OpenAI allows
// forty characters, Mistral exactly these nine. The same id gives the same nine, so nothing is kept.
func wireID(id string) string {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	sum := sha256.Sum256([]byte(id))
	n, base, rest := new(big.Int).SetBytes(sum[:]), big.NewInt(int64(len(alphabet))), new(big.Int)
	out := make([]byte, 9)
	for i := range out {
		n.DivMod(n, base, rest)
		out[i] = alphabet[rest.Int64()]
	}
	return string(out)
}

func newBody(b []byte) io.Reader { return bytes.NewReader(b) }
