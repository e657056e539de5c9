package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"aalis/backend/principal"
)

// Files gives what went with messages. Both methods say false for what is not there, is not the
// session's, or was named by another start; they never tell which.
type Files interface {
	// File opens what a handle of a session stands for (Spec SP-FILE-09).
	File(ctx context.Context, sessionID, handle string) (Stored, bool)
	// Media opens the n-th attachment of an item, from 0, if its bytes are an image, audio or video.
	Media(ctx context.Context, sessionID, itemID string, n int) (Stored, bool)
}

// Stored is an open file; whoever asked for it closes Content.
type Stored struct {
	Name string
	// Type is what the bytes are, not what anybody said.
	Type    string
	Content io.ReadSeekCloser
}

// mediaPolicy is for bytes of strangers that are shown: even one opened as a page can do nothing.
const mediaPolicy = "sandbox; default-src 'none'; frame-ancestors 'none'"

// downloadFile serves a file behind a handle, whatever it is as something to be kept and never as
// something to be shown (Spec SP-FILE-03, -04). Addresses of storage are no parameters of it (SP-FILE-10).
func (d *door) downloadFile(w http.ResponseWriter, r *http.Request, c principal.Caller) error {
	asked, err := d.asks(r, c, "sessionId", "handle")
	if err != nil {
		return err
	}
	file, ok := d.o.Files.File(r.Context(), asked[0], asked[1])
	if !ok {
		return refuse(http.StatusNotFound, "not_found", "door.file-gone")
	}
	defer file.Content.Close()
	serveDownload(w, r, file)
	return nil
}

// showMedia serves an image, audio or video of an item, to be shown in a page of ours (Spec README 10).
func (d *door) showMedia(w http.ResponseWriter, r *http.Request, c principal.Caller) error {
	asked, err := d.asks(r, c, "sessionId", "itemId", "n")
	if err != nil {
		return err
	}
	gone := refuse(http.StatusNotFound, "not_found", "door.file-gone")
	n, err := strconv.Atoi(asked[2])
	if err != nil {
		return gone
	}
	file, ok := d.o.Files.Media(r.Context(), asked[0], asked[1], n)
	if !ok {
		return gone
	}
	defer file.Content.Close()
	if !serveMedia(w, r, file) {
		return gone
	}
	return nil
}

// asks checks the right and gives the parameters, each of which must be there once.
func (d *door) asks(r *http.Request, c principal.Caller, names ...string) ([]string, error) {
	if !c.Can(principal.Read) {
		return nil, refuse(http.StatusForbidden, "forbidden", "wire.right-missing", "right", string(principal.Read))
	}
	if d.o.Files == nil {
		return nil, refuse(http.StatusServiceUnavailable, "unavailable", "door.file-absent")
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	values := make([]string, len(names))
	for i, name := range names {
		if err != nil || len(query[name]) != 1 || query.Get(name) == "" {
			return nil, refuse(http.StatusBadRequest, "invalid_request", "door.file-parameters", "names", strings.Join(names, ", "))
		}
		values[i] = query.Get(name)
	}
	return values, nil
}

func serveDownload(w http.ResponseWriter, r *http.Request, file Stored) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", disposition(file.Name))
	http.ServeContent(w, r, "", time.Time{}, file.Content)
}

// serveMedia is false, and has written nothing, for what is no media.
func serveMedia(w http.ResponseWriter, r *http.Request, file Stored) bool {
	family, _, _ := strings.Cut(file.Type, "/")
	if family != "image" && family != "audio" && family != "video" || strings.HasPrefix(file.Type, "image/svg") {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", file.Type)
	h.Set("Content-Disposition", "inline")
	h.Set("Content-Security-Policy", mediaPolicy)
	// What an item has never changes, and scrolling back must not read it again; but the disk of a browser
	// is not ours to erase, so nobody else's cache, and not for long.
	h.Set("Cache-Control", "private, max-age=600")
	http.ServeContent(w, r, "", time.Time{}, file.Content)
	return true
}

// disposition names a download in both forms: plain letters for old clients, and the name itself.
func disposition(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\/%;`, r) {
			return '_'
		}
		return r
	}, name)
	if plain == name {
		return fmt.Sprintf("attachment; filename=%q", plain)
	}
	encoded := mime.FormatMediaType("attachment", map[string]string{"filename": name})
	_, star, found := strings.Cut(encoded, "; ")
	if !found || !strings.HasPrefix(star, "filename*=") {
		star = "filename*=utf-8''" + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
	}
	return fmt.Sprintf("attachment; filename=%q; %s", plain, star)
}

// FilesHandler serves the same two addresses without a credential: for the desktop window, whose pages are
// its owner's and whose requests never leave the process (decisions I10).
func FilesHandler(files Files) http.Handler {
	d := &door{o: Options{Files: files}}
	serve := func(serve func(http.ResponseWriter, *http.Request, principal.Caller) error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			setHeaders(w.Header())
			err := serve(w, r, principal.DesktopCaller())
			if no, refused := errors.AsType[*refusal](err); refused {
				http.Error(w, no.message.String(), no.status)
			}
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+filePath, serve(d.downloadFile))
	mux.Handle("GET "+mediaPath, serve(d.showMedia))
	return mux
}

// Where files are served.
const (
	filePath  = "/api/session-file"
	mediaPath = "/api/session-media"
)
