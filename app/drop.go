//go:build desktop || dev

package app

import (
	"crypto/rand"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// drops are the files that were dropped on the window from another program, until the page has taken
// them: a page of WebKitGTK is shown no dropped file (since 2.50.3, CVE-2025-13947). Only what a person
// has dropped can be read, once, by a name nobody can guess, and by the window's page only.
type drops struct {
	mu    sync.Mutex // guards paths
	paths map[string]string
}

// droppedFile is what the page is told of one.
type droppedFile struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// dropped is where the page reads a file by its ID.
const dropped = "/dropped/"

// take replaces what was dropped before. What is no file of this machine is left out.
func (d *drops) take(uris []string) []droppedFile {
	var files []droppedFile
	paths := make(map[string]string)
	for _, uri := range uris {
		u, err := url.Parse(strings.TrimSpace(uri))
		if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
			continue
		}
		info, err := os.Stat(u.Path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		id := rand.Text()
		paths[id] = u.Path
		files = append(files, droppedFile{ID: id, Name: filepath.Base(u.Path), Size: info.Size()})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paths = paths
	return files
}

// before serves dropped files, and everything else by next.
func (d *drops) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, ours := strings.CutPrefix(r.URL.Path, dropped)
		if !ours {
			next.ServeHTTP(w, r)
			return
		}
		d.mu.Lock()
		path, known := d.paths[id]
		delete(d.paths, id)
		d.mu.Unlock()
		file, err := openDropped(path)
		if !known || err != nil {
			http.NotFound(w, r)
			return
		}
		defer file.Close()
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Cache-Control", "no-store")
		if info, err := file.Stat(); err == nil {
			http.ServeContent(w, r, "", info.ModTime(), file)
		}
	})
}

// openDropped opens what is still a file: opening another kind, such as a pipe, could wait for ever.
func openDropped(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}
