package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Place is where a call may act: the session's folder. Every path is taken relative to Root and
// confined to it by os.Root.
type Place struct {
	Key  string
	Root string // absolute
}

// Folder is an open Place. Every name given to Root must come from Resolve: Resolve makes errors a
// model can act on, and os.Root holds the border even when the tree changes in between.
type Folder struct {
	Root   *os.Root
	dir    string // the place's root as given
	real   string // the same with its links resolved
	closed []os.FileInfo
}

// Target is a path after every link in it was followed.
type Target struct {
	Name string      // relative to the folder, link-free, "." for the folder itself
	Info os.FileInfo // nil when nothing is there
}

// Slash is the name with forward slashes, as models and people read it.
func (t Target) Slash() string { return filepath.ToSlash(t.Name) }

// Open opens the place. closed are absolute paths no tool may enter even though they lie inside,
// the program's own data foremost; a closed folder that holds the whole place closes nothing. The
// caller closes the Folder.
func (p Place) Open(closed ...string) (*Folder, error) {
	if p.Root == "" {
		return nil, Refuse(Failed, "this session has no folder to work in")
	}
	if !filepath.IsAbs(p.Root) {
		return nil, Refuse(Failed, "the folder of this session is not an absolute path: %s", p.Root)
	}
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return nil, Refuse(Failed, "the folder of this session cannot be opened: %w", err)
	}
	folder := &Folder{Root: root, dir: filepath.Clean(p.Root), real: filepath.Clean(p.Root)}
	if real, err := filepath.EvalSymlinks(p.Root); err == nil {
		folder.real = real
	}
	for _, path := range closed {
		if info, err := os.Stat(path); err == nil {
			folder.closed = append(folder.closed, info)
		}
	}
	return folder, nil
}

// Close releases the folder.
func (f *Folder) Close() error { return f.Root.Close() }

// Abs is the absolute path of a target, for a process that needs one.
func (f *Folder) Abs(t Target) string { return filepath.Join(f.dir, t.Name) }

// IsClosed reports whether info is one of the paths no tool may enter.
func (f *Folder) IsClosed(info os.FileInfo) bool {
	for _, closed := range f.closed {
		if os.SameFile(closed, info) {
			return true
		}
	}
	return false
}

// maxLinks is how many links one path may go through, as in the kernel.
const maxLinks = 40

// Resolve finds what a path of the model names. Relative paths start at the folder; absolute ones
// are accepted when they lie inside. Errors are *Error with NotExecuted: InvalidArgs for what is
// no path, OutsidePlace for what leaves the folder, by itself or through a link, NotFoundErr when a
// file stands where a folder would have to be. A target that does not exist is no error.
func (f *Folder) Resolve(path string) (Target, error) {
	name, err := f.clean(path)
	if err != nil {
		return Target{}, err
	}
	walk := walk{folder: f, path: path, at: ".", rest: split(name)}
	for len(walk.rest) > 0 {
		if done, err := walk.step(); err != nil || done {
			return Target{Name: walk.at}, err
		}
	}
	if walk.info == nil {
		if walk.info, err = f.Root.Stat("."); err != nil {
			return Target{}, Refuse(Failed, "the folder of this session cannot be read: %w", err)
		}
	}
	return Target{Name: walk.at, Info: walk.info}, nil
}

