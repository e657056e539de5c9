package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/text"
)

// access says whom an address of the door's own is for.
type access int

const (
	anyone access = iota
	signedIn
	ownerToken
)

// endpoint is one method of an address of the door's own.
type endpoint struct {
	access access
	serve  func(w http.ResponseWriter, r *http.Request, c principal.Caller) error
}

// maxDoorBody bounds what the door's own addresses read.
const maxDoorBody = 64 << 10

// route is what stands behind one address pattern. Exactly one of its fields is set.
type route struct {
	methods map[string]endpoint
	mount   *Mount
	pages   bool
}

// door decides on every request, whatever its path.
type door struct {
	o       Options
	own     string // our own name
	auth    *principal.Authority
	mux     *http.ServeMux
	pages   http.Handler
	buckets *buckets
	pairing *buckets
	sockets *sockets
	large   chan struct{}
	log     *slog.Logger
}

func newDoor(o Options, s *sockets) *door {
	d := &door{
		o: o, own: ownName(o.Installation), auth: o.Authority, mux: http.NewServeMux(), pages: newPages(o.Pages),
		buckets: newBuckets(o.Limits), pairing: newBuckets(Limits{Rate: pairRate, Burst: pairBurst}), sockets: s, large: make(chan struct{}, o.Limits.LargeReads), log: o.Log,
	}
	d.routes()
	return d
}

// routes registers every address. The mux only finds: serving goes through serveRoute.
func (d *door) routes() {
	own := map[string]map[string]endpoint{
		"/signin":                      {http.MethodPost: {anyone, d.signIn}},
		"/auth":                        {http.MethodGet: {signedIn, d.showAuth}},
		"/signout":                     {http.MethodPost: {signedIn, d.signOut}},
		"/session":                     {http.MethodGet: {signedIn, d.acceptSession}},
		"/v1/health":                   {http.MethodGet: {anyone, d.showHealth}},
		"/api/models/{service}":        {http.MethodGet: {signedIn, d.listChoices}},
		filePath:                       {http.MethodGet: {signedIn, d.downloadFile}},
		mediaPath:                      {http.MethodGet: {signedIn, d.showMedia}},
		"/internal/signin-code":        {http.MethodPost: {ownerToken, d.makeCode}},
		"/pair":                        {http.MethodPost: {anyone, d.pair}},
		"/pair/renew":                  {http.MethodPost: {signedIn, d.renew}},
		"/internal/pair-code":          {http.MethodPost: {ownerToken, d.makePairCode}},
		"/internal/activate":           {http.MethodPost: {ownerToken, d.activate}},
		"/internal/tokens":             {http.MethodGet: {ownerToken, d.listTokens}, http.MethodPost: {ownerToken, d.createToken}},
		"/internal/tokens/{id}/revoke": {http.MethodPost: {ownerToken, d.revokeToken}},
	}
	for pattern, mount := range d.o.Mounts {
		delete(own, pattern) // a protocol may bring its own health
		d.handle(pattern, route{mount: &mount})
	}
	for pattern, methods := range own {
		d.handle(pattern, route{methods: methods})
	}
	d.handle("/", route{pages: true})
}

func (d *door) handle(pattern string, rt route) {
	d.mux.Handle(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.serveRoute(w, r, rt) }))
}

// ServeHTTP checks where the request comes from before anything else looks at it, and logs how it
// ended: never a header, a query or a body.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	answer := &recorder{ResponseWriter: w}
	setHeaders(w.Header())
	defer func() {
		level := slog.LevelInfo
		if answer.status >= 400 {
			level = slog.LevelWarn
		}
		d.log.Log(r.Context(), level, "request", "method", r.Method, "path", shorten(r.URL.Path), "status", answer.status,
			"credential", answer.credential, "refused", answer.refused, "ms", time.Since(began).Milliseconds())
	}()
	if no := checkHost(r, d.own); no != nil {
		d.answer(answer, r, nil, no)
		return
	}
	page := false
	if cleanPath(r.URL.Path) {
		_, pattern := d.mux.Handler(r)
		page = pattern == "/" || pattern == "/signin"
	}
	if no := checkOrigin(r, page); no != nil {
		d.answer(answer, r, nil, no)
		return
	}
	if !cleanPath(r.URL.Path) {
		d.answer(answer, r, nil, refuse(http.StatusNotFound, "not_found", "door.not-found"))
		return
	}
	d.mux.ServeHTTP(answer, r)
}

func shorten(path string) string {
	if len(path) > 200 {
		return path[:200]
	}
	return path
}

