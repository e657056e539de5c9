//go:build unix

package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aalis/backend/tool"
	"aalis/backend/tool/tooltest"

	"github.com/google/go-cmp/cmp"
)

func code(err error) tool.ErrorCode {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e.Code
	}
	return ""
}

// refused checks that err is an *Error of a call that did nothing and says what is wanted.
func refused(t *testing.T, err error, want tool.ErrorCode, says string) {
	t.Helper()
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Code != want || !e.NotExecuted || !strings.Contains(e.Message, says) {
		t.Errorf("%v; want %s, not executed, saying %q", err, want, says)
	}
}

func TestRead(t *testing.T) {
	root := t.TempDir()
	place := tool.Place{Root: root}
	read := named(t, "read_file")
	put(t, root, "plain.txt", "one\ntwo\nthree\n")
	put(t, root, "crlf.txt", "\uFEFFone\r\ntwo")
	put(t, root, "empty", "")
	put(t, root, "latin.txt", "caf\xe9\n")
	put(t, root, "pic.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d")
	put(t, root, "utf16.txt", "\xff\xfea\x00b\x00")
	put(t, root, "minified.js", strings.Repeat("é", 50_000)+"\nsecond\n")
	put(t, root, "long.txt", strings.Repeat(strings.Repeat("x", 99)+"\n", 2000))
	for _, c := range []struct{ args, want string }{
		{`{"path":"plain.txt"}`, "one\ntwo\nthree\n"},
		{`{"path":"crlf.txt"}`, "\uFEFFone\r\ntwo"},
		{`{"path":"empty"}`, "[empty file]"},
		{`{"path":"plain.txt","offset":2}`, "two\nthree\n[lines 2 to 3 of 3]"},
		{`{"path":"plain.txt","limit":2}`, "one\ntwo\n[lines 1 to 2 of 3; go on with offset 3]"},
		{`{"path":"plain.txt","offset":3,"limit":1}`, "three\n[lines 3 to 3 of 3]"},
		{`{"path":"crlf.txt","offset":2}`, "two\n[lines 2 to 2 of 2]"},
		{`{"path":"latin.txt"}`, "caf\uFFFD\n[bytes that are not UTF-8 text are shown as U+FFFD]"},
	} {
		t.Run(c.args, func(t *testing.T) {
			got, err := tooltest.Call(t, read, place, c.args)
			if diff := cmp.Diff(tool.Result{Text: c.want}, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	t.Run("refusals", func(t *testing.T) {
		for args, want := range map[string][2]string{
			`{"path":"plan.txt"}`:               {"not_found", `did you mean "plain.txt"?`},
			`{"path":"no/such/dir"}`:            {"not_found", "neither does the folder no/such"},
			`{"path":"."}`:                      {"failed", "is a folder"},
			`{"path":"pic.png"}`:                {"failed", "binary file (image/png, 12 bytes)"},
			`{"path":"utf16.txt"}`:              {"failed", "UTF-16 text (6 bytes)"},
			`{"path":"plain.txt","offset":4}`:   {"invalid", "has only 3 lines; offset 4"},
			`{"path":"plain.txt","offset":400}`: {"invalid", "has only 3 lines; offset 400"},
		} {
			_, err := tooltest.Call(t, read, place, args)
			refused(t, err, tool.ErrorCode(want[0]), want[1])
		}
	})
	t.Run("a line that does not fit is cut and the next can be read", func(t *testing.T) {
		got, err := tooltest.Call(t, read, place, `{"path":"minified.js"}`)
		if err != nil || !got.Truncated || len(got.Text) > tool.MaxResultBytes || strings.Contains(got.Text, "\uFFFD") ||
			!strings.HasSuffix(got.Text, "bytes are shown]\n[lines 1 to 1 of 2; go on with offset 2]") {
			t.Errorf("%v: …%q", err, got.Text[max(0, len(got.Text)-150):])
		}
		got, err = tooltest.Call(t, read, place, `{"path":"minified.js","offset":2}`)
		if err != nil || got.Text != "second\n[lines 2 to 2 of 2]" {
			t.Errorf("%v: %q", err, got.Text)
		}
	})
	t.Run("the parts of a long file are the file", func(t *testing.T) {
		var whole strings.Builder
		for offset := 1; offset > 0; {
			got, err := tooltest.Call(t, read, place, fmt.Sprintf(`{"path":"long.txt","offset":%d}`, offset))
			if err != nil {
				t.Fatal(err)
			}
			text, note, _ := strings.Cut(got.Text, "[lines ")
			whole.WriteString(text)
			_, next, more := strings.Cut(note, "go on with offset ")
			if offset = 0; more {
				_, _ = fmt.Sscanf(next, "%d", &offset)
			}
		}
		if whole.String() != get(t, root, "long.txt") {
			t.Errorf("%d bytes", whole.Len())
		}
	})
	t.Run("a huge file is read in bounded time", func(t *testing.T) {
		file, err := os.Create(filepath.Join(root, "huge"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(strings.Repeat("line\n", 3000)); err != nil {
			t.Fatal(err)
		}
		if err := file.Truncate(64 << 30); err != nil { // sparse
			t.Log("no sparse files here:", err)
			return
		}
		got, err := tooltest.Call(t, read, place, `{"path":"huge","limit":2}`)
		if want := "line\nline\n[lines 1 to 2 of more than 3001 (68719476736 bytes); go on with offset 3]"; err != nil || got.Text != want {
			t.Errorf("%v: %q", err, got.Text)
		}
	})
	t.Run("FAIL-C1 a file that is read, or could not be, is never touched", func(t *testing.T) {
		root := t.TempDir()
		place := tool.Place{Root: root}
		put(t, root, "a.txt", "a\r\n")
		put(t, root, "b.bin", "\x00")
		if err := os.Symlink("a.txt", filepath.Join(root, "link")); err != nil {
			t.Fatal(err)
		}
		before := tooltest.Tree(t, root)
		inode, err := os.Stat(filepath.Join(root, "a.txt"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"a.txt", "b.bin", "link", "missing.txt", "no/folder.txt"} {
			_, _ = tooltest.Call(t, read, place, fmt.Sprintf(`{"path":%q}`, path))
		}
		if diff := cmp.Diff(before, tooltest.Tree(t, root)); diff != "" {
			t.Errorf("the folder changed:\n%s", diff)
		}
		if after, err := os.Stat(filepath.Join(root, "a.txt")); err != nil || !os.SameFile(inode, after) {
			t.Errorf("another file stands there: %v", err)
		}
	})
}

func TestWrite(t *testing.T) {
	write := named(t, "write_file")
	t.Run("content is written byte for byte", func(t *testing.T) {
		root := t.TempDir()
		for i, content := range []string{"", "no newline", "\uFEFFbom\r\nmixed\n\r", "日本\u202e\n"} {
			got, err := tooltest.Call(t, write, tool.Place{Root: root}, string(encode(t, map[string]any{"path": fmt.Sprintf("d/%d", i), "content": content})))
			if err != nil || get(t, root, fmt.Sprintf("d/%d", i)) != content {
				t.Errorf("%q: %v, %v", content, got, err)
			}
		}
	})
	t.Run("says what it did and shows the difference", func(t *testing.T) {
		root := t.TempDir()
		put(t, root, "a/old.txt", "one\ntwo\n")
		for _, c := range []struct{ args, says, patch string }{
			{`{"path":"a/old.txt","content":"one\n2\n"}`, "Replaced a/old.txt: 6 bytes, 2 lines.", "--- a/a/old.txt\n+++ b/a/old.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},
			{`{"path":"a/b/new.txt","content":"x"}`, "Created a/b/new.txt: 1 bytes, 1 lines.", "--- /dev/null\n+++ b/a/b/new.txt\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"},
		} {
			prepared, err := tooltest.Prepare(t, write, tool.Place{Root: root}, c.args)
			if err != nil {
				t.Fatal(err)
			}
			if prepared.Facts.Diff == nil || prepared.Facts.Diff.Patch != c.patch {
				t.Errorf("diff %+v, want %q", prepared.Facts.Diff, c.patch)
			}
			if prepared.Facts.Command != "" || prepared.Facts.Cwd != "" {
				t.Errorf("facts of a command: %+v", prepared.Facts)
			}
			got, err := prepared.Execute(t.Context(), nil)
			if err != nil || got.Text != c.says {
				t.Errorf("%q, %v; want %q", got.Text, err, c.says)
			}
		}
	})
	t.Run("a link inside is written through and the diff names the real file", func(t *testing.T) {
		root := t.TempDir()
		put(t, root, "real.txt", "old")
		if err := os.Symlink("real.txt", filepath.Join(root, "link.txt")); err != nil {
			t.Fatal(err)
		}
		prepared, err := tooltest.Prepare(t, write, tool.Place{Root: root}, `{"path":"link.txt","content":"new"}`)
		if err != nil || prepared.Facts.Diff.Path != "real.txt" {
			t.Fatalf("%+v, %v", prepared.Facts.Diff, err)
		}
		if _, err := prepared.Execute(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if target, err := os.Readlink(filepath.Join(root, "link.txt")); err != nil || target != "real.txt" || get(t, root, "real.txt") != "new" {
			t.Errorf("%q, %v, %q", target, err, get(t, root, "real.txt"))
		}
	})
	t.Run("the mode stays, nothing is left beside the file", func(t *testing.T) {
		root := t.TempDir()
		put(t, root, "run.sh", "old")
		if err := os.Chmod(filepath.Join(root, "run.sh"), 0o750); err != nil {
			t.Fatal(err)
		}
		if _, err := tooltest.Call(t, write, tool.Place{Root: root}, `{"path":"run.sh","content":"new"}`); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(root, "run.sh"))
		if err != nil || info.Mode() != 0o750 || get(t, root, "run.sh") != "new" {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if tree := tooltest.Tree(t, root); len(tree) != 2 {
			t.Errorf("%v", tree)
		}
	})
	t.Run("a read-only file is refused", func(t *testing.T) {
		root := t.TempDir()
		put(t, root, "kept", "old")
		if err := os.Chmod(filepath.Join(root, "kept"), 0o444); err != nil {
			t.Fatal(err)
		}
		_, err := tooltest.Call(t, write, tool.Place{Root: root}, `{"path":"kept","content":"new"}`)
		refused(t, err, tool.Failed, "read-only (mode 0444)")
	})
	t.Run("a file where a folder would have to be", func(t *testing.T) {
		root := t.TempDir()
		put(t, root, "file", "x")
		_, err := tooltest.Call(t, write, tool.Place{Root: root}, `{"path":"file/below","content":""}`)
		refused(t, err, tool.NotFoundErr, "file is a file, not a folder")
	})
	t.Run("no folder is left when the file cannot be written", func(t *testing.T) {
		root := t.TempDir()
		_, err := tooltest.Call(t, write, tool.Place{Root: root}, string(encode(t, map[string]any{"path": "a/b/" + strings.Repeat("n", 300), "content": "x"})))
		refused(t, err, tool.Failed, "too long")
		if tree := tooltest.Tree(t, root); len(tree) != 1 {
			t.Errorf("%v", tree)
		}
	})
	t.Run("no diff of a file that is large or binary", func(t *testing.T) {
		root := t.TempDir()
		put(t, root, "large", strings.Repeat("x", tool.MaxDiffBytes+1))
		put(t, root, "binary", "\x00")
		for _, path := range []string{"large", "binary"} {
			prepared, err := tooltest.Prepare(t, write, tool.Place{Root: root}, fmt.Sprintf(`{"path":%q,"content":"x"}`, path))
			if err != nil || prepared.Facts.Diff != nil {
				t.Errorf("%s: %v, %v", path, prepared.Facts.Diff, err)
			}
			if _, err := prepared.Execute(t.Context(), nil); err != nil || get(t, root, path) != "x" {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
	t.Run("readers see the old content or the new, never a part", func(t *testing.T) {
		root := t.TempDir()
		contents := [2]string{strings.Repeat("a", 200_000), strings.Repeat("b", 200_000)}
		put(t, root, "f", contents[0])
		stop := make(chan struct{})
		var reader sync.WaitGroup
		reader.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				content, err := os.ReadFile(filepath.Join(root, "f"))
				if err != nil || string(content) != contents[0] && string(content) != contents[1] {
					t.Errorf("%d bytes, %v", len(content), err)
					return
				}
			}
		})
		for i := range 20 {
			if _, err := tooltest.Call(t, write, tool.Place{Root: root}, string(encode(t, map[string]any{"path": "f", "content": contents[i%2]}))); err != nil {
				t.Error(err)
			}
		}
		close(stop)
		reader.Wait()
	})
}

func TestTargetChanged(t *testing.T) {
	const write, edit = `{"path":"d/f","content":"mine"}`, `{"path":"d/f","old_text":"old","new_text":"mine"}`
	outside := t.TempDir()
	put(t, outside, "f", "old")
	for _, c := range []struct {
		name   string
		args   string
		there  bool
		change func(root string) error
	}{
		{"other content", write, true, func(root string) error { return os.WriteFile(filepath.Join(root, "d/f"), []byte("theirs"), 0o644) }},
		{"other content of the same length and time", edit, true, func(root string) error {
			path := filepath.Join(root, "d/f")
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(path, []byte("OLD"), 0o644), os.Chtimes(path, time.Time{}, info.ModTime()))
		}},
		{"removed", edit, true, func(root string) error { return os.Remove(filepath.Join(root, "d/f")) }},
		{"made meanwhile", write, false, func(root string) error { return os.WriteFile(filepath.Join(root, "d/f"), nil, 0o644) }},
		{"a folder now", write, false, func(root string) error { return os.Mkdir(filepath.Join(root, "d/f"), 0o755) }},
		{"a link to another file with the same content", edit, true, func(root string) error {
			return errors.Join(os.Rename(filepath.Join(root, "d/f"), filepath.Join(root, "d/g")), os.Symlink("g", filepath.Join(root, "d/f")))
		}},
		{"a link that leaves", write, false, func(root string) error { return os.Symlink(filepath.Join(outside, "new"), filepath.Join(root, "d/f")) }},
		{"its folder a link that leaves, to the same content", edit, true, func(root string) error {
			return errors.Join(os.RemoveAll(filepath.Join(root, "d")), os.Symlink(outside, filepath.Join(root, "d")))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, "d/keep", "")
			if c.there {
				put(t, root, "d/f", "old")
			}
			tools := map[string]tool.Definition{write: named(t, "write_file"), edit: named(t, "edit_file")}
			prepared, err := tooltest.Prepare(t, tools[c.args], tool.Place{Root: root}, c.args)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.change(root); err != nil {
				t.Fatal(err)
			}
			before, beforeOutside := tooltest.Tree(t, root), tooltest.Tree(t, outside)
			_, err = prepared.Execute(t.Context(), nil)
			refused(t, err, tool.TargetChanged, "nothing was written")
			if diff := cmp.Diff(before, tooltest.Tree(t, root)); diff != "" {
				t.Errorf("the folder changed:\n%s", diff)
			}
			if diff := cmp.Diff(beforeOutside, tooltest.Tree(t, outside)); diff != "" {
				t.Errorf("SEC-11: something outside changed:\n%s", diff)
			}
		})
	}
	t.Run("of two writers of a new file one wins and the other is told", func(t *testing.T) {
		for range 50 {
			root := t.TempDir()
			var prepared [2]tool.Prepared
			for i := range prepared {
				var err error
				prepared[i], err = tooltest.Prepare(t, named(t, "write_file"), tool.Place{Root: root}, fmt.Sprintf(`{"path":"f","content":"%d"}`, i))
				if err != nil {
					t.Fatal(err)
				}
			}
			var errs [2]error
			var writers sync.WaitGroup
			for i := range prepared {
				writers.Go(func() { _, errs[i] = prepared[i].Execute(t.Context(), nil) })
			}
			writers.Wait()
			won := 0
			if errs[0] != nil {
				won = 1
			}
			if errs[won] != nil || code(errs[1-won]) != tool.TargetChanged || get(t, root, "f") != fmt.Sprint(won) {
				t.Fatalf("%v, %v, %q", errs[0], errs[1], get(t, root, "f"))
			}
		}
	})
}

// TestNothingLeaves covers SEC-11 as far as the tools go: no link leads them out of the place, and
// the program's own data is closed to them even inside it.
func TestNothingLeaves(t *testing.T) {
	root := t.TempDir()
	put(t, root, "mine/run/owner.token", "secret")
	put(t, root, "a/f", "x")
	closed := filepath.Join(root, "mine")
	if err := os.Symlink("mine/run", filepath.Join(root, "door")); err != nil {
		t.Fatal(err)
	}
	before := tooltest.Tree(t, root)
	for _, name := range []string{"read_file", "write_file", "edit_file", "list_files"} {
		t.Run("SEC-11 own data is closed to "+name, func(t *testing.T) {
			def := named(t, name, closed)
			for _, path := range []string{"mine/run/owner.token", "door/owner.token", "mine/new", "mine", "a/../mine/run"} {
				args := map[string]any{"path": path}
				switch name {
				case "write_file":
					args["content"] = "x"
				case "edit_file":
					args["old_text"], args["new_text"] = "secret", "x"
				}
				_, err := tooltest.Call(t, def, tool.Place{Root: root}, string(encode(t, args)))
				refused(t, err, tool.OutsidePlace, "closed to tools")
			}
		})
	}
	t.Run("SEC-11 a deep listing does not show it", func(t *testing.T) {
		got, err := tooltest.Call(t, named(t, "list_files", closed), tool.Place{Root: root}, `{"depth":5}`)
		if want := "a/\na/f  (1 bytes)\ndoor -> mine/run\nmine/"; err != nil || got.Text != want {
			t.Errorf("%v: %q, want %q", err, got.Text, want)
		}
	})
	if diff := cmp.Diff(before, tooltest.Tree(t, root)); diff != "" {
		t.Errorf("the folder changed:\n%s", diff)
	}
}

func TestList(t *testing.T) {
	root := t.TempDir()
	put(t, root, "b.txt", "12")
	put(t, root, "a/x/deep.txt", "1")
	put(t, root, ".git/config", "x")
	put(t, root, "many/keep", "")
	if err := os.Mkdir(filepath.Join(root, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../x", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	list := named(t, "list_files")
	for args, want := range map[string]string{
		`{}`:                     ".git/\na/\nb.txt  (2 bytes)\nempty/\nlink -> ../x\nmany/",
		`{"path":"a","depth":2}`: "a/x/\na/x/deep.txt  (1 bytes)",
		`{"path":"empty"}`:       "[empty folder]",
		`{"depth":3}`:            ".git/\na/\na/x/\na/x/deep.txt  (1 bytes)\nb.txt  (2 bytes)\nempty/\nlink -> ../x\nmany/\nmany/keep  (0 bytes)",
	} {
		got, err := tooltest.Call(t, list, tool.Place{Root: root}, args)
		if err != nil || got.Text != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", args, err, got.Text, want)
		}
	}
	for i := range 1200 {
		put(t, root, fmt.Sprintf("many/%04d", i), "")
	}
	got, err := tooltest.Call(t, list, tool.Place{Root: root}, `{"path":"many"}`)
	if err != nil || !got.Truncated || !strings.HasSuffix(got.Text, "\n[201 more; list a folder below, or use find_files]") {
		t.Errorf("%v: %q", err, got.Text[len(got.Text)-100:])
	}
}
