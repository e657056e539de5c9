package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/provider"
	"aalis/backend/provider/providertest"
)

// refusal is what an answer with a status is told as.
type refusal struct {
	Code      provider.ErrorCode
	Message   string
	Retryable bool
	After     time.Duration
}

func TestRefusals(t *testing.T) {
	const page = "<html>nginx</html>"
	for name, tc := range map[string]struct {
		status int
		header map[string]string
		body   string
		want   refusal
	}{
		"web page":      {200, map[string]string{"Content-Type": "text/html"}, page, refusal{provider.ErrGarbage, "answers with a web page, not a model API. Check base_url; it often ends in /v1.", false, 0}},
		"key refused":   {401, nil, `{"error":{"message":"Incorrect API key provided: ` + secret + `","code":"invalid_api_key"}}`, refusal{provider.ErrAuth, "local refuses the API key. Check the key and what it may use.", false, 0}},
		"forbidden":     {403, nil, "", refusal{provider.ErrAuth, "local refuses the API key. Check the key and what it may use.", false, 0}},
		"no such model": {404, nil, `{"error":"model \"m\" not found, try pulling it first"}`, refusal{provider.ErrNotFound, "local does not know the model m, or base_url is not its API address.", false, 0}},
		"no such path":  {404, nil, page, refusal{provider.ErrNotFound, "local does not know the model m, or base_url is not its API address.", false, 0}},
		"slow down, seconds": {
			429,
			map[string]string{"Retry-After": "7"},
			`{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`,
			refusal{provider.ErrRateLimit, "local takes no more requests for another 7 seconds.", true, 7 * time.Second},
		},
		"slow down, milliseconds": {429, map[string]string{"Retry-After-Ms": "1500", "Retry-After": "9"}, "", refusal{provider.ErrRateLimit, "local takes no more requests for another 2 seconds.", true, 1500 * time.Millisecond}},
		"slow down, no time":      {429, map[string]string{"Retry-After": "soon"}, "", refusal{provider.ErrRateLimit, "local takes no more requests for the moment.", true, 0}},
		"slow down, absurd":       {429, map[string]string{"Retry-After": "1e300"}, "", refusal{provider.ErrRateLimit, "local takes no more requests for another 86400 seconds.", true, 24 * time.Hour}},
		"no credit":               {429, nil, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, refusal{provider.ErrRateLimit, "The account at local has no credit left.", false, 0}},
		"payment":                 {402, nil, `{"error":{"message":"Insufficient credits","code":402}}`, refusal{provider.ErrRateLimit, "The account at local has no credit left.", false, 0}},
		"overflow, OpenAI":        {400, nil, `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`, refusal{provider.ErrOverflow, "The conversation no longer fits into the context window of m.", false, 0}},
		"overflow, llama.cpp":     {400, nil, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, refusal{provider.ErrOverflow, "The conversation no longer fits into the context window of m.", false, 0}},
		"overflow, Anthropic":     {400, nil, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, refusal{provider.ErrOverflow, "The conversation no longer fits into the context window of m.", false, 0}},
		"overflow, too large":     {413, nil, "", refusal{provider.ErrOverflow, "The conversation no longer fits into the context window of m.", false, 0}},
		"bad request":             {400, nil, `{"error":{"message":"tools is not supported","type":"invalid_request_error"}}`, refusal{provider.ErrRefused, "local refuses the request: tools is not supported", false, 0}},
		"unprocessable, FastAPI":  {422, nil, `{"detail":[{"loc":["body","x"],"msg":"field required"}]}`, refusal{provider.ErrRefused, "local refuses the request: field required", false, 0}},
		"server error":            {500, nil, `{"error":{"message":"boom"}}`, refusal{provider.ErrServer, "local has an error of its own: boom", true, 0}},
		"bad gateway":             {502, nil, page, refusal{provider.ErrServer, "local has an error of its own: HTTP 502 Bad Gateway", true, 0}},
		"overloaded":              {503, map[string]string{"Retry-After": "2"}, `[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`, refusal{provider.ErrServer, "local has an error of its own: overloaded", true, 2 * time.Second}},
		"redirect":                {302, map[string]string{"Location": "https://elsewhere.example/"}, "", refusal{provider.ErrRefused, "local sends requests on to https://elsewhere.example/; put that address into base_url if it is right.", false, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			_, e := ask(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range tc.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			if e == nil {
				t.Fatal("no error")
			}
			got := refusal{e.Code, e.Message.String(), e.Retryable, e.RetryAfter}
			if i := strings.Index(got.Message, "answers with a web page"); i > 0 {
				got.Message = got.Message[i:] // before it stands the address with the port
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if e.Status != tc.status || e.Provider != "local" {
				t.Errorf("status %d, provider %q", e.Status, e.Provider)
			}
			if all := e.Error() + e.Raw + e.Message.String(); strings.Contains(all, secret) {
				t.Errorf("the key is in the error: %s", all)
			}
		})
	}
}

func TestRawIsBounded(t *testing.T) {
	_, e := ask(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(500)
		_, _ = w.Write(bytes.Repeat([]byte("长"), 1<<20))
	}))
	if len(e.Raw) > provider.MaxRaw || len(e.Raw) < provider.MaxRaw-4 {
		t.Errorf("Raw has %d bytes", len(e.Raw))
	}
}

