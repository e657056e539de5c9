package files_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aalis/backend/tool"
	"aalis/backend/tool/files"
	"aalis/backend/tool/tooltest"
)

// named gives one tool of the family.
func named(t *testing.T, name string, closed ...string) tool.Definition {
	t.Helper()
	for _, def := range files.All(closed...) {
		if def.Name == name {
			return def
		}
	}
	t.Fatalf("no tool %s", name)
	return tool.Definition{}
}

// put writes a file below root, with its folders.
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

func get(t *testing.T, root, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func setup(t *testing.T, root string) {
	put(t, root, "a/one.txt", "alpha\nbeta\ngamma\n")
	put(t, root, "wide.txt", strings.Repeat("wörter ", 5000)+"\n"+strings.Repeat("zeile\n", 20_000))
	for i := range 400 {
		put(t, root, fmt.Sprintf("many/%s%03d", strings.Repeat("n", 200), i), "")
	}
}

func ref(s string) *string { return &s }

func TestConformance(t *testing.T) {
	small := func(t *testing.T, root string) { put(t, root, "a/one.txt", "alpha\nbeta\ngamma\n") }
	for _, c := range []tooltest.Case{
		{
			Tool: named(t, "read_file"), Setup: setup, Good: `{"path":"a/one.txt","offset":2,"limit":1}`, Paths: []string{"path"},
			Bad: []string{`{"path":""}`, `{"path":"a/one.txt/"}`, `{"path":"a\\one.txt"}`}, Long: `{"path":"wide.txt","limit":100000}`,
		},
		{
			Tool: named(t, "write_file"), Setup: small, Good: `{"path":"new/two.txt","content":"x\u202e\n"}`, Paths: []string{"path"},
			Bad:   []string{`{"path":"","content":""}`, `{"path":"dir/","content":""}`},
			Shown: &tool.Shown{Kind: "file-change", Path: ref("new/two.txt"), Added: ref("x\u202e\n")},
		},
		{
			Tool: named(t, "edit_file"), Setup: small, Good: `{"path":"a/one.txt","old_text":"beta","new_text":""}`, Paths: []string{"path"},
			Bad:   []string{`{"path":"a/one.txt","old_text":"","new_text":"x"}`, `{"path":"a/one.txt","old_text":"x","new_text":"x"}`},
			Shown: &tool.Shown{Kind: "file-change", Path: ref("a/one.txt"), Removed: ref("beta"), Added: ref("")},
		},
		{
			Tool: named(t, "list_files"), Setup: setup, Good: `{"path":"a"}`, Paths: []string{"path"},
			Bad: []string{`{"path":"a/one.txt"}`}, Long: `{"path":"many"}`,
		},
	} {
		t.Run(c.Tool.Name, func(t *testing.T) { tooltest.Run(t, c) })
	}
}

func encode(t *testing.T, args map[string]any) []byte {
	t.Helper()
	encoded, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}
