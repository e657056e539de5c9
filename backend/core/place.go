package core

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// WorkspacePlace begins the keys of folders (decisions B33).
const WorkspacePlace = "workspace:"

// maxPlaceName bounds a place's name, in characters.
const maxPlaceName = 64

// AddPlace makes a folder a place in which sessions can be filed. Whether the folder is there is for the
// caller to know. Its key is made of its name, which is unique. fault.Conflict for a folder that is a
// place already.
type AddPlace struct {
	Root string // absolute
	Name string
}

func (c AddPlace) run(w *write) (Receipt, error) {
	name := strings.TrimSpace(c.Name)
	if name == "" || utf8.RuneCountInString(name) > maxPlaceName || strings.ContainsFunc(name, unicode.IsControl) {
		return Receipt{}, fault.New(fault.Invalid, text.New("place.bad-name", "max", maxPlaceName))
	}
	all, err := w.Projects()
	if err != nil {
		return Receipt{}, err
	}
	for _, p := range all {
		if p.Root == c.Root {
			return Receipt{}, fault.New(fault.Conflict, text.New("place.there", "folder", c.Root, "name", p.Name))
		}
		if strings.EqualFold(p.Name, name) {
			return Receipt{}, fault.New(fault.Conflict, text.New("place.name-taken", "name", name))
		}
	}
	key := WorkspacePlace + name
	if key == DefaultPlace {
		return Receipt{}, fault.New(fault.Conflict, text.New("place.name-taken", "name", name))
	}
	if err := w.PutProject(store.Project{ID: event.NewID(), Place: key, Name: name, Root: c.Root}); err != nil {
		return Receipt{}, err
	}
	return w.set(true, Receipt{ItemID: key}), nil
}

// RemovePlace forgets a folder. Nothing in it is touched; sessions that live there stay, and have no folder
// to work in any more.
type RemovePlace struct{ Key string }

func (c RemovePlace) run(w *write) (Receipt, error) {
	dropped, err := w.DropProject(c.Key)
	if err != nil {
		return Receipt{}, err
	}
	if !dropped {
		return Receipt{}, fault.New(fault.NotFound, text.New("place.not-found", "key", c.Key))
	}
	return w.set(true, Receipt{}), nil
}

// place gives the key a new root session is to live at: a window's as it is, a folder's if it is known.
func (w *write) place(key string) (string, error) {
	if key == "" || key == DefaultPlace {
		return DefaultPlace, nil
	}
	if !strings.HasPrefix(key, WorkspacePlace) {
		return key, nil
	}
	_, found, err := w.PlaceRoot(key)
	if err == nil && !found {
		err = fault.New(fault.NotFound, text.New("place.not-found", "key", key))
	}
	return key, err
}
