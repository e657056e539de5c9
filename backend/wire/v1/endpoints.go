package v1

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/text"
)

// Endpoint is one row of the table: what the document's section 4 says, and who answers here.
type Endpoint struct {
	Method, Path string
	Query        []string
	Request      string // the name of its shape, "" for no body
	Response     string
	SSE          bool
	// Scope is the right a caller needs; Public endpoints need nobody.
	Scope  principal.Scope
	Public bool

	handle func(*Server, http.ResponseWriter, *http.Request) error
}

// Endpoints is the table of the protocol. Spec V1-040.
func Endpoints() []Endpoint {
	return []Endpoint{
		{Method: "GET", Path: "/v1/health", Response: "HealthResponse", Public: true, handle: (*Server).health},
		{Method: "GET", Path: "/v1/me", Response: "MeResponse", Scope: principal.Read, handle: (*Server).me},
		{Method: "GET", Path: "/v1/projects", Response: "ProjectListResponse", Scope: principal.Read, handle: (*Server).projects},
		{Method: "GET", Path: "/v1/sessions", Query: []string{"projectId", "limit", "cursor"}, Response: "SessionListResponse", Scope: principal.Read, handle: (*Server).sessions},
		{Method: "GET", Path: "/v1/sessions/{id}", Query: []string{"limit"}, Response: "SessionDetailResponse", Scope: principal.Read, handle: (*Server).detail},
		{Method: "GET", Path: "/v1/sessions/{id}/events", Query: []string{"since"}, Response: "V1Event", SSE: true, Scope: principal.Read, handle: (*Server).stream},
		{Method: "GET", Path: "/v1/capabilities", Query: []string{"sessionId"}, Response: "CapabilitiesResponse", Scope: principal.Read, handle: (*Server).capabilities},
		{Method: "GET", Path: "/v1/executions/{executionId}", Response: "ExecutionReceipt", Scope: principal.Read, handle: (*Server).execution},
		{Method: "POST", Path: "/v1/sessions", Request: "CreateSessionRequest", Response: "CreateSessionResponse", Scope: principal.Chat, handle: (*Server).create},
		{Method: "POST", Path: "/v1/sessions/{id}/messages", Request: "SendMessageRequest", Response: "SendMessageResponse", Scope: principal.Chat, handle: (*Server).send},
		{Method: "POST", Path: "/v1/sessions/{id}/cancel", Response: "CancelResponse", Scope: principal.Chat, handle: (*Server).cancel},
		{Method: "POST", Path: "/v1/approvals/{approvalId}", Request: "ApprovalDecisionRequest", Response: "ApprovalDecisionResponse", Scope: principal.Approve, handle: (*Server).decide},
	}
}

// routes registers the table. A known path with another method is told which there are; the door answers
// for credentials that are wrong.
func (s *Server) routes() {
	methods := map[string][]string{}
	for _, e := range Endpoints() {
		methods[e.Path] = append(methods[e.Path], e.Method)
		s.mux.HandleFunc(e.Method+" "+e.Path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, e) })
	}
	for path, known := range methods {
		slices.Sort(known)
		s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(known, ", "))
			s.Refuse(w, r, http.StatusMethodNotAllowed, "invalid_request", text.New("v1.method", "methods", strings.Join(known, ", ")).In(s.o.Language()))
		})
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.Refuse(w, r, http.StatusNotFound, "not_found", text.New("v1.path", "path", r.URL.Path).In(s.o.Language()))
	})
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, e Endpoint) {
	err := s.may(r, e)
	if err == nil {
		err = e.handle(s, w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

func (s *Server) may(r *http.Request, e Endpoint) error {
	if e.Public {
		return nil
	}
	caller, known := s.o.Caller(r.Context())
	switch {
	case !known:
		return fault.Wrap(fault.Internal, text.New("internal"), errNobody)
	case !caller.Can(e.Scope):
		return fault.New(fault.Forbidden, text.New("v1.scope", "scope", string(e.Scope)))
	}
	return nil
}

// mistake is a request that is wrong in one place.
type mistake struct {
	path    string
	message text.Text
}

func (m *mistake) Error() string { return m.path + ": " + m.message.String() }

func invalid(path string, message text.Text) error { return &mistake{path, message} }

// fail answers an error in the form of the protocol. Spec V1-212, -218.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	lang := s.o.Language()
	if m, ok := errors.AsType[*mistake](err); ok {
		s.envelope(w, http.StatusBadRequest, EnvelopeError{
			Code: "invalid_request", Message: m.Error(), Details: []Detail{{Path: m.path, Message: m.message.In(lang)}},
		})
		return
	}
	f := fault.Of(err)
	status, code := statusOfFault(f.Code)
	switch f.Message.Key { // a gate has words of its own. Spec V1-164
	case "session.closed":
		code = "session_closed"
	case "session.locked":
		code = "session_locked"
	}
	if status == http.StatusInternalServerError && r.Context().Err() == nil {
		s.log.ErrorContext(r.Context(), "a request failed", "path", r.Pattern, "error", err)
	}
	s.envelope(w, status, EnvelopeError{Code: code, Message: f.Message.In(lang), Retryable: status >= 500})
}

func statusOfFault(code fault.Code) (status int, word ErrorCode) {
	switch code {
	case fault.NotFound:
		return http.StatusNotFound, "not_found"
	case fault.Forbidden:
		return http.StatusForbidden, "forbidden"
	case fault.Invalid:
		return http.StatusBadRequest, "invalid_request"
	case fault.Conflict, fault.ExpectedTurnMismatch, fault.ApprovalSettled, fault.HashMismatch, fault.Expired:
		return http.StatusConflict, "conflict"
	case fault.Unsupported:
		return http.StatusServiceUnavailable, "engine_unavailable"
	}
	return http.StatusInternalServerError, "internal"
}

// Refuse answers what the door refuses, in the form of the protocol.
func (s *Server) Refuse(w http.ResponseWriter, _ *http.Request, status int, code, message string) {
	known := []string{"invalid_request", "unauthenticated", "forbidden", "not_found", "conflict", "payload_too_large", "rate_limited", "internal"}
	if !slices.Contains(known, code) {
		code = "invalid_request"
	}
	s.envelope(w, status, EnvelopeError{Code: ErrorCode(code), Message: message, Retryable: status == http.StatusTooManyRequests || status >= 500})
}

func (s *Server) envelope(w http.ResponseWriter, status int, e EnvelopeError) {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	e.RequestID = hex.EncodeToString(id[:])
	s.answer(w, status, Envelope{e})
}

func (s *Server) answer(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		s.log.Error("an answer could not be encoded", "error", err)
		status, data = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"","retryable":true,"requestId":""}}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(data) // a client that has gone needs no answer
}
