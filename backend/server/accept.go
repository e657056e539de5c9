package server

import (
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"aalis/backend/principal"
	"aalis/backend/text"
)

// sessionProtocol may be offered beside the bearer, so that the answer need not repeat the secret.
const sessionProtocol = "aalis.session"

// acceptSession makes a WebSocket of a request and serves it to its end.
func (d *door) acceptSession(w http.ResponseWriter, r *http.Request, c principal.Caller) error {
	if c.Principal.Kind != principal.Owner && c.Principal.Kind != principal.User {
		return refuse(http.StatusForbidden, "forbidden", "door.session-kind")
	}
	if !c.Can(principal.Read) {
		return refuse(http.StatusForbidden, "forbidden", "door.scope-missing", "scope", string(principal.Read))
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		return refuse(http.StatusUpgradeRequired, "upgrade_required", "door.upgrade")
	}
	full, ok := d.sockets.reserve(c.CredentialID)
	if !ok {
		return refuse(http.StatusServiceUnavailable, "stopping", "door.stopping")
	}
	if full > 0 {
		no := refuse(http.StatusTooManyRequests, "rate_limited", "door.sockets", "max", full)
		no.retry = 5 * time.Second
		return no
	}
	var so *socket
	defer func() { d.sockets.release(c.CredentialID, so) }()

	out := newOutbox(d.o.Limits.QueueBytes)
	stop, err := d.auth.Follow(r.Context(), c, func(why text.Text) {
		out.part(parting{code: websocket.StatusPolicyViolation, reason: why.In(d.o.Language())})
	})
	if err != nil {
		return err
	}
	defer stop()

	// The library checks Origin against Host once more; it answers what is no proper upgrade.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:    acceptedProtocols(r),
		CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil
	}
	so = d.newSocket(ws, r.Context().Value(connKey{}).(*corkConn), out, c)
	d.sockets.join(so)
	so.serve(d.o.Sessions)
	return nil
}

func acceptedProtocols(r *http.Request) []string {
	accepted := []string{sessionProtocol}
	for _, protocol := range subprotocols(r) {
		if strings.HasPrefix(protocol, bearerProtocol) {
			accepted = append(accepted, protocol)
		}
	}
	return accepted
}

func (d *door) newSocket(ws *websocket.Conn, raw *corkConn, out *outbox, c principal.Caller) *socket {
	say := func(key text.Key, args ...any) string { return text.New(key, args...).In(d.o.Language()) }
	return &socket{
		ws: ws, raw: raw, out: out, limits: d.o.Limits, caller: c, seen: d.auth.Seen, large: d.large, say: say,
		slow: parting{code: websocket.StatusTryAgainLater, reason: say("door.slow")},
		log:  d.log.With("credential", c.CredentialID),
	}
}
