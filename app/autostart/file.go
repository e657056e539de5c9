package autostart

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// format is how an entry is written.
type format interface {
	// render writes an entry that is on. The error says what cannot be written.
	render(e Entry) ([]byte, error)
	// read gives what an entry starts and whether it is switched off; an error for one out of form.
	read(content []byte) (c command, off bool, err error)
	// name gives what render was told of names.
	name(content []byte) (name, comment string)
	// turn switches an entry on or off and leaves all else in it.
	turn(content []byte, on bool) []byte
}

// file is an entry that is a file.
type file struct {
	path   string
	format format
}

func (f file) status(e Entry) (Status, error) {
	s, _, err := f.look(e)
	return s, err
}

// look reads the entry.
func (f file) look(e Entry) (s Status, content []byte, err error) {
	s.Place = f.path
	content, err = os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil, nil
	}
	if err != nil {
		return s, nil, fmt.Errorf("reading the autostart entry: %w", err)
	}
	c, off, err := f.format.read(content)
	s.Program, s.Edited = c.program(), !f.written(c, content)
	switch {
	case err != nil || !c.of(e.Program):
		s.State = Elsewhere
	case off:
		s.State = Suspended
	default:
		s.State = On
	}
	return s, content, nil
}

// written says whether this program wrote the entry, for whatever path and arguments: then it is what
// would be written for those.
func (f file) written(c command, content []byte) bool {
	if len(c) == 0 {
		return false
	}
	name, comment := f.format.name(content)
	ours, err := f.format.render(Entry{Program: c[0], Args: c[1:], Name: name, Comment: comment})
	return err == nil && bytes.Equal(ours, f.format.turn(content, true))
}

func (f file) set(e Entry, on bool) error {
	s, content, err := f.look(e)
	if err != nil {
		return err
	}
	ours := content != nil && !s.Edited
	switch {
	case on && s.State == Elsewhere && !ours:
		return fmt.Errorf("%s: %w", f.path, ErrForeign)
	case on && (content == nil || ours):
		wanted, err := f.format.render(e)
		if err != nil {
			return fmt.Errorf("writing the autostart entry: %w", err)
		}
		if bytes.Equal(wanted, content) {
			return nil
		}
		return f.write(wanted)
	case on && s.State == Suspended:
		return f.write(f.format.turn(content, true))
	case !on && s.State != Off && s.State != Elsewhere && ours:
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the autostart entry: %w", err)
		}
	case !on && s.State == On:
		return f.write(f.format.turn(content, false))
	}
	return nil
}

// write puts a whole file in the place: what a symbolic link names, where there is one. One that its
// owner made read-only is left as it is, although its folder would allow it.
func (f file) write(content []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing the autostart entry: %w", err)
		}
	}()
	path := f.path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
		if mode&0o200 == 0 {
			return &fs.PathError{Op: "replace", Path: path, Err: fs.ErrPermission}
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// Desktops read every file that ends as entries do.
	part, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.part")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) // gone already after the rename
	_, err = part.Write(content)
	if err = errors.Join(err, part.Chmod(mode), part.Sync(), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), path)
}
