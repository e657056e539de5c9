package search

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"aalis/backend/tool"
)

// How far a person who types a name is searched for.
const (
	mentionWithin = 2 * time.Second
	mentionFiles  = 50_000
)

// Mentions finds files of a place by what a person has typed of them, best first: those whose name begins
// with it, then those whose name holds it, then those whose path does, shorter paths before longer ones;
// case is no matter. Without a query it gives files near the top. What .gitignore leaves out is left out.
// A large place is searched for two seconds and 50,000 files.
func Mentions(ctx context.Context, place tool.Place, query string, limit int, closed ...string) ([]string, error) {
	folder, target, err := family{closed: closed}.start(place, "")
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	limited, cancel := context.WithTimeout(ctx, mentionWithin)
	defer cancel()
	query = strings.ToLower(strings.TrimPrefix(query, "./"))
	seen := 0
	var found []mention
	err = walker{folder: folder, visit: func(_ context.Context, _ *os.Root, path string, _ fs.DirEntry) error {
		if seen++; seen > mentionFiles {
			return errEnough
		}
		if fit, ok := fits(path, query); ok {
			found = append(found, mention{path, fit})
		}
		return nil
	}}.walk(limited, target)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && limited.Err() == nil && seen <= mentionFiles {
		return nil, folder.Explain(".", err)
	}
	slices.SortFunc(found, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.fit, b.fit), cmp.Compare(len(a.path), len(b.path)), strings.Compare(a.path, b.path))
	})
	paths := make([]string, 0, min(limit, len(found)))
	for _, m := range found[:min(limit, len(found))] {
		paths = append(paths, tool.Text([]byte(m.path)))
	}
	return paths, nil
}

type mention struct {
	path string
	fit  int // 0 is best
}

func fits(path, query string) (fit int, ok bool) {
	lower := strings.ToLower(path)
	name := lower[strings.LastIndexByte(lower, '/')+1:]
	switch {
	case query == "":
		return strings.Count(lower, "/"), true
	case strings.HasPrefix(name, query), strings.HasPrefix(lower, query):
		return 0, true
	case strings.Contains(name, query):
		return 1, true
	}
	return 2, strings.Contains(lower, query)
}
