package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/server"
	"aalis/backend/text"
)

// remote is the instance that runs on a data folder, spoken to with the owner's token of its start.
// The address is always loopback (server.FindRunning), so the token leaves this machine nowhere.
type remote struct {
	running server.Running
	token   string
	http    *http.Client
}

// findRemote finds the running instance. The fault not-found says that there is none.
func findRemote(dataDir string) (*remote, error) {
	running, err := server.FindRunning(dataDir)
	if err != nil {
		return nil, err
	}
	token, err := principal.ReadOwnerToken(dataDir)
	if err != nil {
		return nil, err
	}
	return &remote{running: running, token: token, http: &http.Client{
		// No proxy of the environment may see a request with the owner's token.
		Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true},
		Timeout:   30 * time.Second,
	}}, nil
}

// remote is findRemote after the configuration has told where and in which language.
func (p *program) remote() (*remote, error) {
	s, err := p.settings(nil)
	if err != nil {
		return nil, err
	}
	return findRemote(s.dataDir)
}

// ask sends one request and reads the answer into out. A refusal is a usage of the door that its own
// sentence explains.
func (r *remote) ask(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encoding a request: %w", err)
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, r.running.URL+path, body)
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := r.http.Do(request)
	if err != nil {
		return r.unreachable(ctx, err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, 8<<20))
	if err != nil {
		return r.unreachable(ctx, err)
	}
	if answer.StatusCode >= 300 {
		return r.refusal(answer.StatusCode, data)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fault.Wrap(fault.Internal, text.New("client.garbled", "url", r.running.URL), err)
	}
	return nil
}

func (r *remote) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fault.Wrap(fault.Unsupported, text.New("client.unreachable", "url", r.running.URL), err)
}

func (r *remote) refusal(status int, body []byte) error {
	var said struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	code := fault.Internal
	switch status {
	case http.StatusNotFound:
		code = fault.NotFound
	case http.StatusBadRequest:
		code = fault.Invalid
	case http.StatusForbidden, http.StatusUnauthorized:
		code = fault.Forbidden
	}
	if json.Unmarshal(body, &said) != nil || said.Error.Message == "" {
		return fault.New(code, text.New("client.garbled", "url", r.running.URL))
	}
	return fault.Wrap(code, text.New("client.refused", "problem", visible(said.Error.Message)), errors.New(http.StatusText(status)))
}

// signInURL gets the address of a signed-in tab. It holds a one-time code, never the token.
func (r *remote) signInURL(ctx context.Context) (string, error) {
	var made struct {
		URL string `json:"url"`
	}
	if err := r.ask(ctx, http.MethodPost, "/internal/signin-code", struct{}{}, &made); err != nil {
		return "", err
	}
	return made.URL, nil
}

// raise asks the instance to show its window at a link; false means that it has none.
func (r *remote) raise(ctx context.Context, link string) (bool, error) {
	var raised struct {
		Raised bool `json:"raised"`
	}
	err := r.ask(ctx, http.MethodPost, "/internal/activate", map[string]string{"link": link}, &raised)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return raised.Raised, err
}
