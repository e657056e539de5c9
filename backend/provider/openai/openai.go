// Package openai speaks Chat Completions, the dialect of OpenAI and of nearly everything that runs
// models at home. It owns requests, the event stream and its many variants, and the sorting of
// errors; it never retries but for a parameter an endpoint does not know, and keeps no conversation.
// provider.Set opens it; the engine ranges over Model.Stream.
//
//	model.Stream
//	  source.post        one request, again without a refused parameter
//	  idleBody           silence becomes provider.ErrTimeout
//	  sse.next           bytes -> events, bounded
//	  decoder.event      events -> provider chunks, whole UTF-8, tool calls sorted out
//	  failure…           statuses, bodies and broken connections -> provider.Error
//
// It stands on net/http and not on go-openai, because that client reads lines and error bodies
// without a bound, does not show Retry-After, loses the last line of a stream without a newline, and
// waits for another line before it reports an error event.
package openai

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"aalis/backend/provider"
)

// Kind is the type "openai" of config.yaml.
func Kind() provider.Kind {
	return provider.Kind{NeedsURL: true, Open: func(s provider.Settings) provider.Source { return Open(s) }}
}

// Source is one endpoint. It is safe for concurrent use.
type Source struct {
	settings provider.Settings
	client   *http.Client

	mu     sync.Mutex       // guards quirks
	quirks map[string]quirk // by model: what its endpoint turned out not to take
}

// quirk is a set of departures from the newest form of the protocol.
type quirk uint8

const (
	noStreamOptions      quirk = 1 << iota // refuses stream_options
	maxCompletionTokens                    // wants max_completion_tokens instead of max_tokens
	noReasoning                            // refuses its own reasoning when given back
	saysReasoning                          // streams its thinking as "reasoning"
	saysReasoningContent                   // streams its thinking as "reasoning_content"
	noEffort                               // refuses reasoning_effort
)

// Open makes a source; it does not connect.
func Open(settings provider.Settings) *Source {
	if settings.Key == nil {
		settings.Key = func() string { return "" }
	}
	if settings.IdleTimeout <= 0 {
		settings.IdleTimeout = provider.DefaultIdleTimeout
	}
	transport := &http.Transport{
		Proxy:                  proxy,
		DialContext:            (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    15 * time.Second,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		// A compressed stream is held back by whoever compresses it.
		DisableCompression: true,
	}
	return &Source{
		settings: settings,
		client: &http.Client{
			Transport: transport,
			// A followed redirect would turn the POST into a GET of a web page.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		quirks: map[string]quirk{},
	}
}

// Thinking gives the words of reasoning_effort that most endpoints share. Which of them a model takes
// shows when it is called; one that refuses is asked again without.
func (s *Source) Thinking(string) []string {
	return []string{provider.ThinkNone, provider.ThinkLow, provider.ThinkMedium, provider.ThinkHigh}
}

// Model gives the model of that name.
func (s *Source) Model(name string) provider.Model { return &model{source: s, name: name} }

// model is one model of the endpoint; Request.Model overrides its name.
type model struct {
	source *Source
	name   string
}

// proxy follows HTTP_PROXY and its kin, but never for this machine: a proxy elsewhere cannot reach
// it, and what is said to a model at home stays at home.
func proxy(r *http.Request) (*url.URL, error) {
	host := strings.TrimSuffix(r.URL.Hostname(), ".")
	if ip := net.ParseIP(host); host == "localhost" || strings.HasSuffix(host, ".localhost") || (ip != nil && ip.IsLoopback()) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

func (s *Source) quirksOf(model string) quirk {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.quirks[model]
}

func (s *Source) learn(model string, q quirk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quirks[model] |= q
}

// post sends one request. The answer's body is the caller's to close; err is transport only.
func (s *Source) post(ctx context.Context, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.settings.BaseURL+"/chat/completions", newBody(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	return s.do(r)
}

func (s *Source) do(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", "aalis")
	if key := s.settings.Key(); key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	return s.client.Do(r)
}
