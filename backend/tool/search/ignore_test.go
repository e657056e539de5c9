package search

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aalis/backend/tool"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		yes, not []string
	}{
		{"*", []string{"a", ".a"}, []string{"a/b", ""}[:1]},
		{"a?c", []string{"abc", "aéc"}, []string{"ac", "a/c"}},
		{"**/a", []string{"a", "x/a", "x/y/a"}, []string{"ba", "a/b"}},
		{"a/**", []string{"a/b", "a/b/c"}, []string{"a", "ab"}},
		{"a/**/b", []string{"a/b", "a/x/b", "a/x/y/b"}, []string{"ab", "a/xb"}},
		{"a**b", []string{"ab", "axb"}, []string{"a/b"}},
		{"[a-c]x", []string{"ax", "cx"}, []string{"dx"}},
		{"[!a-c]x", []string{"dx"}, []string{"ax", "/x"}},
		{"[]a]", []string{"]", "a"}, []string{"b"}},
		{"[[:digit:]]", []string{"5"}, []string{"a", ":"}},
		{`[\d]`, []string{"d"}, []string{"5", `\`}},
		{`[a\]]`, []string{"]", "a"}, []string{`\`}},
		{`\*`, []string{"*"}, []string{"a"}},
		{"a.b", []string{"a.b"}, []string{"axb"}},
		{"{a,b/*}c", []string{"ac", "b/xc"}, []string{"bc", "{a,b/*}c"}},
	} {
		compiled, err := compileGlob(c.pattern, true)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for _, path := range c.yes {
			if !compiled.MatchString(path) {
				t.Errorf("%s does not match %q", c.pattern, path)
			}
		}
		for _, path := range c.not {
			if compiled.MatchString(path) {
				t.Errorf("%s matches %q", c.pattern, path)
			}
		}
	}
	for _, pattern := range []string{"[a", "[", "a\\", "{a", "[z-a]"} {
		if _, err := compileGlob(pattern, true); err == nil {
			t.Errorf("%s is accepted", pattern)
		}
	}
}

// TestIgnoreIsGits walks random trees with random .gitignore files and compares what is left with
// what git itself lists.
func TestIgnoreIsGits(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Log("no git here; TestFind and TestSearch show the rules")
		return
	}
	base := t.TempDir()
	part := rapid.SampledFrom([]string{"a", "b", "ab", "c.o", "d d", "[x]", "#n", "!m"})
	pattern := rapid.Custom(func(t *rapid.T) string {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "b", "ab", "c.o", "*", "**", "*.o", "?", "[a-c]", "[!a]", "[^b]*", "a*", "d d", `d\ d`, `\#n`, "#n", "!m", `\!m`, "[[]x]", `\a`, "[[:alpha:]]", "[", "***",
		}), 1, 3).Draw(t, "pieces")
		p := strings.Join(pieces, "/")
		return rapid.SampledFrom([]string{"", "!", "/", "!/"}).Draw(t, "front") + p + rapid.SampledFrom([]string{"", "", "/", " ", `\ `, "\r"}).Draw(t, "back")
	})
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp(base, "repo")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		write := func(name, content string) {
			path := filepath.Join(root, name)
			if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
				_ = os.WriteFile(path, []byte(content), 0o644)
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "files") {
			write(filepath.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "path")...), "x")
		}
		for range rapid.IntRange(1, 3).Draw(t, "ignore files") {
			dir := filepath.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "."}), 0, 2).Draw(t, "dir")...)
			write(filepath.Join(dir, ".gitignore"), strings.Join(rapid.SliceOfN(pattern, 1, 4).Draw(t, "patterns"), "\n")+"\n")
		}
		run := func(args ...string) string {
			cmd := exec.Command(git, args...)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_DIR=", "HOME="+base)
			cmd.Env = slices.DeleteFunc(cmd.Env, func(s string) bool { return s == "GIT_DIR=" })
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %v: %v: %s", args, err, out)
			}
			return string(out)
		}
		run("init", "-q")
		want := strings.Split(strings.Trim(run("ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00")
		slices.Sort(want)

		folder, err := tool.Place{Root: root}.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		start, err := folder.Resolve(".")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		w := walker{folder: folder, visit: func(_ context.Context, _ *os.Root, path string, _ fs.DirEntry) error {
			got = append(got, path)
			return nil
		}}
		if err := w.walk(context.Background(), start); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if len(got) == 0 {
			got = []string{""}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			var files strings.Builder
			_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, _ error) error {
				if filepath.Base(path) == ".gitignore" {
					content, _ := os.ReadFile(path)
					files.WriteString(strings.TrimPrefix(path, root) + ":\n" + string(content))
				}
				return nil
			})
			t.Fatalf("(-git +ours):\n%s\n%s", diff, files.String())
		}
	})
}
