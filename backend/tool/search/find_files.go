package search

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"aalis/backend/tool"
)

//go:embed find_files.md
var findDescription string

// maxFound bounds how many paths one call gives.
const maxFound = 500

type findParams struct {
	Pattern string `json:"pattern" jsonschema:"minLength=1" jsonschema_description:"Glob for the file's name, or with a slash for its path below the start folder."`
	Path    string `json:"path,omitempty" jsonschema_description:"Folder to start from, relative to the session's folder. Default: that folder itself."`
}

func (f family) findFiles() tool.Definition {
	return tool.Define(tool.Definition{
		Name:        "find_files",
		Description: findDescription,
		Example:     json.RawMessage(`{"pattern":"**/*_test.go","path":"backend"}`),
		Effect:      tool.Read,
	}, func(_ context.Context, call tool.Call, p findParams) (tool.Prepared, error) {
		match, err := newMatcher(p.Pattern)
		if err != nil {
			return tool.Prepared{}, err
		}
		folder, target, err := f.start(call.Place, p.Path)
		if err != nil {
			return tool.Prepared{}, err
		}
		defer folder.Close()
		if !target.Info.IsDir() {
			return tool.Prepared{}, tool.Refuse(tool.InvalidArgs, "%q is a file; path must be a folder", p.Path)
		}
		return tool.Prepared{Execute: func(ctx context.Context, _ tool.Output) (tool.Result, error) {
			return f.find(ctx, call.Place, p.Path, match)
		}}, nil
	})
}

func (f family) find(ctx context.Context, place tool.Place, start string, match matcher) (tool.Result, error) {
	folder, target, err := f.start(place, start)
	if err != nil {
		return tool.Result{}, err
	}
	defer folder.Close()
	var found []string
	more := false
	w := walker{folder: folder, visit: func(_ context.Context, _ *os.Root, path string, _ fs.DirEntry) error {
		if !match.matches(path, target) {
			return nil
		}
		if len(found) == maxFound {
			more = true
			return errEnough
		}
		found = append(found, tool.Text([]byte(path)))
		return nil
	}}
	note, err := bounded(ctx, func(ctx context.Context) error { return w.walk(ctx, target) })
	if err != nil {
		return tool.Result{}, folder.Explain(start, err)
	}
	lines := found
	if len(lines) == 0 {
		lines = append(lines, "[no files match]")
	}
	if more {
		lines = append(lines, fmt.Sprintf("[more than %d files match; make the pattern or the folder narrower]", maxFound))
	}
	if note != "" {
		lines = append(lines, note)
	}
	text, truncated := tool.Truncate(strings.Join(lines, "\n"))
	return tool.Result{Text: text, Truncated: truncated || more || note != ""}, nil
}

// matcher is a glob as both tools take it.
type matcher struct {
	pattern  *regexp.Regexp
	nameOnly bool
}

func newMatcher(glob string) (matcher, error) {
	cleaned := strings.TrimPrefix(glob, "./")
	switch {
	case strings.HasPrefix(cleaned, "/"):
		return matcher{}, tool.Refuse(tool.InvalidArgs, "the pattern %q begins with a slash; patterns are relative to path", glob)
	case slices.Contains(strings.Split(cleaned, "/"), ".."):
		return matcher{}, tool.Refuse(tool.InvalidArgs, `the pattern %q goes upwards with ".."; give the folder as path`, glob)
	case strings.HasSuffix(cleaned, "/"):
		return matcher{}, tool.Refuse(tool.InvalidArgs, "the pattern %q matches folders only; for the files in them write %q", glob, glob+"**")
	}
	compiled, err := compileGlob(cleaned, true)
	if err != nil {
		return matcher{}, tool.Refuse(tool.InvalidArgs, "%w", err)
	}
	return matcher{pattern: compiled, nameOnly: !strings.Contains(cleaned, "/") && cleaned != "**"}, nil
}

// matches tests a path of the place against the glob, taken from start on.
func (m matcher) matches(path string, start tool.Target) bool {
	if m.pattern == nil {
		return true
	}
	if m.nameOnly {
		return m.pattern.MatchString(path[strings.LastIndexByte(path, '/')+1:])
	}
	if start.Name != "." {
		path = strings.TrimPrefix(path, start.Slash()+"/")
	}
	return m.pattern.MatchString(path)
}
