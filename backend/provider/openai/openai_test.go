package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/provider"
	"aalis/backend/provider/providertest"
)

const secret = "sk-test-0123456789"

// serve starts a real server on loopback and gives a source that speaks to it.
func serve(t *testing.T, h http.HandlerFunc) *Source {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	s := Open(provider.Settings{ID: "local", BaseURL: server.URL + "/v1", Key: func() string { return secret }})
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// recorded gives the bytes of a recorded stream.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// inPieces writes b in network writes of n bytes, which cuts characters, lines and CRLFs.
func inPieces(w http.ResponseWriter, b []byte, n int) {
	for len(b) > 0 {
		k := min(n, len(b))
		if _, err := w.Write(b[:k]); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		b = b[k:]
	}
}

func hello() provider.Request {
	return provider.Request{Messages: []provider.Message{{Role: provider.RoleUser, Text: "hello"}}}
}

func ask(t *testing.T, s *Source) (providertest.Answer, *provider.Error) {
	t.Helper()
	var failure *provider.Error
	answer := providertest.Collect(t, func(yield func(provider.Chunk, error) bool) {
		for c, err := range s.Model("m").Stream(t.Context(), hello()) {
			errors.As(err, &failure)
			if !yield(c, err) {
				return
			}
		}
	})
	return answer, failure
}

var scenarios = []providertest.Scenario{
	{Name: "openai-text", Want: providertest.Answer{Text: "Hello, 世界 👋", Usage: &provider.Usage{Prompt: 12, Completion: 5}, Finish: "stop"}},
	{Name: "openai-parallel-calls", Want: providertest.Answer{
		Calls: []providertest.Call{{Name: "run_command", Args: `{"command":"ls"} `}, {Name: "read_file", Args: `{"path":"a"}`}},
		Usage: &provider.Usage{Prompt: 50, Completion: 20}, Finish: "tool_calls",
	}},
	{Name: "deepseek-reasoning", Want: providertest.Answer{Reasoning: "Let me think", Text: "42", Usage: &provider.Usage{Prompt: 7, Completion: 9}, Finish: "stop"}},
	{Name: "openrouter-reasoning", Want: providertest.Answer{Reasoning: "Hmm", Text: "Yes", Finish: "stop"}},
	{Name: "ollama-call-without-done", Want: providertest.Answer{Calls: []providertest.Call{{Name: "run_command", Args: `{"command":"ls"}`}}, Finish: "tool_calls"}},
	{Name: "gemini-index-always-0", Want: providertest.Answer{Calls: []providertest.Call{{Name: "a", Args: `{"x":1}`}, {Name: "b", Args: "{}"}}, Finish: "tool_calls"}},
	{Name: "no-index-no-id-name-repeated", Want: providertest.Answer{Calls: []providertest.Call{{Name: "a", Args: `{"x":1}`}, {Name: "a", Args: `{"x":2}`}}, Finish: "tool_calls"}},
	{Name: "arguments-as-object", Want: providertest.Answer{Calls: []providertest.Call{{Name: "a", Args: `{"x": [1, 2]}`}}, Finish: "tool_calls"}},
	{Name: "function-call", Want: providertest.Answer{Calls: []providertest.Call{{Name: "a", Args: "{}"}}, Finish: "tool_calls"}},
	{Name: "name-after-arguments", Want: providertest.Answer{Calls: []providertest.Call{{Name: "a", Args: "{}"}, {Name: "unnamed", Args: "{}"}}, Finish: "tool_calls"}},
	{Name: "mistral-parts", Want: providertest.Answer{Reasoning: "Hm", Text: "Oui", Usage: &provider.Usage{Prompt: 3, Completion: 4}, Finish: "length"}},
	{Name: "filtered", Want: providertest.Answer{Text: "I ", Finish: "content_filter"}},
	{Name: "azure-first-chunk", Want: providertest.Answer{Text: "ok", Finish: "stop"}},
	{Name: "characters-cut-between-chunks", Want: providertest.Answer{Text: "a👋b😀c\uFFFDd\uFFFD", Finish: "stop"}},
	{Name: "bom-crlf-two-lines-no-blank", Want: providertest.Answer{Text: "ab", Finish: "stop"}},
	{Name: "not-streamed", Want: providertest.Answer{
		Reasoning: "quick", Text: "All at once", Calls: []providertest.Call{{Name: "a", Args: "{}"}}, Usage: &provider.Usage{Prompt: 1, Completion: 2}, Finish: "tool_calls",
	}},
	{Name: "error-in-stream-openai", Want: providertest.Answer{Text: "par", Err: provider.ErrServer}},
	{Name: "error-in-stream-vllm", Want: providertest.Answer{Err: provider.ErrOverflow}},
	{Name: "error-in-stream-event", Want: providertest.Answer{Err: provider.ErrRateLimit}},
	{Name: "error-in-stream-google", Want: providertest.Answer{Err: provider.ErrServer}},
	{Name: "error-in-stream-string", Want: providertest.Answer{Err: provider.ErrServer}},
	{Name: "openrouter-finish-error", Want: providertest.Answer{Err: provider.ErrServer}},
	{Name: "not-json", Want: providertest.Answer{Err: provider.ErrGarbage}},
	{Name: "not-sse", Want: providertest.Answer{Err: provider.ErrGarbage}},
	{Name: "web-page", Want: providertest.Answer{Err: provider.ErrGarbage}},
	{Name: "cut-in-document", Want: providertest.Answer{Text: "abc", Err: provider.ErrUnreachable}},
	{Name: "ended-without-finish", Want: providertest.Answer{Text: "abc", Err: provider.ErrUnreachable}},
}

func TestConformance(t *testing.T) {
	providertest.Suite{Real: true, Model: func(t *testing.T, sc providertest.Scenario) provider.Model {
		stream := recorded(t, sc.Name)
		return serve(t, func(w http.ResponseWriter, _ *http.Request) { inPieces(w, stream, 64) }).Model("m")
	}}.Run(t, scenarios)
}

// A stream means the same however the network cuts it.
func TestAnyCutOfTheNetwork(t *testing.T) {
	for _, sc := range scenarios {
		for _, n := range []int{1, 3, 1 << 20} {
			t.Run(fmt.Sprintf("%s by %d", sc.Name, n), func(t *testing.T) {
				stream := recorded(t, sc.Name)
				got, _ := ask(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { inPieces(w, stream, n) }))
				if diff := cmp.Diff(sc.Want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestRequest(t *testing.T) {
	var got string
	var header http.Header
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, header = string(b), r.Header
		_, _ = w.Write(recorded(t, "openai-text"))
	})
	req := provider.Request{
		System: "Be <kind>.", MaxTokens: 100,
		Messages: []provider.Message{
			{Role: provider.RoleUser, Text: "hi"},
			{Role: provider.RoleAssistant, Reasoning: "hm", ToolCalls: []provider.ToolCall{{ID: "0198-1", Name: "read_file", Args: json.RawMessage(`{"path":"a"}`)}, {ID: "0198-2", Name: "list"}}},
			{Role: provider.RoleTool, CallID: "0198-1", Text: ""},
			{Role: provider.RoleTool, CallID: "0198-2", Text: "x"},
		},
		Tools: []provider.ToolSpec{{Name: "read_file", Description: "Reads.", Params: json.RawMessage(`{"type":"object"}`)}},
	}
	for _, err := range s.Model("qwen3:8b").Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
	}
	a, b := wireID("0198-1"), wireID("0198-2")
	want := `{"model":"qwen3:8b","messages":[{"role":"system","content":"Be <kind>."},{"role":"user","content":"hi"},` +
		`{"role":"assistant","tool_calls":[{"id":"` + a + `","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}},` +
		`{"id":"` + b + `","type":"function","function":{"name":"list","arguments":"{}"}}]},` +
		`{"role":"tool","content":"","tool_call_id":"` + a + `"},{"role":"tool","content":"x","tool_call_id":"` + b + `"}],` +
		`"tools":[{"type":"function","function":{"name":"read_file","description":"Reads.","parameters":{"type":"object"}}}],` +
		`"max_tokens":100,"stream":true,"stream_options":{"include_usage":true}}` + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if len(a) != 9 || a == b || header.Get("Authorization") != "Bearer "+secret || header.Get("Content-Type") != "application/json" {
		t.Errorf("ids %q %q, header %v", a, b, header)
	}
}

// Images make parts of a text; everything else stays one.
func TestImagesAreParts(t *testing.T) {
	var got string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = string(b)
		_, _ = w.Write(recorded(t, "openai-text"))
	})
	image := []provider.Image{{Type: "image/png", Data: []byte("\x89PNG")}}
	req := provider.Request{Messages: []provider.Message{
		{Role: provider.RoleUser, Text: "<what>", Images: append(image, provider.Image{Type: "image/webp", Data: []byte("W")})},
		{Role: provider.RoleAssistant, Text: "a cat"},
		{Role: provider.RoleUser, Images: image},
	}}
	for _, err := range s.Model("m").Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
	}
	const png = `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}}`
	want := `"messages":[{"role":"user","content":[{"type":"text","text":"<what>"},` + png + `,{"type":"image_url","image_url":{"url":"data:image/webp;base64,Vw=="}}]},` +
		`{"role":"assistant","content":"a cat"},{"role":"user","content":[` + png + `]}]`
	if !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A model that streams its thinking gets it back within its chain of calls, and nowhere else.
func TestReasoningGoesBackToItsModel(t *testing.T) {
	for name, field := range map[string]string{"deepseek-reasoning": "reasoning_content", "openrouter-reasoning": "reasoning", "openai-text": ""} {
		t.Run(name, func(t *testing.T) {
			var bodies []string
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				bodies = append(bodies, string(b))
				_, _ = w.Write(recorded(t, name))
			})
			req := hello()
			req.Messages = append([]provider.Message{{Role: provider.RoleUser, Text: "old"}, {Role: provider.RoleAssistant, Text: "done", Reasoning: "past"}}, req.Messages...)
			req.Messages = append(req.Messages, provider.Message{Role: provider.RoleAssistant, Reasoning: "now", ToolCalls: []provider.ToolCall{{ID: "1", Name: "a"}}}, provider.Message{Role: provider.RoleTool, CallID: "1", Text: "r"})
			for range 2 {
				providertest.Collect(t, s.Model("m").Stream(t.Context(), req))
			}
			has := strings.Contains(bodies[1], `"`+field+`":"now"`)
			if strings.Contains(bodies[1], "past") || has != (field != "") || (field == "" && strings.Contains(bodies[1], "now")) {
				t.Errorf("second request: %s", bodies[1])
			}
		})
	}
}

