// Package files owns the tools that read, write, edit and list files of the session's folder. A
// file that is only read is never touched. A change is computed while it is prepared, shown as a
// diff, and made in one step when it runs, and only if the file still is what the diff was made
// from. The package never leaves the folder, by name or through links (tool.Folder), and never
// remembers anything between calls.
package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"aalis/backend/tool"
)

// All are the tools of this family. closed are absolute paths they may not enter although they lie
// inside a session's folder: the program's own data, where reading would need no asking.
func All(closed ...string) []tool.Definition {
	f := family{closed: closed}
	return []tool.Definition{f.readFile(), f.writeFile(), f.editFile(), f.listFiles()}
}

type family struct{ closed []string }

// at opens the place and resolves a path that must name a file, there or not. The caller closes the
// folder.
func (f family) at(place tool.Place, path string) (*tool.Folder, tool.Target, error) {
	folder, err := place.Open(f.closed...)
	if err != nil {
		return nil, tool.Target{}, err
	}
	target, err := folder.Resolve(path)
	switch {
	case err != nil:
	case target.Info != nil && !target.Info.Mode().IsRegular():
		err = tool.NotAFile(path, target.Info)
	case strings.HasSuffix(path, "/"):
		err = tool.Refuse(tool.InvalidArgs, "%q names a folder; a file's path does not end with \"/\"", path)
	}
	if err != nil {
		folder.Close()
		return nil, tool.Target{}, err
	}
	return folder, target, nil
}

// state is what a file was when it was looked at; the zero value is a file that did not exist.
type state struct {
	exists bool
	hash   [sha256.Size]byte
	info   os.FileInfo
}

// same reports whether the content (or its absence) is still the one of s.
func (s state) same(now state) bool { return s.exists == now.exists && s.hash == now.hash }

// look reads a file's state, and its content when it is at most keep bytes long (else nil).
func look(ctx context.Context, folder *tool.Folder, path string, target tool.Target, keep int64) (state, []byte, error) {
	if target.Info == nil {
		return state{}, nil, nil
	}
	file, info, err := folder.OpenFile(path, target)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return state{}, nil, nil
		}
		return state{}, nil, err
	}
	defer file.Close()
	var content []byte
	if info.Size() <= keep {
		content = make([]byte, 0, info.Size())
	}
	sum := sha256.New()
	buffer := make([]byte, 64<<10)
	for total := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return state{}, nil, err
		}
		n, err := file.Read(buffer)
		sum.Write(buffer[:n])
		if total += int64(n); total > keep {
			content = nil
		} else if content != nil {
			content = append(content, buffer[:n]...)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return state{}, nil, folder.Explain(path, err)
		}
	}
	return state{exists: true, hash: [sha256.Size]byte(sum.Sum(nil)), info: info}, content, nil
}

// binary is the error for a file that is not text.
func binary(path string, head []byte, size int64) error {
	kind := http.DetectContentType(head)
	if strings.HasPrefix(kind, "text/plain; charset=utf-16") {
		return tool.Refuse(tool.Failed, "%q is UTF-16 text (%d bytes), which this tool does not handle; convert it to UTF-8 with a command", path, size)
	}
	return tool.Refuse(tool.Failed, "%q is a binary file (%s, %d bytes), not text", path, kind, size)
}

// lossy reports whether showing b as text changes it.
func lossy(b []byte) bool {
	return !utf8.Valid(b) || strings.ContainsRune(string(b), 0)
}
