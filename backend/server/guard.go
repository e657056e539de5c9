package server

import (
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"aalis/backend/text"
)

// refusal is why the door says no. It is an error that every handler of this package may return.
type refusal struct {
	status  int
	code    string
	message text.Text
	retry   time.Duration // for 429
	allow   string        // for 405
}

func (r *refusal) Error() string { return r.code + ": " + r.message.String() }

func refuse(status int, code string, key text.Key, args ...any) *refusal {
	return &refusal{status: status, code: code, message: text.New(key, args...)}
}

func ownName(installation string) string { return "aalis-" + installation + ".localhost" }

// checkHost lets a request through only under a name of ours, spelled exactly, with the port it came
// in on (SEC-03). It looks at nothing else, so that a name that was rebound to loopback reaches no
// code at all. The message does not tell our own name: cookies are given out under it.
func checkHost(r *http.Request, own string) *refusal {
	no := refuse(http.StatusMisdirectedRequest, "misdirected", "door.host")
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok || r.URL.Host != "" || r.Host == "" { // a URL with a host is a request to a proxy
		return no
	}
	port := strconv.Itoa(local.Port)
	for _, name := range []string{"127.0.0.1", "[::1]", "localhost", own} {
		if r.Host == name+":"+port || port == "80" && r.Host == name {
			return nil
		}
	}
	return no
}

// one gives the value of a header that may stand once; ok is false when it stands more often.
func one(r *http.Request, header string) (value string, ok bool) {
	values := r.Header.Values(header)
	switch len(values) {
	case 0:
		return "", true
	case 1:
		return values[0], true
	}
	return "", false
}

// checkOrigin lets a request through only if no page of another origin can have caused it (SEC-04).
// The one exception is going to a page of ours by a link: it carries no credential and tells the
// other page nothing. There is no CORS: what would ask for it is refused (SEC-05).
func checkOrigin(r *http.Request, page bool) *refusal {
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		return refuse(http.StatusForbidden, "forbidden", "door.preflight")
	}
	no := refuse(http.StatusForbidden, "forbidden", "door.origin")
	origin, once := one(r, "Origin")
	if !once || len(r.Header.Values("Origin")) == 1 && origin != "http://"+r.Host {
		return no
	}
	site, once := one(r, "Sec-Fetch-Site")
	if !once {
		return no
	}
	switch site {
	case "", "same-origin", "none":
		return nil
	case "cross-site", "same-site":
		toPage := page && !changes(r.Method) && origin == "" &&
			r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		if toPage {
			return nil
		}
	}
	return no
}

// changes reports whether a method may change something. GET never does here (SEC-06).
func changes(method string) bool { return method != http.MethodGet && method != http.MethodHead }

// cookieCounts reports whether a cookie of this request is to be believed: under our own name only,
// because cookies of 127.0.0.1 are shared by all its ports, and from a page of that name only.
// checkOrigin has passed, so an Origin that is there is exactly ours.
func cookieCounts(r *http.Request, own string) bool {
	name, _, found := strings.Cut(r.Host, ":")
	if !found {
		name = r.Host
	}
	return name == own && (r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") == "same-origin")
}

// cleanPath reports whether a path means what it says; anything with "..", "//" or "." in it would be
// redirected by the standard library, and no client of ours sends it.
func cleanPath(p string) bool {
	if !strings.HasPrefix(p, "/") {
		return false
	}
	cleaned := path.Clean(p)
	return p == cleaned || p == cleaned+"/" && cleaned != "/"
}
