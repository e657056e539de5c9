//go:build unix

package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aalis/backend/tool"
	"aalis/backend/tool/tooltest"

	"github.com/google/go-cmp/cmp"
)

func named(t *testing.T, name string, closed ...string) tool.Definition {
	t.Helper()
	for _, def := range All(closed...) {
		if def.Name == name {
			return def
		}
	}
	t.Fatalf("no tool %s", name)
	return tool.Definition{}
}

func put(t *testing.T, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func encode(t *testing.T, args map[string]any) string {
	t.Helper()
	encoded, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func TestConformance(t *testing.T) {
	setup := func(t *testing.T, root string) {
		put(t, root, "a/one.go", "package one\n\nfunc One() {}\n")
		for i := range 500 {
			put(t, root, fmt.Sprintf("many/%s%03d.txt", strings.Repeat("n", 180), i), "needle\n")
		}
	}
	for _, c := range []tooltest.Case{
		{
			Tool: named(t, "find_files"), Setup: setup, Good: `{"pattern":"*.go","path":"a"}`, Paths: []string{"path"},
			Bad:  []string{`{"pattern":""}`, `{"pattern":"/etc/*"}`, `{"pattern":"../*"}`, `{"pattern":"a/"}`, `{"pattern":"[a"}`, `{"pattern":"{a"}`, `{"pattern":"a\\"}`, `{"pattern":"x","path":"a/one.go"}`},
			Long: `{"pattern":"*.txt"}`,
		},
		{
			Tool: named(t, "search_text"), Setup: setup, Good: `{"pattern":"^func","path":"a","glob":"*.go","ignore_case":true}`, Paths: []string{"path"},
			Bad:  []string{`{"pattern":"("}`, `{"pattern":"(?=x)"}`, `{"pattern":""}`, `{"pattern":"x","glob":"../*"}`, `{"pattern":"x","glob":"[z-a]"}`},
			Long: `{"pattern":"needle","max_results":1000}`,
		},
	} {
		t.Run(c.Tool.Name, func(t *testing.T) { tooltest.Run(t, c) })
	}
}

// project is a small tree with everything a search has to leave out.
func project(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		".gitignore":         "build/\n*.log\n!keep.log\n",
		".git/config":        "needle",
		".git/info/exclude":  "private.txt\n",
		"sub/.git":           "gitdir: needle",
		"main.go":            "package main\n\n// Needle here.\nfunc main() { needle() }\n",
		"private.txt":        "needle",
		"a.log":              "needle",
		"keep.log":           "needle",
		"build/out.go":       "needle",
		"src/.gitignore":     "/gen.go\n",
		"src/gen.go":         "needle",
		"src/deep/gen.go":    "needle\r\n",
		"src/deep/x.test.ts": "const needle = 1",
		"src/b.tsx":          "",
		"bin.dat":            "needle\x00needle",
		"latin.txt":          "caf\xe9 needle",
		"src/long.min.js":    strings.Repeat("é", 5000) + "needle" + strings.Repeat("ü", 5000),
		"ünïcode/日本.txt":     "針 needle",
	} {
		put(t, root, name, content)
	}
	for link, target := range map[string]string{"link.go": "main.go", "linkdir": "src", "up": "..", "src/loop": "."} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFind(t *testing.T) {
	root := project(t)
	find := named(t, "find_files")
	for _, c := range []struct {
		pattern, path string
		want          []string
	}{
		{"*.go", "", []string{"link.go", "main.go", "src/deep/gen.go"}},
		{"*.go", "src", []string{"src/deep/gen.go"}},
		{"src/*.go", "", []string{"[no files match]"}},
		{"src/**/*.go", "", []string{"src/deep/gen.go"}},
		{"./deep/*", "src", []string{"src/deep/gen.go", "src/deep/x.test.ts"}},
		{"**/*.{ts,tsx}", "", []string{"src/b.tsx", "src/deep/x.test.ts"}},
		{"*.{log,d[a-c]t}", "", []string{"bin.dat", "keep.log"}},
		{"*.{log,dat}", "", []string{"bin.dat", "keep.log"}},
		{"[^a-k]*.go", "", []string{"link.go", "main.go"}},
		{"ün*/日?.txt", "", []string{"ünïcode/日本.txt"}},
		{"*.go", "build", []string{"build/out.go"}},
		{"exclude", ".git", []string{".git/info/exclude"}},
		{"**", "src/deep", []string{"src/deep/gen.go", "src/deep/x.test.ts"}},
		{"*", "linkdir/deep", []string{"src/deep/gen.go", "src/deep/x.test.ts"}},
	} {
		t.Run(c.pattern+" in "+c.path, func(t *testing.T) {
			got, err := tooltest.Call(t, find, tool.Place{Root: root}, encode(t, map[string]any{"pattern": c.pattern, "path": c.path}))
			if diff := cmp.Diff(c.want, strings.Split(got.Text, "\n")); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestSearch(t *testing.T) {
	root := project(t)
	search := named(t, "search_text")
	for _, c := range []struct {
		name string
		args map[string]any
		want []string
	}{
		{"everything that is not ignored, binary or a link", map[string]any{"pattern": "needle"}, []string{
			"keep.log:1: needle", "latin.txt:1: caf\uFFFD needle", "main.go:4: func main() { needle() }", "src/deep/gen.go:1: needle",
			"src/deep/x.test.ts:1: const needle = 1", "src/long.min.js:1: …" + strings.Repeat("é", 50) + "needle" + strings.Repeat("ü", 97) + "…",
			"ünïcode/日本.txt:1: 針 needle", "[7 lines in 7 files]",
		}},
		{"case", map[string]any{"pattern": "NEEDLE", "ignore_case": true, "glob": "*.go"}, []string{
			"main.go:3: // Needle here.", "main.go:4: func main() { needle() }", "src/deep/gen.go:1: needle", "[3 lines in 2 files]",
		}},
		{"an expression is for one line, its end without the carriage return", map[string]any{"pattern": "^needle$"}, []string{"keep.log:1: needle", "src/deep/gen.go:1: needle", "[2 lines in 2 files]"}},
		{"no match reaches over a line end", map[string]any{"pattern": `main\s+//`}, []string{"[no line matches]"}},
		{"one file, ignored or not", map[string]any{"pattern": "needle", "path": "a.log"}, []string{"a.log:1: needle", "[1 lines in 1 files]"}},
		{"glob from the start folder", map[string]any{"pattern": "needle", "path": "src", "glob": "deep/*.go"}, []string{"src/deep/gen.go:1: needle", "[1 lines in 1 files]"}},
		{"bounded", map[string]any{"pattern": "needle", "max_results": 2}, []string{"keep.log:1: needle", "latin.txt:1: caf\uFFFD needle", "[more than 2 lines match; make the search narrower or raise max_results]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := tooltest.Call(t, search, tool.Place{Root: root}, encode(t, c.args))
			if diff := cmp.Diff(c.want, strings.Split(got.Text, "\n")); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	t.Run("a file too large is named", func(t *testing.T) {
		root := t.TempDir()
		put(t, root, "a.txt", "needle")
		file, err := os.Create(filepath.Join(root, "big.bin"))
		if err == nil {
			err = errors.Join(file.Truncate(maxFileBytes+1), file.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := tooltest.Call(t, search, tool.Place{Root: root}, `{"pattern":"needle"}`)
		if want := "a.txt:1: needle\n[1 lines in 1 files]\n[1 files over 16 MiB were not searched: big.bin]"; err != nil || got.Text != want {
			t.Errorf("%v, %q", err, got.Text)
		}
	})
	t.Run("a stop ends a search in the middle", func(t *testing.T) {
		root := t.TempDir()
		put(t, root, "a.txt", strings.Repeat("x\n", 8<<20-1))
		folder, err := tool.Place{Root: root}.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		ctx, cancel := context.WithCancel(t.Context())
		w := walker{folder: folder, visit: func(ctx context.Context, _ *os.Root, _ string, _ os.DirEntry) error {
			cancel()
			return ctx.Err()
		}}
		start, err := folder.Resolve(".")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bounded(ctx, func(ctx context.Context) error { return w.walk(ctx, start) }); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestNothingLeaves(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "place")
	put(t, base, "outside.txt", "needle")
	put(t, root, "in.txt", "needle")
	put(t, root, "data/secrets.yaml", "needle")
	for link, target := range map[string]string{"out": base, "out.txt": "../outside.txt", "door": "data"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	closed := filepath.Join(root, "data")
	t.Run("SEC-11 no link is followed and own data is closed", func(t *testing.T) {
		got, err := tooltest.Call(t, named(t, "search_text", closed), tool.Place{Root: root}, `{"pattern":"needle"}`)
		if want := "in.txt:1: needle\n[1 lines in 1 files]"; err != nil || got.Text != want {
			t.Errorf("%v, %q", err, got.Text)
		}
		got, err = tooltest.Call(t, named(t, "find_files", closed), tool.Place{Root: root}, `{"pattern":"**"}`)
		if want := "door\nin.txt\nout\nout.txt"; err != nil || got.Text != want {
			t.Errorf("%v, %q", err, got.Text)
		}
		for _, path := range []string{"data", "door", "data/secrets.yaml", "out", "out.txt"} {
			_, err := tooltest.Call(t, named(t, "search_text", closed), tool.Place{Root: root}, encode(t, map[string]any{"pattern": "needle", "path": path}))
			if e, ok := errors.AsType[*tool.Error](err); !ok || e.Code != tool.OutsidePlace {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
}
