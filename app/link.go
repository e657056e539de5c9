package app

import (
	"net/url"
	"slices"
	"strings"
)

// scheme is that of the program's own links, which a package registers with the desktop.
const scheme = "aalis"

// target is where the window is to go. The zero value is wherever it was.
type target struct {
	Session string `json:"session,omitempty"`
	New     bool   `json:"new,omitempty"`
}

// parseLink reads aalis://session/ID, aalis://new and aalis://, which is where the window was; "" is the
// same. An ID is escaped like any part of a path.
func parseLink(link string) (target, error) {
	if link == "" {
		return target{}, nil
	}
	u, err := url.Parse(link)
	wrong := usage("command.link", "link", visible(link))
	if err != nil || u.Scheme != scheme || u.Opaque != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return target{}, wrong
	}
	id := strings.TrimPrefix(u.Path, "/")
	switch {
	case u.Host == "session" && id != "":
		return target{Session: id}, nil
	case u.Host == "new" && id == "":
		return target{New: true}, nil
	case u.Host == "" && id == "":
		return target{}, nil
	}
	return target{}, wrong
}

// sessionLink is the link to a session.
func sessionLink(id string) string { return scheme + "://session/" + url.PathEscape(id) }

// isLink tells an argument that is meant as a link from a mistyped command.
func isLink(arg string) bool { return strings.Contains(arg, ":") }

// againArgs are the arguments of a start that follows another, hidden or not: a link was for the first one
// only.
func againArgs(args []string, hidden bool) []string {
	const flag = "--hidden"
	again := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		return strings.HasPrefix(arg, scheme+"://") || strings.HasPrefix(arg, flag)
	})
	if hidden {
		again = append(again, flag)
	}
	return again
}
