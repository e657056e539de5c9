package search

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"aalis/backend/tool"
)

func TestMentions(t *testing.T) {
	root := t.TempDir()
	outside := t.TempDir()
	for _, path := range []string{"README.md", "docs/readme-first.md", "docs/my-readme.md", "src/Main.go", "src/deep/main_test.go", "build/out.bin", ".git/config", "closed/secret.md"} {
		full := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("build/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "readme-outside.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]string{
		"readme":   {"README.md", "docs/readme-first.md", "docs/my-readme.md"},
		"MAIN":     {"src/Main.go", "src/deep/main_test.go"},
		"docs/":    {"docs/my-readme.md", "docs/readme-first.md"},
		"deep":     {"src/deep/main_test.go"},
		"./src":    {"src/Main.go", "src/deep/main_test.go"},
		"out.bin":  {},
		"secret":   {},
		"outside":  {},
		"..":       {},
		"nothing?": {},
	} {
		got, err := Mentions(t.Context(), tool.Place{Root: root}, query, 10, filepath.Join(root, "closed"))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q, %v", query, got, want, err)
		}
	}
	if got, err := Mentions(t.Context(), tool.Place{Root: root}, "", 2); err != nil || !slices.Equal(got, []string{"link", "README.md"}) && !slices.Equal(got, []string{".gitignore", "README.md"}) {
		t.Errorf("the top: %q, %v", got, err)
	}
	if _, err := Mentions(t.Context(), tool.Place{Root: filepath.Join(root, "gone")}, "a", 2); err == nil {
		t.Error("a place that is not there has files")
	}
}
