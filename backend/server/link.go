package server

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"aalis/backend/fault"
	"aalis/backend/text"
)

// Opener is the one way by which the program hands a link to the system (SEC-12). Links stand in what
// models and tools write, so a scheme that starts a program or reads a file must never pass.
type Opener struct{ open func(link string) error }

// NewOpener makes an opener over the system's own, such as the window's BrowserOpenURL.
func NewOpener(open func(link string) error) *Opener { return &Opener{open: open} }

// Open hands over a link that CheckLink lets through; otherwise nothing is opened and the fault shows
// the link.
func (o *Opener) Open(link string) error {
	if err := CheckLink(link); err != nil {
		return err
	}
	return o.open(link)
}

const (
	maxLink  = 8 << 10
	maxShown = 200
)

// CheckLink lets http, https and mailto through, spelled so that every reader understands the same
// address: no control or invisible characters, no backslashes, no spaces, and no user name in front of
// the host to be mistaken for it. The fault shows the link with such characters made visible.
func CheckLink(link string) error {
	odd := func(c rune) bool { return c == '\\' || unicode.IsSpace(c) || !unicode.IsPrint(c) }
	u, err := url.Parse(link)
	ok := err == nil && len(link) <= maxLink && !strings.ContainsFunc(link, odd)
	if ok {
		switch u.Scheme { // lower case by url.Parse
		case "http", "https":
			ok = u.Hostname() != "" && u.User == nil
		case "mailto":
			ok = u.Opaque != "" && u.Host == ""
		default:
			ok = false
		}
	}
	if ok {
		return nil
	}
	return fault.New(fault.Forbidden, text.New("door.link", "link", shownLink(link)))
}

func shownLink(link string) string {
	if runes := []rune(link); len(runes) > maxShown {
		link = string(runes[:maxShown]) + "…"
	}
	return strconv.Quote(link)
}