func (d *door) serveRoute(w http.ResponseWriter, r *http.Request, rt route) {
	asks, known := rt.methods[r.Method]
	switch {
	case rt.mount != nil:
		d.serveMount(w, r, rt.mount)
	case rt.pages, !known && r.URL.Path == "/signin" && !changes(r.Method):
		if err := d.pace("pages"); err != nil {
			d.answer(w, r, nil, err)
			return
		}
		d.pages.ServeHTTP(w, r)
	case !known:
		no := refuse(http.StatusMethodNotAllowed, "method_not_allowed", "door.method", "allow", allowed(rt.methods))
		no.allow = allowed(rt.methods)
		d.answer(w, r, nil, no)
	default:
		if err := d.serveOwn(w, r, asks); err != nil {
			d.answer(w, r, nil, err)
		}
	}
}

func allowed(methods map[string]endpoint) string {
	var names []string
	for _, name := range []string{http.MethodGet, http.MethodPost} {
		if _, has := methods[name]; has {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func (d *door) serveOwn(w http.ResponseWriter, r *http.Request, asks endpoint) error {
	var caller principal.Caller
	if asks.access == anyone {
		if err := d.pace("anyone"); err != nil {
			return err
		}
	} else {
		var err error
		if caller, err = d.identify(r); err != nil {
			return d.paced("anyone", err)
		}
		note(w, caller)
		if err := d.pace(caller.CredentialID); err != nil {
			return err
		}
		if asks.access == ownerToken && caller.Via != principal.ViaOwnerToken {
			return refuse(http.StatusForbidden, "forbidden", "door.owner-only")
		}
	}
	if err := d.bound(w, r, maxDoorBody); err != nil {
		return err
	}
	return asks.serve(w, r, caller)
}

// pace takes from a credential's bucket, or refuses with the time to wait.
func (d *door) pace(id string) error { return paceOf(d.buckets, id) }

func paceOf(b *buckets, id string) error {
	wait := b.take(id, time.Now())
	if wait == 0 {
		return nil
	}
	seconds := int(math.Ceil(wait.Seconds()))
	no := refuse(http.StatusTooManyRequests, "rate_limited", "door.rate", "seconds", seconds)
	no.retry = time.Duration(seconds) * time.Second
	return no
}

// paced is err, unless even refusing comes too often.
func (d *door) paced(id string, err error) error {
	if often := d.pace(id); often != nil {
		return often
	}
	return err
}

type callerKey struct{}

// CallerOf gives who a request handed to a Mount comes from; false on a public mount without a
// credential.
func CallerOf(ctx context.Context) (principal.Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(principal.Caller)
	return c, ok
}

// defaultMaxBody is Spec V1-041's bound.
const defaultMaxBody = 1 << 20

func (d *door) serveMount(w http.ResponseWriter, r *http.Request, m *Mount) {
	caller, err := d.identify(r)
	id := caller.CredentialID
	if _, absent := errors.AsType[*noCredential](err); absent && m.Public {
		id, err = "anyone", nil
	}
	if err != nil {
		d.answer(w, r, m, d.paced("anyone", err))
		return
	}
	if err := d.pace(id); err != nil {
		d.answer(w, r, m, err)
		return
	}
	if err := d.bound(w, r, orDefault(m.MaxBody, defaultMaxBody)); err != nil {
		d.answer(w, r, m, err)
		return
	}
	if caller.CredentialID != "" {
		note(w, caller)
		// A stream ends with its credential.
		ctx, cancel := context.WithCancel(context.WithValue(r.Context(), callerKey{}, caller))
		defer cancel()
		stop, err := d.auth.Follow(ctx, caller, func(text.Text) { cancel() })
		if err != nil {
			d.answer(w, r, m, err)
			return
		}
		defer stop()
		r = r.WithContext(ctx)
	}
	m.Handler.ServeHTTP(w, r)
}

func orDefault(n, otherwise int64) int64 {
	if n == 0 {
		return otherwise
	}
	return n
}

// noCredential is the refusal of a request that shows none, or only a cookie that does not count.
type noCredential struct{ refusal }

func (e *noCredential) Unwrap() error { return &e.refusal }

// maxCookies bounds how many values of ap_session are looked up. Several can come with one request,
// because every port of our name may set one; a planted one must not hide the good one.
const maxCookies = 4

const cookieName = "ap_session" // Spec V1-017

// identify tells who calls. A bearer decides alone, even where a cookie is good (Spec V1-030).
func (d *door) identify(r *http.Request) (principal.Caller, error) {
	if secret, shown, err := bearer(r); err != nil {
		return principal.Caller{}, err
	} else if shown {
		device, once := one(r, deviceHeader)
		if !once {
			return principal.Caller{}, refuse(http.StatusUnauthorized, "unauthenticated", "door.device-other")
		}
		return d.auth.BearerFrom(r.Context(), secret, device)
	}
	cookies := r.CookiesNamed(cookieName)
	absent := text.Key("door.credential-absent")
	if len(cookies) > 0 && !cookieCounts(r, d.own) {
		cookies, absent = nil, "door.cookie-uncounted"
	}
	if len(cookies) == 0 {
		return principal.Caller{}, &noCredential{*refuse(http.StatusUnauthorized, "unauthenticated", absent)}
	}
	if changes(r.Method) && r.Header.Get("Origin") == "" {
		return principal.Caller{}, refuse(http.StatusForbidden, "forbidden", "door.cookie-write")
	}
	var last error
	for _, cookie := range cookies[:min(len(cookies), maxCookies)] {
		caller, err := d.auth.Cookie(r.Context(), cookie.Value)
		if _, no := principal.IsUnauthenticated(err); !no {
			return caller, err
		}
		last = err
	}
	return principal.Caller{}, last
}

// bearerProtocol begins the WebSocket subprotocol that carries a bearer; a browser cannot set headers
// there.
const bearerProtocol = "aalis.bearer."

// bearer finds the secret of the Authorization header, or of the subprotocol at /session.
func bearer(r *http.Request) (secret string, shown bool, err error) {
	header, once := one(r, "Authorization")
	if !once {
		return "", false, refuse(http.StatusUnauthorized, "unauthenticated", "door.credential-unknown")
	}
	if header != "" {
		scheme, secret, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return "", false, refuse(http.StatusUnauthorized, "unauthenticated", "door.credential-unknown")
		}
		return strings.TrimSpace(secret), true, nil
	}
	if r.URL.Path != "/session" {
		return "", false, nil
	}
	for _, protocol := range subprotocols(r) {
		if secret, found := strings.CutPrefix(protocol, bearerProtocol); found {
			return secret, true, nil
		}
	}
	return "", false, nil
}

func subprotocols(r *http.Request) []string {
	var all []string
	for _, header := range r.Header.Values("Sec-WebSocket-Protocol") {
		for protocol := range strings.SplitSeq(header, ",") {
			all = append(all, strings.TrimSpace(protocol))
		}
	}
	return all
}

// bound reads the body whole, within size and time, so that no handler waits for a client.
func (d *door) bound(w http.ResponseWriter, r *http.Request, most int64) error {
	large := refuse(http.StatusRequestEntityTooLarge, "payload_too_large", "door.body-large", "max", most)
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(d.o.Limits.BodyTime)); err != nil {
		return err
	}
	if r.ContentLength > most {
		discard(r.Body)
		return large
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, "timeout", "door.body-slow")
	case err != nil:
		return refuse(http.StatusBadRequest, "invalid_request", "door.body-slow")
	case int64(len(body)) > most:
		discard(r.Body)
		return large
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return control.SetReadDeadline(time.Time{})
}

// maxDiscard is how much of a body that is too large is still read: a client that is cut off while it
// writes would not see why.
const maxDiscard = 8 << 20

func discard(body io.Reader) { _, _ = io.CopyN(io.Discard, body, maxDiscard) }

// answer writes a refusal, in the mount's form where it has one. What is no refusal is logged and
// told as a fixed sentence.
func (d *door) answer(w http.ResponseWriter, r *http.Request, m *Mount, err error) {
	no, known := errors.AsType[*refusal](err)
	if !known {
		no = d.refusalOf(r, err)
	}
	if recorder, ok := w.(*recorder); ok {
		recorder.refused = no.message.Key
	}
	h := w.Header()
	if no.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="aalis"`)
	}
	if no.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int(no.retry.Seconds())))
	}
	if no.allow != "" {
		h.Set("Allow", no.allow)
	}
	message := no.message.In(d.o.Language())
	if m != nil && m.Refuse != nil {
		m.Refuse(w, r, no.status, no.code, message)
		return
	}
	var body struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	body.Error.Code, body.Error.Message = no.code, message
	writeJSON(w, no.status, body)
}

func (d *door) refusalOf(r *http.Request, err error) *refusal {
	if e, ok := principal.IsUnauthenticated(err); ok {
		return &refusal{status: http.StatusUnauthorized, code: "unauthenticated", message: e.Message}
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		switch f.Code {
		case fault.Invalid:
			return &refusal{status: http.StatusBadRequest, code: "invalid_request", message: f.Message}
		case fault.NotFound:
			return &refusal{status: http.StatusNotFound, code: "not_found", message: f.Message}
		}
	}
	d.log.ErrorContext(r.Context(), "request failed", "path", shorten(r.URL.Path), "error", err)
	return &refusal{status: http.StatusInternalServerError, code: "internal", message: text.New("internal")}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil { // only values of this package come here
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // a client that left is nobody's error
}

// recorder keeps for the log how a request ended. Unwrap lets http.ResponseController through.
type recorder struct {
	http.ResponseWriter
	status     int
	credential string
	refused    text.Key
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(p)
}

// Flush is for streams that look for http.Flusher.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func note(w http.ResponseWriter, c principal.Caller) {
	if r, ok := w.(*recorder); ok {
		r.credential = c.CredentialID
	}
}
