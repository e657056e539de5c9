package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// errNotSaved is a file that is not there any more.
var errNotSaved = errors.New("there is no such file any more; reload the conversation")

// Save asks where a file of a message is to be kept and writes it there; saved is false when the person
// thought better of it. The toolkit has no downloads of its own. address is the one the page shows it
// under, /api/session-file or /api/session-media with their parameters (decisions I10).
func (b *Bridge) Save(address, name string) (saved bool, err error) {
	if b.files == nil || b.ask == nil {
		return false, errBridgeClosed
	}
	where, err := b.ask(filepath.Base(strings.ReplaceAll(name, `\`, "/")))
	if err != nil || where == "" {
		return false, err
	}
	return true, saveTo(where, b.files, address)
}

// saveTo writes what files answers for an address. What was at the place stays until all is there.
func saveTo(where string, files http.Handler, address string) error {
	at, err := url.ParseRequestURI(address)
	if err != nil || at.IsAbs() {
		return errNotSaved
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, at.String(), nil)
	if err != nil {
		return errNotSaved
	}
	part, err := os.CreateTemp(filepath.Dir(where), "."+filepath.Base(where)+".*.part")
	if err != nil {
		return fmt.Errorf("saving the file: %w", err)
	}
	defer os.Remove(part.Name()) // gone already after the rename
	w := &fileWriter{header: http.Header{}, file: part}
	files.ServeHTTP(w, r)
	err = errors.Join(w.failed, part.Sync(), part.Close())
	switch {
	case err != nil:
		return fmt.Errorf("saving the file: %w", err)
	case w.status != http.StatusOK:
		return errNotSaved
	}
	if err := os.Rename(part.Name(), where); err != nil {
		return fmt.Errorf("saving the file: %w", err)
	}
	return nil
}

// fileWriter takes an answer into a file.
type fileWriter struct {
	header http.Header
	file   *os.File
	status int
	failed error
}

func (w *fileWriter) Header() http.Header { return w.header }

func (w *fileWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *fileWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	n, err := w.file.Write(p)
	if err != nil {
		w.failed = err
	}
	return n, err
}
