package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"aalis/backend/provider"
	"aalis/backend/text"
)

// said is what an error body says, whatever its dialect.
type said struct {
	words  string // for people
	code   string // code, type and status joined, lower case, to look words up in
	status int    // an HTTP status inside the body, 0 without one
}

// wireError takes the fields of all the dialects at once: OpenAI {error: {message, type, code}},
// Ollama {error: "…"}, vLLM {object: "error", message, code}, FastAPI {detail: …}, Google [{error:
// {message, status}}].
type wireError struct {
	Message json.RawMessage `json:"message"`
	Type    json.RawMessage `json:"type"`
	Code    json.RawMessage `json:"code"`
	Status  json.RawMessage `json:"status"`
	Detail  json.RawMessage `json:"detail"`
	Msg     json.RawMessage `json:"msg"`
	Error   json.RawMessage `json:"error"`
	Errors  json.RawMessage `json:"errors"`
	Object  string          `json:"object"`
}

// looksLikeError reports whether a document without choices is an error rather than, say, an empty
// heartbeat object.
func looksLikeError(doc []byte) bool {
	var e wireError
	doc = bytes.TrimSpace(doc)
	if len(doc) > 0 && doc[0] == '[' {
		return readError(doc).words != ""
	}
	if json.Unmarshal(doc, &e) != nil {
		return false
	}
	set := func(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
	return set(e.Error) || set(e.Errors) || set(e.Detail) || (set(e.Message) && (set(e.Code) || set(e.Type) || e.Object == "error"))
}

// readError takes an error body apart; what is no JSON gives no words.
func readError(raw []byte) said {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return said{}
	}
	switch raw[0] {
	case '"':
		return said{words: plain(raw)}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			return readError(list[0])
		}
	case '{':
		var e wireError
		if json.Unmarshal(raw, &e) != nil {
			return said{}
		}
		out := said{code: strings.ToLower(plain(e.Code) + " " + plain(e.Type) + " " + plain(e.Status))}
		for _, field := range []json.RawMessage{e.Code, e.Status} {
			if n, err := strconv.Atoi(plain(field)); err == nil && n >= 400 && n < 600 {
				out.status = n
			}
		}
		for _, field := range []json.RawMessage{e.Message, e.Msg, e.Error, e.Detail, e.Errors} {
			if out.words != "" {
				break
			}
			inner := readError(field)
			out.words = inner.words
			out.code += " " + inner.code
			if out.status == 0 {
				out.status = inner.status
			}
		}
		return out
	}
	return said{}
}

// plain gives a JSON string's or number's text, "" for anything else.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

var overflowWords = regexp.MustCompile(`(?i)context_length_exceeded|exceed_context_size|context[ _-]?(length|window|size)|prompt is too long|too many (input )?tokens|reduce the length of the (messages|prompt)|input token count.*exceeds|input length and .?max_tokens.? exceed|maximum (prompt|number of tokens)|string_above_max_length`)

// refusal sorts what the server said no with. status is 0 for an error inside a stream.
func (a *answer) refusal(status int, header http.Header, raw []byte) *provider.Error {
	s := a.source.settings
	what := readError(raw)
	if status == 0 {
		status = what.status
	}
	words := shorten(what.words, 300)
	if words == "" {
		words = strings.TrimSpace("HTTP " + strconv.Itoa(status) + " " + http.StatusText(status))
	}
	e := a.failure("", status, raw)
	says := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(what.code, p) {
				return true
			}
		}
		return false
	}
	client := status == 0 || status == 400 || status == 413 || status == 422 || status == 500
	switch {
	case client && (overflowWords.MatchString(what.code) || overflowWords.MatchString(what.words)), status == 413:
		e.Code, e.Message = provider.ErrOverflow, text.New("provider.overflow", "model", a.model)
	case status == 402, says("insufficient_quota", "billing"):
		e.Code, e.Message = provider.ErrRateLimit, text.New("provider.quota", "provider", s.ID)
	case status == 429, status == 0 && says("rate_limit", "resource_exhausted", "too_many"):
		e.Code, e.Retryable, e.RetryAfter = provider.ErrRateLimit, !a.gave, retryAfter(header)
		e.Message = text.New("provider.rate-limit", "provider", s.ID)
		if e.RetryAfter > 0 {
			e.Message = text.New("provider.rate-limit-wait", "provider", s.ID, "seconds", int(math.Ceil(e.RetryAfter.Seconds())))
		}
	case status == 401, status == 403, status == 0 && says("authentication", "invalid_api_key", "permission"):
		e.Code, e.Message = provider.ErrAuth, a.authMessage()
	case status == 404, status == 405, says("model_not_found"):
		e.Code, e.Message = provider.ErrNotFound, text.New("provider.not-found", "provider", s.ID, "model", a.model)
	case status == 408:
		e.Code, e.Retryable = provider.ErrTimeout, !a.gave
		e.Message = text.New("provider.server", "provider", s.ID, "words", words)
	case status >= 300 && status < 400:
		e.Code, e.Message = provider.ErrRefused, text.New("provider.redirect", "provider", s.ID, "address", shorten(header.Get("Location"), 200))
	case status == 0 && says("invalid_request"), status >= 400 && status < 500:
		e.Code, e.Message = provider.ErrRefused, text.New("provider.refused", "provider", s.ID, "words", a.redact(words))
	default:
		e.Code, e.Retryable, e.RetryAfter = provider.ErrServer, !a.gave, retryAfter(header)
		e.Message = text.New("provider.server", "provider", s.ID, "words", a.redact(words))
	}
	return e
}

