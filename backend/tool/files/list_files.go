package files

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"aalis/backend/tool"
)

//go:embed list_files.md
var listDescription string

const (
	maxListed = 1000
	// maxInFolder bounds how many names of one folder are read.
	maxInFolder = 20_000
	// maxVisited bounds the names a deep listing looks at, listed or not.
	maxVisited = 100_000
)

type listParams struct {
	Path  string `json:"path,omitempty" jsonschema_description:"The folder, relative to the session's folder. Default: that folder itself."`
	Depth int    `json:"depth,omitempty" jsonschema:"minimum=1,maximum=10" jsonschema_description:"How many levels to list. Default: 1."`
}

func (f family) listFiles() tool.Definition {
	return tool.Define(tool.Definition{
		Name:        "list_files",
		Description: listDescription,
		Example:     json.RawMessage(`{"path":"src","depth":2}`),
		Effect:      tool.Read,
	}, func(_ context.Context, call tool.Call, p listParams) (tool.Prepared, error) {
		if p.Path == "" {
			p.Path = "."
		}
		folder, _, err := f.folderAt(call.Place, p.Path)
		if err != nil {
			return tool.Prepared{}, err
		}
		folder.Close()
		return tool.Prepared{Execute: func(ctx context.Context, _ tool.Output) (tool.Result, error) {
			return f.list(ctx, call.Place, p)
		}}, nil
	})
}

// folderAt opens the place and resolves a path that must be a folder. The caller closes.
func (f family) folderAt(place tool.Place, path string) (*tool.Folder, tool.Target, error) {
	folder, err := place.Open(f.closed...)
	if err != nil {
		return nil, tool.Target{}, err
	}
	target, err := folder.Resolve(path)
	switch {
	case err != nil:
	case target.Info == nil:
		err = folder.Missing(path, target)
	case !target.Info.IsDir():
		err = tool.Refuse(tool.InvalidArgs, "%q is a file; read it with read_file", path)
	}
	if err != nil {
		folder.Close()
		return nil, tool.Target{}, err
	}
	return folder, target, nil
}

func (f family) list(ctx context.Context, place tool.Place, p listParams) (tool.Result, error) {
	folder, target, err := f.folderAt(place, p.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer folder.Close()
	l := listing{folder: folder}
	if err := l.folderAt(ctx, target.Name, max(p.Depth, 1)); err != nil {
		return tool.Result{}, folder.Explain(p.Path, err)
	}
	if len(l.lines) == 0 {
		return tool.Result{Text: "[empty folder]"}, nil
	}
	if l.left > 0 {
		l.lines = append(l.lines, fmt.Sprintf("[%d more; list a folder below, or use find_files]", l.left))
	} else if l.incomplete {
		l.lines = append(l.lines, "[not everything was looked at: too many files]")
	}
	text, truncated := tool.Truncate(strings.Join(l.lines, "\n"))
	return tool.Result{Text: text, Truncated: truncated || l.left > 0 || l.incomplete}, nil
}

// listing collects the lines of one call in order of names.
type listing struct {
	folder     *tool.Folder
	lines      []string
	left       int // entries not listed
	visited    int
	incomplete bool
}

func (l *listing) folderAt(ctx context.Context, name string, depth int) error {
	dir, err := l.folder.Root.Open(name)
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(maxInFolder)
	dir.Close()
	if err != nil && err != io.EOF {
		return err
	}
	if len(entries) == maxInFolder {
		l.incomplete = true
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.visited++; l.visited > maxVisited {
			l.incomplete = true
			return nil
		}
		below := path.Join(filepath.ToSlash(name), entry.Name())
		descend := l.entry(below, entry)
		if depth > 1 && descend && entry.Name() != ".git" {
			// A folder that cannot be read is listed and no more.
			if err := l.folderAt(ctx, filepath.FromSlash(below), depth-1); err != nil && ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}

// entry adds one line and reports whether it is a folder to go into.
func (l *listing) entry(name string, entry fs.DirEntry) bool {
	info, err := entry.Info()
	if err != nil {
		return false // gone meanwhile
	}
	line := tool.Text([]byte(name))
	switch mode := info.Mode(); {
	case mode.IsDir():
		line += "/"
	case mode&fs.ModeSymlink != 0:
		target, _ := l.folder.Root.Readlink(filepath.FromSlash(name))
		line += " -> " + tool.Text([]byte(target))
	case mode.IsRegular():
		line += fmt.Sprintf("  (%d bytes)", info.Size())
	default:
		line += "  (special file)"
	}
	if len(l.lines) < maxListed {
		l.lines = append(l.lines, line)
	} else {
		l.left++
	}
	return info.IsDir() && !l.folder.IsClosed(info)
}
