// Package v1 speaks the client and server protocol /v1: requests over HTTP, and one stream of events a
// session that replays and goes on live. It owns its shapes and how the log looks in them; it decides
// nothing that the log does not say, and no byte of a call's arguments leaves it but as a digest.
//
//	endpoints.go  the table: every path, and who answers
//	events.go     what a row of the log looks like here
//	stream.go     the event stream
package v1

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"aalis/backend/core"
	"aalis/backend/principal"
	"aalis/backend/store"
	"aalis/backend/text"
)

// DefaultHeartbeat is how long nothing may come before a heartbeat does. Spec V1-108.
const DefaultHeartbeat = 15 * time.Second

// Options of a server. Loop, Digest and Caller are needed.
type Options struct {
	Loop *core.Loop
	// Digest is sha256:<hex> of arguments, keyed for this installation (Spec V1-116, -117).
	Digest func(Args) string
	// Caller gives who a request comes from.
	Caller func(context.Context) (principal.Caller, bool)
	// Name is the owner's, for /v1/me.
	Name      func() string
	Language  func() text.Language
	Version   string
	Heartbeat time.Duration // 0 is the default
	// Capabilities are what she can do, as the settings of a session have it; nil for anywhere.
	Capabilities func(ctx context.Context, in *store.Session) ([]Capability, error)
	// Health is whether the log can be read and written.
	Health func(context.Context) error
	Log    *slog.Logger
}

// Server answers everything under Prefix.
type Server struct {
	o   Options
	log *slog.Logger
	mux *http.ServeMux
}

// New makes a server.
func New(o Options) *Server {
	if o.Heartbeat == 0 {
		o.Heartbeat = DefaultHeartbeat
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Language == nil {
		o.Language = func() text.Language { return text.English }
	}
	s := &Server{o: o, log: o.Log, mux: http.NewServeMux()}
	s.routes()
	return s
}

// ServeHTTP finds the endpoint.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

var errNobody = errors.New("nobody has been asked who this is")
