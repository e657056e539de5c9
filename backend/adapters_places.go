package backend

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
	"aalis/backend/tool"
	"aalis/backend/tool/search"
	"aalis/backend/wire/session"
)

// places are the owner's folders: rows, checked against the disk.
type places struct {
	loop      *core.Loop
	workspace string // the default one
	closed    string // the data folder, which is nobody's place
}

// of gives the folder behind a session's place. One that is no longer a place has none, and its tools say
// so.
func (p places) of(key string) engine.Place {
	place := engine.Place{Key: key}
	if key == core.NoPlace {
		place.None = true
		return place
	}
	if key == "" || key == core.DefaultPlace {
		place.Root = p.workspace
		return place
	}
	_ = p.loop.Read(context.Background(), func(tx *store.ReadTx) error {
		root, found, err := tx.PlaceRoot(key)
		switch {
		case err != nil:
			return err
		case found:
			place.Root = root
		case !strings.HasPrefix(key, core.WorkspacePlace): // a room works in the default workspace
			place.Root = p.workspace
		}
		return nil
	})
	return place
}

func (p places) List(ctx context.Context, lang text.Language) ([]session.PlaceInfo, error) {
	all := []session.PlaceInfo{info(store.Project{Place: core.DefaultPlace, Name: text.New("place.default").In(lang), Root: p.workspace})}
	err := p.loop.Read(ctx, func(tx *store.ReadTx) error {
		projects, err := tx.Projects()
		for _, one := range projects {
			all = append(all, info(one))
		}
		if err == nil {
			all[0].Sessions, err = tx.SessionsAt(core.DefaultPlace)
		}
		return err
	})
	return all, err
}

func info(p store.Project) session.PlaceInfo {
	stat, err := os.Stat(p.Root)
	return session.PlaceInfo{Key: p.Place, Name: p.Name, Root: p.Root, Sessions: p.Sessions, Missing: err != nil || !stat.IsDir()}
}

func (p places) Add(ctx context.Context, path, name string) (session.PlaceInfo, error) {
	if !filepath.IsAbs(path) {
		return session.PlaceInfo{}, fault.New(fault.Invalid, text.New("place.relative", "folder", path))
	}
	root := filepath.Clean(path)
	stat, err := os.Stat(root)
	if err != nil || !stat.IsDir() {
		return session.PlaceInfo{}, fault.New(fault.Invalid, text.New("place.no-folder", "folder", root))
	}
	got, err := p.loop.Do(ctx, core.AddPlace{Root: root, Name: cmp.Or(name, filepath.Base(root))})
	if err != nil {
		return session.PlaceInfo{}, err
	}
	return info(store.Project{Place: got.ItemID, Name: strings.TrimPrefix(got.ItemID, core.WorkspacePlace), Root: root}), nil
}

// maxMentions is how many files a person is offered.
const maxMentions = 20

func (p places) Files(ctx context.Context, sessionID, key, query string) ([]string, error) {
	if sessionID != "" {
		if err := p.loop.Read(ctx, func(tx *store.ReadTx) error {
			session, err := tx.Session(sessionID)
			key = session.Place
			return err
		}); errors.Is(err, store.ErrNotFound) {
			return nil, core.NoSession(sessionID)
		} else if err != nil {
			return nil, err
		}
	}
	place := p.of(key)
	if place.Root == "" || sessionID == "" && key != "" && !strings.HasPrefix(key, core.WorkspacePlace) {
		return nil, fault.New(fault.NotFound, text.New("place.not-found", "key", key))
	}
	files, err := search.Mentions(ctx, tool.Place{Key: place.Key, Root: place.Root}, query, maxMentions, p.closed)
	if err != nil && ctx.Err() == nil { // a folder that is gone
		return nil, fault.Wrap(fault.NotFound, text.New("place.no-folder", "folder", place.Root), err)
	}
	return files, err
}

func (p places) Remove(ctx context.Context, key string) error {
	_, err := p.loop.Do(ctx, core.RemovePlace{Key: key})
	return err
}