func TestRefusedParametersAreLeftOutOnce(t *testing.T) {
	for name, tc := range map[string]struct{ refuse, words, then string }{
		"usage":      {`"stream_options"`, `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`, `"stream":true`},
		"max tokens": {`"max_tokens"`, `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`, `"max_completion_tokens":9`},
		"thinking":   {`"reasoning_effort":"low"`, `{"error":{"message":"Unsupported parameter: 'reasoning_effort' is not supported with this model."}}`, `"stream":true`},
	} {
		t.Run(name, func(t *testing.T) {
			var requests []string
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				requests = append(requests, string(b))
				if strings.Contains(string(b), tc.refuse) {
					w.WriteHeader(400)
					_, _ = io.WriteString(w, tc.words)
					return
				}
				_, _ = w.Write(recorded(t, "openai-text"))
			})
			req := hello()
			req.MaxTokens, req.Thinking = 9, provider.ThinkLow
			for range 2 {
				if got := providertest.Collect(t, s.Model("m").Stream(t.Context(), req)); got.Finish != "stop" {
					t.Fatalf("%+v", got)
				}
			}
			if len(requests) != 3 || !strings.Contains(requests[2], tc.then) {
				t.Errorf("want one refused request and then none: %q", requests)
			}
		})
	}
	t.Run("and not for ever", func(t *testing.T) {
		var n atomic.Int32
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			n.Add(1)
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"error":"stream_options and max_completion_tokens"}`)
		})
		if got, _ := ask(t, s); got.Err != provider.ErrRefused || n.Load() != 3 {
			t.Errorf("%+v after %d requests", got, n.Load())
		}
	})
}

func TestListModels(t *testing.T) {
	for body, want := range map[string][]provider.ModelConfig{
		`{"object":"list","data":[{"id":"b"},{"id":"a","max_model_len":4096},{"id":"b"}]}`: {{Name: "b"}, {Name: "a", ContextWindow: 4096}},
		`{"models":[{"name":"x","context_length":8192}]}`:                                  {{Name: "x", ContextWindow: 8192}},
		`[{"id":"y"},{}]`: {{Name: "y"}},
		`{"data":[]}`:     {},
	} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer "+secret {
				t.Errorf("asked %s with %v", r.URL, r.Header)
			}
			_, _ = io.WriteString(w, body)
		})
		got, err := s.ListModels(t.Context())
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", body, err, diff)
		}
	}
	for status, want := range map[int]provider.ErrorCode{401: provider.ErrAuth, 404: provider.ErrNotFound, 500: provider.ErrServer, 200: provider.ErrGarbage} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<html>")
		})
		_, err := s.ListModels(t.Context())
		if e, ok := errors.AsType[*provider.Error](err); !ok || e.Code != want {
			t.Errorf("%d: %v, want %s", status, err, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	if _, err := s.ListModels(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestProxyNeverForThisMachine(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://proxy.example:3128") // read once per process, so only the exempt ones are asked
	for _, address := range []string{"http://127.0.0.1:1/v1", "http://localhost:1", "http://[::1]:1", "http://x.localhost:1", "http://127.9.9.9"} {
		r := httptest.NewRequest(http.MethodPost, address, nil)
		if u, err := proxy(r); u != nil || err != nil {
			t.Errorf("%s goes through %v, %v", address, u, err)
		}
	}
}

func FuzzSSE(f *testing.F) {
	for _, sc := range scenarios {
		b, err := os.ReadFile(filepath.Join("testdata", sc.Name+".sse"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		a := &answer{source: Open(provider.Settings{ID: "fuzz"}), model: "m", watch: &watch{limit: time.Hour, cancel: func() {}}}
		t.Cleanup(func() {
			if a.watch.timer != nil {
				a.watch.timer.Stop()
			}
		})
		providertest.Collect(t, func(yield func(provider.Chunk, error) bool) {
			a.yield = yield
			resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(stream))}
			a.source.client.Transport = answering{resp}
			if err := a.run(t.Context(), hello()); err != nil && !errors.Is(err, errBroken) {
				yield(provider.Chunk{}, err)
			}
		})
	})
}

// answering is a transport that has the answer already.
type answering struct{ resp *http.Response }

func (a answering) RoundTrip(*http.Request) (*http.Response, error) { return a.resp, nil }