func TestKeyIsNamedWhenMissing(t *testing.T) {
	for env, want := range map[string]string{"": "local wants an API key and none is set.", "LOCAL_KEY": "local wants an API key; the environment variable LOCAL_KEY is empty."} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				t.Errorf("sent %q", r.Header.Get("Authorization"))
			}
			w.WriteHeader(401)
		})
		s.settings.Key, s.settings.KeyEnv = func() string { return "" }, env
		if _, e := ask(t, s); e.Message.String() != want {
			t.Errorf("%q: %q", env, e.Message)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String() + "/v1"
	l.Close()
	_, e := ask(t, Open(provider.Settings{ID: "local", BaseURL: address}))
	if e.Code != provider.ErrUnreachable || !e.Retryable || !strings.Contains(e.Message.String(), address) {
		t.Errorf("%+v", e)
	}
}

func TestDropped(t *testing.T) {
	for name, tc := range map[string]struct {
		before    string
		retryable bool
		after     string
	}{
		"before a word":   {": hello\n\n", true, ""},
		"mid-stream":      {`data: {"choices":[{"delta":{"content":"abc"}}]}` + "\n\n", false, "abc"},
		"within a line":   {`data: {"choices":[{"delta":{"content":"abc"}}]}` + "\n\n" + `data: {"cho`, false, "abc"},
		"within a letter": {`data: {"choices":[{"delta":{"content":"abc"}}]}` + "\n\ndata: \xe4", false, "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			got, e := ask(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
				inPieces(w, []byte(tc.before), 1000)
				panic(http.ErrAbortHandler) // cuts the connection
			}))
			want := providertest.Answer{Text: tc.after, Err: provider.ErrUnreachable}
			if diff := cmp.Diff(want, got); diff != "" || e.Retryable != tc.retryable || e.Message.String() != "The connection to local broke in the middle of the answer." {
				t.Errorf("%s\n%+v", diff, e)
			}
		})
	}
	t.Run("after the finish it no longer matters", func(t *testing.T) {
		got, _ := ask(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
			inPieces(w, []byte(`data: {"choices":[{"delta":{"content":"abc"},"finish_reason":"stop"}]}`+"\n\n"), 1000)
			panic(http.ErrAbortHandler)
		}))
		if diff := cmp.Diff(providertest.Answer{Text: "abc", Finish: "stop"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEndlessLineIsCutOff(t *testing.T) {
	for name, start := range map[string]string{"one line": "data: ", "many lines": "data: x\n", "not a stream": "{"} {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int64
			_, e := ask(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, start)
				line := []byte(strings.Repeat(" ", 64<<10))
				if name == "many lines" {
					line = []byte(strings.Repeat("data: xxxxxxxxxxxxxxxxxxxxxxxxx\n", 2<<10))
				}
				for r.Context().Err() == nil && sent.Load() < 100<<20 {
					n, err := w.Write(line)
					sent.Add(int64(n))
					if err != nil {
						return
					}
				}
			}))
			if e == nil || e.Code != provider.ErrGarbage {
				t.Fatalf("%v", e)
			}
			if n := sent.Load(); n > 40<<20 {
				t.Errorf("took %d bytes", n)
			}
		})
	}
}

func TestSlowCallerIsNotASilentServer(t *testing.T) {
	bubble(t, func(w http.ResponseWriter, _ *http.Request) {
		inPieces(w, recorded(t, "openai-text"), 40)
	}, func(t *testing.T, s *Source) {
		for _, err := range s.Model("m").Stream(t.Context(), hello()) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour) // the bubble's time
		}
	})
}

