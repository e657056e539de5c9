package search

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"aalis/backend/tool"
)

//go:embed search_text.md
var searchDescription string

const (
	defaultResults = 100
	// maxFileBytes: a larger file is skipped, and the result says so.
	maxFileBytes = 16 << 20
	// maxLineShown is how much of a line is shown.
	maxLineShown = 300
)

type searchParams struct {
	Pattern    string `json:"pattern" jsonschema:"minLength=1" jsonschema_description:"Regular expression in RE2 syntax (no look-around or back-references), matched within single lines."`
	Path       string `json:"path,omitempty" jsonschema_description:"Folder or file to search, relative to the session's folder. Default: that folder itself."`
	Glob       string `json:"glob,omitempty" jsonschema_description:"Only files that match this glob, for example *.{ts,tsx}."`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema_description:"Treat upper and lower case alike. Default: false."`
	MaxResults int    `json:"max_results,omitempty" jsonschema:"minimum=1,maximum=1000" jsonschema_description:"How many matching lines to give at most. Default: 100."`
}

func (f family) searchText() tool.Definition {
	return tool.Define(tool.Definition{
		Name:        "search_text",
		Description: searchDescription,
		Example:     json.RawMessage(`{"pattern":"func (Open|Close)\\(","path":"backend","glob":"*.go"}`),
		Effect:      tool.Read,
	}, func(_ context.Context, call tool.Call, p searchParams) (tool.Prepared, error) {
		expression := p.Pattern
		if p.IgnoreCase {
			expression = "(?i)" + expression
		}
		pattern, err := regexp.Compile(expression)
		if err != nil {
			return tool.Prepared{}, tool.Refuse(tool.InvalidArgs, "the pattern is not a regular expression in RE2 syntax: %w", err)
		}
		var match matcher
		if p.Glob != "" {
			if match, err = newMatcher(p.Glob); err != nil {
				return tool.Prepared{}, err
			}
		}
		folder, _, err := f.start(call.Place, p.Path)
		if err != nil {
			return tool.Prepared{}, err
		}
		folder.Close()
		s := search{pattern: pattern, match: match, limit: defaultResults}
		if p.MaxResults > 0 {
			s.limit = p.MaxResults
		}
		return tool.Prepared{Execute: func(ctx context.Context, _ tool.Output) (tool.Result, error) {
			return f.search(ctx, call.Place, p.Path, s)
		}}, nil
	})
}

func (f family) search(ctx context.Context, place tool.Place, path string, s search) (tool.Result, error) {
	folder, target, err := f.start(place, path)
	if err != nil {
		return tool.Result{}, err
	}
	defer folder.Close()
	s.start = target
	note, err := bounded(ctx, func(ctx context.Context) error {
		if target.Info.IsDir() {
			return walker{folder: folder, visit: s.visit}.walk(ctx, target)
		}
		return s.file(ctx, folder.Root, target.Name, target.Slash())
	})
	if err != nil {
		return tool.Result{}, folder.Explain(path, err)
	}
	return s.result(note), nil
}

// search is one search under way.
type search struct {
	pattern *regexp.Regexp
	match   matcher
	limit   int
	start   tool.Target

	lines []string
	files int
	large []string // skipped for their size
	more  bool

	buffer bytes.Buffer // of the file at hand
}

func (s *search) visit(ctx context.Context, dir *os.Root, path string, entry fs.DirEntry) error {
	if !entry.Type().IsRegular() || !s.match.matches(path, s.start) {
		return nil
	}
	return s.file(ctx, dir, filepath.Base(filepath.FromSlash(path)), path)
}

// file searches one file; one that cannot be read or is binary is passed over.
func (s *search) file(ctx context.Context, dir *os.Root, name, path string) error {
	file, info, err := tool.OpenRegular(dir, name)
	if err != nil || file == nil {
		return nil
	}
	defer file.Close()
	if info.Size() > maxFileBytes {
		s.large = append(s.large, path)
		return nil
	}
	content, ok := s.read(file, info.Size())
	if !ok {
		return nil
	}
	if prefix, _ := s.pattern.LiteralPrefix(); prefix != "" && !bytes.Contains(content, []byte(prefix)) {
		return nil
	}
	return s.text(ctx, path, content)
}

// read gives a text file's content, good until the next call; ok is false for one that is binary or
// cannot be read. Of a binary file only the beginning is read.
func (s *search) read(file *os.File, size int64) (content []byte, ok bool) {
	s.buffer.Reset()
	s.buffer.Grow(int(size) + bytes.MinRead)
	for _, part := range []int64{8 << 10, maxFileBytes - 8<<10} {
		n, err := s.buffer.ReadFrom(io.LimitReader(file, part))
		if err != nil || tool.IsBinary(s.buffer.Bytes()) {
			return nil, false
		}
		if n < part {
			break
		}
	}
	return s.buffer.Bytes(), true
}

// checkEvery is how many lines are searched between two looks at the context.
const checkEvery = 1 << 12

func (s *search) text(ctx context.Context, path string, content []byte) error {
	found := false
	for number := 1; len(content) > 0; number++ {
		if number%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, rest, _ := bytes.Cut(content, []byte("\n"))
		content = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		at := s.pattern.FindIndex(line)
		if at == nil {
			continue
		}
		if len(s.lines) == s.limit {
			s.more = true
			return errEnough
		}
		if !found {
			found = true
			s.files++
		}
		s.lines = append(s.lines, fmt.Sprintf("%s:%d: %s", tool.Text([]byte(path)), number, excerpt(line, at)))
	}
	return nil
}

// excerpt cuts a long line around its match.
func excerpt(line []byte, at []int) string {
	if len(line) <= maxLineShown {
		return tool.Text(line)
	}
	from := max(0, min(at[0]-maxLineShown/3, len(line)-maxLineShown))
	to := from + maxLineShown
	for from > 0 && from < len(line) && !utf8.RuneStart(line[from]) {
		from++
	}
	for to < len(line) && to > from && !utf8.RuneStart(line[to]) {
		to--
	}
	text := tool.Text(line[from:to])
	if from > 0 {
		text = "…" + text
	}
	if to < len(line) {
		text += "…"
	}
	return text
}

func (s *search) result(note string) tool.Result {
	lines := s.lines
	switch {
	case len(lines) == 0:
		lines = append(lines, "[no line matches]")
	case s.more:
		lines = append(lines, fmt.Sprintf("[more than %d lines match; make the search narrower or raise max_results]", s.limit))
	default:
		lines = append(lines, fmt.Sprintf("[%d lines in %d files]", len(s.lines), s.files))
	}
	if n := len(s.large); n > 0 {
		lines = append(lines, fmt.Sprintf("[%d files over %d MiB were not searched: %s]", n, maxFileBytes>>20, strings.Join(s.large[:min(n, 5)], ", ")))
	}
	if note != "" {
		lines = append(lines, note)
	}
	text, truncated := tool.Truncate(strings.Join(lines, "\n"))
	return tool.Result{Text: text, Truncated: truncated || s.more || note != ""}
}
