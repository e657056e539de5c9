package settings_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"aalis/backend/fault"
	"aalis/backend/settings"
	"aalis/backend/settings/field"
	"aalis/backend/store"
	"aalis/backend/text"
)

func TestSaving(t *testing.T) {
	one := plugin(field.Field{Key: "k"})
	failing := func(err error) setup {
		return setup{types: platform, plugins: one, replace: func(string, []byte) error { return err }}
	}
	t.Run("SP-CONF-57 in effect before it is saved", func(t *testing.T) {
		var r *rig
		seen := ""
		r = open(t, setup{plugins: one, replace: func(string, []byte) error {
			seen = string(r.s.Global("p", "k"))
			return nil
		}})
		r.set(global, "k", "v")
		same(t, "while it was saved", seen, `"v"`)
	})
	sentences := map[string]bool{}
	for name, err := range map[string]error{"a full disk": syscall.ENOSPC, "read-only": os.ErrPermission, "a read-only file system": syscall.EROFS} {
		t.Run("SP-CONF-58 in effect and unsaved: "+name, func(t *testing.T) {
			r := open(t, failing(&os.PathError{Op: "write", Path: "config.yaml", Err: err}))
			for _, at := range []settings.Layer{global, webui} {
				rows := r.set(at, "k", "v")
				if rows.Unsaved == nil {
					t.Fatalf("%v: said to be saved", at)
				}
				sentences[strings.NewReplacer(r.path, "").Replace(rows.Unsaved.Message.In(text.English))] = true
			}
			same(t, "global", show(r.layer(global), "k"), `"v" "v" global`)
			same(t, "session", show(r.rows(r.session()), "k"), `- "v" platform`)
		})
	}
	t.Run("SP-CONF-59 a refusal and a failure are two sentences", func(t *testing.T) {
		if len(sentences) != 2 {
			t.Errorf("%v", sentences)
		}
	})
	t.Run("SP-CONF-58 nothing is unsaved when all is saved", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: one})
		for _, at := range []settings.Layer{global, webui, home} {
			if rows := r.set(at, "k", "v"); rows.Unsaved != nil {
				t.Errorf("%v: %v", at, rows.Unsaved)
			}
		}
	})
	t.Run("what could not be saved is saved with the next", func(t *testing.T) {
		full := true
		r := open(t, setup{types: platform, plugins: one, replace: func(path string, data []byte) error {
			if full {
				return syscall.ENOSPC
			}
			return os.WriteFile(path, data, 0o600)
		}})
		r.set(global, "k", "v")
		r.set(webui, "k", "x")
		r.set(webui, "k", "w")
		full = false
		if rows := r.set(onebot, "k", "o"); rows.Unsaved != nil {
			t.Error(rows.Unsaved)
		}
		same(t, "document", r.file(), "settings:\n  global:\n    p:\n      k: v\n  platforms:\n    webui:\n      p:\n        k: w\n    onebot:\n      p:\n        k: o\n")
	})
	t.Run("SP-CONF-61 rows that cannot be written are an error, and never unsaved", func(t *testing.T) {
		broken := false
		r := open(t, setup{types: platform, plugins: one, inject: func(q string) store.Failure {
			if broken && strings.Contains(q, "_settings") {
				return store.FailFull
			}
			return store.NoFailure
		}})
		s := r.session()
		broken = true
		for _, at := range []any{s, home} {
			rows, err := r.try(at, "k", "v")
			if f, is := errors.AsType[*fault.Fault](err); err == nil || is && f.Code != fault.Internal || rows.Unsaved != nil {
				t.Errorf("%v: %v %v", at, err, rows.Unsaved)
			}
		}
		broken = false
		same(t, "session", show(r.rows(s), "k"), "- -")
	})
}