func TestStalled(t *testing.T) {
	chunk := `data: {"choices":[{"delta":{"content":"abc"}}]}` + "\n\n"
	for name, tc := range map[string]struct {
		say       []string
		after     time.Duration
		text      string
		retryable bool
	}{
		"without a header": {nil, 120 * time.Second, "", true},
		"after a header":   {[]string{""}, 120 * time.Second, "", true},
		"mid-stream":       {[]string{chunk}, 120 * time.Second, "abc", false},
		// A comment is a sign of life.
		"after a minute of comments": {[]string{": wait\n\n", ": wait\n\n"}, 240 * time.Second, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w http.ResponseWriter, r *http.Request) {
				for i, piece := range tc.say {
					if i > 0 {
						time.Sleep(119 * time.Second)
					}
					_, _ = io.WriteString(w, piece)
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			}, func(t *testing.T, s *Source) {
				start := time.Now()
				got, e := ask(t, s)
				want := providertest.Answer{Text: tc.text, Err: provider.ErrTimeout}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatal(diff)
				}
				if e.Retryable != tc.retryable || e.Message.String() != "local has said nothing for 120 seconds." {
					t.Errorf("%+v", e)
				}
				if took := time.Since(start); took < tc.after-2*time.Second || took > tc.after {
					t.Errorf("took %v, want about %v", took, tc.after)
				}
			})
		})
	}
	t.Run("after the finish it no longer matters", func(t *testing.T) {
		bubble(t, func(w http.ResponseWriter, r *http.Request) {
			inPieces(w, []byte(`data: {"choices":[{"delta":{"content":"abc"},"finish_reason":"stop"}]}`+"\n\n"), 1000)
			<-r.Context().Done()
		}, func(t *testing.T, s *Source) {
			start := time.Now()
			got, _ := ask(t, s)
			if diff := cmp.Diff(providertest.Answer{Text: "abc", Finish: "stop"}, got); diff != "" || time.Since(start) > 3*time.Second {
				t.Errorf("after %v\n%s", time.Since(start), diff)
			}
		})
	})
}

func TestCancelled(t *testing.T) {
	chunk := `data: {"choices":[{"delta":{"content":"abc"}}]}` + "\n\n"
	for name, say := range map[string][]string{"before the header": nil, "mid-stream": {chunk}} {
		t.Run(name, func(t *testing.T) {
			closed := make(chan time.Time, 1)
			bubble(t, func(w http.ResponseWriter, r *http.Request) {
				for _, piece := range say {
					inPieces(w, []byte(piece), 1000)
				}
				<-r.Context().Done()
				closed <- time.Now()
			}, func(t *testing.T, s *Source) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(errors.New("the owner said stop")) })
				start := time.Now()
				var last error
				for _, err := range s.Model("m").Stream(ctx, hello()) {
					last = err
				}
				took := time.Since(start) - time.Second
				if !errors.Is(last, context.Canceled) || took > 100*time.Millisecond {
					t.Errorf("ended with %v, %v after the cancel", last, took)
				}
				if at := (<-closed).Sub(start) - time.Second; at > 100*time.Millisecond {
					t.Errorf("the connection was open for another %v", at)
				}
			})
		})
	}
}

func TestRetryAfterDate(t *testing.T) {
	bubble(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(90*time.Second).UTC().Format(http.TimeFormat))
		w.WriteHeader(429)
	}, func(t *testing.T, s *Source) {
		if _, e := ask(t, s); e.RetryAfter != 90*time.Second {
			t.Errorf("%v", e.RetryAfter)
		}
	})
	if got := retryAfter(http.Header{"Retry-After": {"Mon, 02 Jan 2006 15:04:05 GMT"}}); got != 0 {
		t.Errorf("a date that has passed: %v", got)
	}
}

// bubble runs a real server and the source over in-memory connections inside a synctest bubble, for
// what is about time.
func bubble(t *testing.T, h http.HandlerFunc, do func(*testing.T, *Source)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		// The server watches for a closed connection only once the request has been read.
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			h(w, r)
		})}
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = server.Serve(l)
		}()
		s := Open(provider.Settings{ID: "local", BaseURL: "http://model.example/v1"})
		s.client.Transport.(*http.Transport).Proxy = nil
		s.client.Transport.(*http.Transport).DialContext = l.dial
		do(t, s)
		s.client.CloseIdleConnections()
		server.Close()
		<-served
	})
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.closed); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: fmt.Sprintf("%p", l)} }