// clean makes a path relative to the folder without looking at the disk.
func (f *Folder) clean(path string) (string, error) {
	switch {
	case path == "":
		return "", Refuse(InvalidArgs, `the path is empty; "." is the session's folder itself`)
	case strings.ContainsRune(path, 0):
		return "", Refuse(InvalidArgs, "the path %s contains a NUL byte, which no file name can", quoteShort(path))
	case path == "~" || strings.HasPrefix(path, "~/"):
		return "", f.outside(path, "~ is not expanded")
	}
	if runtime.GOOS != "windows" {
		if drivePattern.MatchString(path) || strings.HasPrefix(path, `\\`) {
			return "", f.outside(path, "it is a Windows path and this is not Windows")
		}
		if strings.Contains(path, `\`) {
			return "", Refuse(InvalidArgs, `the path %s contains a backslash; folders are separated by "/"`, quoteShort(path))
		}
	}
	name := filepath.FromSlash(path)
	if filepath.IsAbs(name) {
		inside, ok := f.inside(name)
		if !ok {
			return "", f.outside(path, "")
		}
		name = inside
	}
	name = filepath.Clean(name)
	if !filepath.IsLocal(name) {
		return "", f.outside(path, "")
	}
	return name, nil
}

var drivePattern = regexp.MustCompile(`^[A-Za-z]:([\\/]|$)`)

// inside makes an absolute path relative to the folder.
func (f *Folder) inside(abs string) (string, bool) {
	for _, dir := range []string{f.dir, f.real} {
		if rel, err := filepath.Rel(dir, abs); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

func (f *Folder) outside(path, why string) *Error {
	if why != "" {
		why = ": " + why
	}
	return Refuse(OutsidePlace, "%s is outside the session's folder %s%s. Use a path relative to that folder.", quoteShort(path), f.dir, why)
}

// walk follows one path component by component.
type walk struct {
	folder *Folder
	path   string // as the model gave it
	at     string // link-free
	info   os.FileInfo
	rest   []string
	links  int
}

// step takes the next component; done means that nothing exists from here on and at names it.
func (w *walk) step() (done bool, err error) {
	part := w.rest[0]
	w.rest = w.rest[1:]
	if part == "" || part == "." {
		return false, nil
	}
	if part == ".." {
		if w.at == "." {
			return false, w.folder.outside(w.path, "a link in it leads there")
		}
		w.at, w.info = filepath.Dir(w.at), nil
		if w.info, err = w.folder.Root.Lstat(w.at); err != nil {
			return false, w.folder.Explain(w.path, err)
		}
		return false, nil
	}
	next := filepath.Join(w.at, part)
	info, err := w.folder.Root.Lstat(next)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, w.missing(next)
	case err != nil:
		return false, w.folder.Explain(w.path, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return false, w.follow(next)
	case w.folder.IsClosed(info):
		return false, Refuse(OutsidePlace, "%s is closed to tools: it holds the program's own data", quoteShort(w.path))
	case !info.IsDir() && len(w.rest) > 0:
		return false, Refuse(NotFoundErr, "%s cannot exist: %s is a file, not a folder", quoteShort(w.path), filepath.ToSlash(next))
	}
	w.at, w.info = next, info
	return false, nil
}

func (w *walk) missing(next string) error {
	name := filepath.Join(append([]string{next}, w.rest...)...)
	if !filepath.IsLocal(name) {
		return w.folder.outside(w.path, "a link in it leads there")
	}
	w.at, w.info = name, nil
	return nil
}

func (w *walk) follow(link string) error {
	if w.links++; w.links > maxLinks {
		return Refuse(NotFoundErr, "%s goes through more than %d links", quoteShort(w.path), maxLinks)
	}
	target, err := w.folder.Root.Readlink(link)
	if err != nil {
		return w.folder.Explain(w.path, err)
	}
	if filepath.IsAbs(target) || filepath.VolumeName(target) != "" {
		inside, ok := w.folder.inside(target)
		if !ok {
			return w.folder.outside(w.path, fmt.Sprintf("%s is a link to %s", filepath.ToSlash(link), target))
		}
		w.at, w.info, target = ".", nil, inside
	}
	w.rest = append(split(target), w.rest...)
	return nil
}

func split(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// Explain turns an error of the file system into one a model can act on; nothing has happened.
func (f *Folder) Explain(path string, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	cause := err
	if wrapped, ok := errors.AsType[*fs.PathError](err); ok {
		cause = wrapped.Err // without the name os.Root worked on
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Code: NotFoundErr, Message: fmt.Sprintf("%s does not exist", quoteShort(path)), NotExecuted: true, Err: err}
	case errors.Is(err, fs.ErrPermission):
		return &Error{Code: Failed, Message: fmt.Sprintf("permission denied: %s", quoteShort(path)), NotExecuted: true, Err: err}
	}
	return &Error{Code: Failed, Message: fmt.Sprintf("%s: %v", quoteShort(path), cause), NotExecuted: true, Err: err}
}

// Missing is the error for a target that is not there, with the name it was probably meant to be.
func (f *Folder) Missing(path string, t Target) *Error {
	e := Refuse(NotFoundErr, "%s does not exist", quoteShort(path))
	dir, err := f.Root.Open(filepath.Dir(t.Name))
	if err != nil {
		e.Message += fmt.Sprintf("; neither does the folder %s", filepath.ToSlash(filepath.Dir(t.Name)))
		return e
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(1000)
	if near := nearest(filepath.Base(t.Name), names); near != "" {
		e.Message += fmt.Sprintf("; did you mean %q?", filepath.ToSlash(filepath.Join(filepath.Dir(t.Name), near)))
	}
	return e
}

// OpenFile opens a regular file for reading; anything else that has a name (a folder, a pipe, a
// device) is refused without waiting for it.
func (f *Folder) OpenFile(path string, t Target) (*os.File, os.FileInfo, error) {
	file, info, err := OpenRegular(f.Root, t.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, f.Missing(path, t)
	case err != nil:
		return nil, nil, f.Explain(path, err)
	case file == nil:
		return nil, nil, NotAFile(path, info)
	}
	return file, info, nil
}

// OpenRegular opens a regular file below root for reading. For anything else it gives no file and
// no error, only what stands there; it never waits for the other end of a pipe.
func OpenRegular(root *os.Root, name string) (*os.File, os.FileInfo, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, info, err
	}
	return file, info, nil
}

// NotAFile is the error for a path that names something else than a regular file.
func NotAFile(path string, info os.FileInfo) *Error {
	what := "not a regular file"
	switch mode := info.Mode(); {
	case mode.IsDir():
		what = "a folder, not a file"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe, not a file"
	case mode&fs.ModeSocket != 0:
		what = "a socket, not a file"
	case mode&fs.ModeDevice != 0:
		what = "a device, not a file"
	}
	return Refuse(Failed, "%s is %s", quoteShort(path), what)
}