func (a *answer) authMessage() text.Text {
	s := a.source.settings
	switch {
	case s.Key() != "":
		return text.New("provider.auth", "provider", s.ID)
	case s.KeyEnv != "":
		return text.New("provider.auth-env", "provider", s.ID, "env", s.KeyEnv)
	}
	return text.New("provider.auth-no-key", "provider", s.ID)
}

func (a *answer) silent() *provider.Error {
	e := a.failure(provider.ErrTimeout, 0, nil)
	e.Err, e.Retryable = errSilent, !a.gave
	e.Message = text.New("provider.timeout", "provider", e.Provider, "seconds", int(a.source.settings.IdleTimeout.Seconds()))
	return e
}

// broken is a connection that could not be made or did not hold.
func (a *answer) broken(err error) *provider.Error {
	e := a.failure(provider.ErrUnreachable, 0, nil)
	e.Retryable = !a.gave
	e.Err = errors.New(a.redact(err.Error()))
	if a.opened {
		e.Message = text.New("provider.dropped", "provider", e.Provider)
	} else {
		e.Message = text.New("provider.unreachable", "provider", e.Provider, "address", a.source.settings.BaseURL)
	}
	return e
}

func (a *answer) garbage(raw []byte) *provider.Error {
	e := a.failure(provider.ErrGarbage, 0, raw)
	e.Err = errNotProtocol
	e.Message = text.New("provider.garbage", "provider", e.Provider)
	return e
}

func (a *answer) webPage(status int) *provider.Error {
	e := a.failure(provider.ErrGarbage, status, nil)
	e.Message = text.New("provider.web-page", "address", a.source.settings.BaseURL)
	return e
}

func (a *answer) tooLong() *provider.Error {
	e := a.failure(provider.ErrGarbage, 0, nil)
	e.Err = errTooLong
	e.Message = text.New("provider.too-long", "provider", e.Provider, "max", maxEventBytes)
	return e
}

func (a *answer) failure(code provider.ErrorCode, status int, raw []byte) *provider.Error {
	words := a.redact(strings.ToValidUTF8(string(raw), "\uFFFD"))
	if len(words) > provider.MaxRaw {
		cut := provider.MaxRaw
		for !utf8.RuneStart(words[cut]) {
			cut--
		}
		words = words[:cut]
	}
	return &provider.Error{Code: code, Provider: a.source.settings.ID, Status: status, Raw: words}
}

// redact takes the key out of words of a server, some of which repeat it.
func (a *answer) redact(s string) string {
	if key := a.source.settings.Key(); key != "" {
		return strings.ReplaceAll(s, key, "[key]")
	}
	return s
}

// retryAfter reads how long the server asks to wait: milliseconds, seconds or a date.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return wait(ms / 1000)
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return wait(s)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// wait bounds a server's seconds to a day, so that no number overflows.
func wait(seconds float64) time.Duration {
	if math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	return time.Duration(min(seconds, 24*3600) * float64(time.Second))
}

func shorten(s string, runes int) string {
	r := []rune(strings.TrimSpace(s))
	if len(r) > runes {
		return string(r[:runes-1]) + "…"
	}
	return string(r)
}
