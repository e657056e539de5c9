package files_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"aalis/backend/tool"
	"aalis/backend/tool/files"
	"aalis/backend/tool/tooltest"
)

// attached has one file of words and one of bytes.
func attached(_ context.Context, _ tool.Call, name string) ([]byte, error) {
	switch name {
	case "notes.txt":
		return []byte("alpha\nbeta\n"), nil
	case "image.png":
		return []byte("\x89PNG\x00\x01"), nil
	case "broken":
		return nil, errors.New("the disk is gone")
	}
	return nil, fs.ErrNotExist
}

func TestSaveAttachment(t *testing.T) {
	save := files.SaveAttachment(attached)
	t.Run("conformance", func(t *testing.T) {
		tooltest.Run(t, tooltest.Case{
			Tool: save, Setup: func(t *testing.T, root string) { put(t, root, "a/one.txt", "alpha\n") },
			Good: `{"name":"notes.txt","path":"new/notes.txt"}`, Paths: []string{"path"},
			Bad:   []string{`{"name":"","path":"x"}`, `{"name":"notes.txt","path":""}`, `{"name":"notes.txt","path":"dir/"}`},
			Shown: &tool.Shown{Kind: "file-change", Path: ref("new/notes.txt")},
		})
	})
	t.Run("the owner sees words as a difference and bytes by their place, and both are written whole", func(t *testing.T) {
		root := t.TempDir()
		for name, want := range map[string]string{"notes.txt": "alpha\nbeta\n", "image.png": "\x89PNG\x00\x01"} {
			p, err := tooltest.Prepare(t, save, tool.Place{Root: root}, `{"name":"`+name+`","path":"in/`+name+`"}`)
			if err != nil || !p.NeedsApproval || p.Touches[0] != "in/"+name || (p.Facts.Diff != nil) != (name == "notes.txt") {
				t.Fatalf("%+v %v", p, err)
			}
			if r, err := p.Execute(t.Context(), nil); err != nil || !strings.HasPrefix(r.Text, "Wrote in/"+name) {
				t.Error(r, err)
			}
			if got := get(t, root, "in/"+name); got != want {
				t.Errorf("%q", got)
			}
		}
	})
	t.Run("what is not there, and what cannot be read, is told", func(t *testing.T) {
		for name, words := range map[string]string{"other.txt": `no file named "other.txt"`, "broken": "the disk is gone"} {
			if _, err := tooltest.Prepare(t, save, tool.Place{Root: t.TempDir()}, `{"name":"`+name+`","path":"x"}`); err == nil || !strings.Contains(err.Error(), words) {
				t.Error(err)
			}
		}
	})
}