func TestHandEdits(t *testing.T) {
	fields := plugin(field.Field{Key: "k"})
	document := func(v string) string { return "settings: {global: {p: {k: " + v + "}}}\n" }
	t.Run("SP-CONF-68 an edit counts where the system tells of none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, setup{plugins: fields, document: document("old"), watcher: func() (*fsnotify.Watcher, error) { return nil, syscall.EMFILE }})
			told := make(chan struct{}, 8)
			r.doc.OnChange(func() { told <- struct{}{} })
			go func() { _ = r.doc.Watch(t.Context()) }()
			time.Sleep(3 * time.Second)
			r.write(document("newer"))
			start := time.Now()
			<-told
			if took := time.Since(start); took > 11*time.Second {
				t.Errorf("it took %v", took)
			}
			same(t, "value", string(r.s.Global("p", "k")), `"newer"`)
			if err := os.RemoveAll(filepath.Dir(r.path)); err != nil {
				t.Fatal(err)
			}
			<-told
			same(t, "without a folder", r.s.Global("p", "k"), json.RawMessage(nil))
			if err := os.Mkdir(filepath.Dir(r.path), 0o700); err != nil {
				t.Fatal(err)
			}
			r.write("settings: [\n")
			time.Sleep(30 * time.Second)
			r.write(document("last"))
			<-told
			same(t, "after a mistake", string(r.s.Global("p", "k")), `"last"`)
			r.set(global, "k", "ours")
			<-told
			time.Sleep(30 * time.Second)
			if len(told) != 0 {
				t.Error("our own write was told again")
			}
		})
	})
	t.Run("one that was not seen yet is kept by a write", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: fields, document: "name: x # me\n"})
		r.write("name: y # me\nlanguage: en\n")
		r.set(global, "k", "v")
		same(t, "document", r.file(), "name: y # me\nlanguage: en\nsettings:\n  global:\n    p:\n      k: v\n")
	})
	for name, broken := range map[string]string{
		"no YAML": "name: [\n", "a list": "- x\n", "a layer that is no map": "settings: {global: 5}\n", "a layer that is none": "settings: {globla: {}}\n",
		"a key twice": "a: 1\na: 2\n", "two documents": "a: 1\n---\nb: 1\n", "a plugin that is no map": "plugins: {p: 5}\n",
	} {
		t.Run("a mistake keeps what was, and is not written over: "+name, func(t *testing.T) {
			r := open(t, setup{types: platform, plugins: fields, document: document("good")})
			r.write(broken)
			r.doc.Reload()
			same(t, "what was", string(r.s.Global("p", "k")), `"good"`)
			rows := r.set(webui, "k", "w")
			if rows.Unsaved == nil || !rows.Unsaved.Refused {
				t.Fatalf("%+v", rows.Unsaved)
			}
			same(t, "the file", r.file(), broken)
			same(t, "in effect", show(rows, "k"), `"w" "w" platform`)
			r.write("# mended\n" + document("good"))
			if rows := r.set(onebot, "k", "o"); rows.Unsaved != nil {
				t.Error(rows.Unsaved)
			}
			same(t, "both are saved", show(r.layer(webui), "k")+show(r.layer(onebot), "k"), `"w" "w" platform"o" "o" platform`)
			if !strings.Contains(r.file(), "# mended") || !strings.Contains(r.file(), "webui") {
				t.Error(r.file())
			}
		})
	}
	t.Run("an edit by hand of what could not be saved is the one that counts", func(t *testing.T) {
		r := open(t, setup{plugins: fields, document: document("old"), replace: func(string, []byte) error { return syscall.ENOSPC }})
		r.set(global, "k", "ours")
		r.write(document("theirs"))
		r.doc.Reload()
		same(t, "value", string(r.s.Global("p", "k")), `"theirs"`)
	})
	t.Run("what the environment says stands before the file, until it is set", func(t *testing.T) {
		named := plugin(field.Field{Key: "k", Preference: true, Path: []string{"k"}})
		r := open(t, setup{plugins: named, document: "k: file\n", fixed: map[string]any{"k": "variable"}})
		same(t, "at first", show(r.layer(global), "k"), `"variable" "variable" global`)
		same(t, "the file", r.file(), "k: file\n")
		same(t, "set", show(r.set(global, "k", "set"), "k"), `"set" "set" global`)
		same(t, "the file", r.file(), "k: set\n")
	})
}

func TestTheFile(t *testing.T) {
	t.Run("its mode and what it is a link to stay", func(t *testing.T) {
		r := open(t, setup{document: "name: x\n"})
		real := r.path + ".real"
		if err := errors.Join(os.Rename(r.path, real), os.Symlink(real, r.path), os.Chmod(real, 0o644)); err != nil {
			t.Fatal(err)
		}
		doc, err := settings.OpenDocument(settings.DocumentOptions{Path: r.path})
		if err != nil {
			t.Fatal(err)
		}
		if _, unsaved := doc.Write(settings.Edit{Path: []string{"name"}, Value: "z"}); unsaved != nil {
			t.Fatal(unsaved)
		}
		info, err := os.Lstat(r.path)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link: %v %v", info.Mode(), err)
		}
		if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("the file: %v %v", info.Mode(), err)
		}
		same(t, "content", r.file(), "name: z\n")
		entries, err := os.ReadDir(r.t.(*testing.T).TempDir())
		if err != nil || len(entries) != 0 {
			t.Errorf("left behind: %v %v", entries, err)
		}
	})
	t.Run("SP-CONF-59 one that its owner made read-only is refused", func(t *testing.T) {
		r := open(t, setup{document: "name: x\n"})
		if err := os.Chmod(r.path, 0o444); err != nil {
			t.Fatal(err)
		}
		_, unsaved := r.doc.Write(settings.Edit{Path: []string{"name"}, Value: "z"})
		if unsaved == nil || !unsaved.Refused {
			t.Errorf("%+v", unsaved)
		}
		same(t, "content", r.file(), "name: x\n")
	})
	t.Run("a folder that is not there is a failure", func(t *testing.T) {
		doc, err := settings.OpenDocument(settings.DocumentOptions{Path: t.TempDir() + "/no/config.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		if _, unsaved := doc.Write(settings.Edit{Path: []string{"name"}, Value: "z"}); unsaved == nil || unsaved.Refused {
			t.Errorf("%+v", unsaved)
		}
	})
	t.Run("one that is broken at the start is said", func(t *testing.T) {
		r := open(t, setup{})
		r.write("settings: 5\n")
		if _, err := settings.OpenDocument(settings.DocumentOptions{Path: r.path}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v", err)
		}
	})
}
