package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"aalis/backend/provider"
	"aalis/backend/text"
)

// listTimeout bounds the question for the models, which a person waits for.
const listTimeout = 10 * time.Second

// wireModel takes the names several servers have for the window: OpenRouter, vLLM, LM Studio.
type wireModel struct {
	ID               string `json:"id"`
	Name             string `json:"name"`
	ContextLength    int    `json:"context_length"`
	MaxModelLen      int    `json:"max_model_len"`
	MaxContextLength int    `json:"max_context_length"`
	ContextWindow    int    `json:"context_window"`
}

// ListModels asks the endpoint. The errors are those of Stream.
func (s *Source) ListModels(ctx context.Context) ([]provider.ModelConfig, error) {
	a := &answer{source: s}
	inner, cancel := context.WithTimeoutCause(ctx, listTimeout, errSilent)
	defer cancel()
	models, err := a.list(inner)
	if err == nil {
		return models, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if known, ok := errors.AsType[*provider.Error](err); ok {
		return nil, known
	}
	if errors.Is(context.Cause(inner), errSilent) {
		e := a.silent()
		e.Message = text.New("provider.timeout", "provider", e.Provider, "seconds", int(listTimeout.Seconds()))
		return nil, e
	}
	return nil, a.broken(err)
}

func (a *answer) list(ctx context.Context) ([]provider.ModelConfig, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.source.settings.BaseURL+"/models", nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	resp, err := a.source.do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a.opened = true
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxEventBytes))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		a.model = "/models"
		return nil, a.refusal(resp.StatusCode, resp.Header, raw)
	}
	var answer struct {
		Data   []wireModel `json:"data"`
		Models []wireModel `json:"models"`
	}
	if json.Unmarshal(raw, &answer) != nil && json.Unmarshal(raw, &answer.Data) != nil {
		if len(raw) > 0 && raw[0] == '<' {
			return nil, a.webPage(resp.StatusCode)
		}
		return nil, a.garbage(raw)
	}
	return modelList(append(answer.Data, answer.Models...)), nil
}

// modelList keeps the server's order and names each model once.
func modelList(wire []wireModel) []provider.ModelConfig {
	seen := map[string]bool{}
	out := []provider.ModelConfig{}
	for _, w := range wire {
		name := w.ID
		if name == "" {
			name = w.Name
		}
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		out = append(out, provider.ModelConfig{Name: name, ContextWindow: max(w.ContextLength, w.MaxModelLen, w.MaxContextLength, w.ContextWindow)})
	}
	return out
}
