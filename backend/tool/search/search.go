// Package search owns the tools that find files by name and by content. Both walk the session's
// folder in one fixed order, leave out what .gitignore leaves out, and stop after a bounded time
// and number of results, saying so. The package never follows a link, never leaves the folder
// (tool.Folder), and never writes.
//
//	find_files, search_text   prepare: compile the pattern; execute:
//	  walker                  folders in order, ignore rules of each level
//	    ignore, glob          what .gitignore and patterns mean
package search

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aalis/backend/tool"
)

// maxDuration bounds one search; what was found until then is the result.
const maxDuration = 20 * time.Second

// All are the tools of this family. closed are absolute paths they may not enter although they lie
// inside a session's folder.
func All(closed ...string) []tool.Definition {
	f := family{closed: closed}
	return []tool.Definition{f.findFiles(), f.searchText()}
}

type family struct{ closed []string }

// start opens the place and resolves where a search begins; the caller closes the folder.
func (f family) start(place tool.Place, path string) (*tool.Folder, tool.Target, error) {
	if path == "" {
		path = "."
	}
	folder, err := place.Open(f.closed...)
	if err != nil {
		return nil, tool.Target{}, err
	}
	target, err := folder.Resolve(path)
	if err == nil && target.Info == nil {
		err = folder.Missing(path, target)
	}
	if err == nil && !target.Info.IsDir() && !target.Info.Mode().IsRegular() {
		err = tool.NotAFile(path, target.Info)
	}
	if err != nil {
		folder.Close()
		return nil, tool.Target{}, err
	}
	return folder, target, nil
}

// errEnough ends a walk whose result is full.
var errEnough = errors.New("enough results")

// bounded runs walk within maxDuration and gives the note about why it ended early, "" when it did
// not. An error is ctx's own, or one of the file system.
func bounded(ctx context.Context, walk func(context.Context) error) (note string, err error) {
	limited, cancel := context.WithTimeout(ctx, maxDuration)
	defer cancel()
	err = walk(limited)
	switch {
	case err == nil, errors.Is(err, errEnough):
		return "", nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return fmt.Sprintf("[ended after %d s: not every file was looked at; search a smaller folder]", int(maxDuration.Seconds())), nil
	}
	return "", err
}
