package server_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreatModel keeps SECURITY.md true to the program: each threat has its controls, each control
// its place and its proof.
func TestThreatModel(t *testing.T) {
	root := filepath.Join("..", "..")
	data, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if id := strings.TrimSpace(cells[0]); regexp.MustCompile(`^[TC]\d+$`).MatchString(id) {
			rows[id] = cells
		}
	}
	proven := testedIDs(t, root)
	used := map[string]bool{}
	t.Run("SEC-16 the eight threats are answered by controls that exist", func(t *testing.T) {
		for i := range 8 {
			id := "T" + string(rune('1'+i))
			row := rows[id]
			if len(row) != 3 {
				t.Errorf("%s has %d cells, want 3", id, len(row))
				continue
			}
			controls := regexp.MustCompile(`C\d+`).FindAllString(row[2], -1)
			if len(controls) == 0 {
				t.Errorf("%s is answered by nothing", id)
			}
			for _, c := range controls {
				used[c] = true
				if rows[c] == nil {
					t.Errorf("%s is answered by %s, which there is not", id, c)
				}
			}
		}
	})
	t.Run("SEC-16 the eleven controls name their place and tests that exist", func(t *testing.T) {
		for i := 1; i <= 11; i++ {
			id := "C" + strings.TrimPrefix(string(rune('0'+i/10))+string(rune('0'+i%10)), "0")
			row := rows[id]
			if len(row) != 4 {
				t.Errorf("%s has %d cells, want 4", id, len(row))
				continue
			}
			if !used[id] {
				t.Errorf("%s answers no threat", id)
			}
			for _, place := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
				if _, err := os.Stat(filepath.Join(root, "backend", place[1])); err != nil {
					t.Errorf("%s is said to be in %s: %v", id, place[1], err)
				}
			}
			proofs := regexp.MustCompile(`SEC-\d\d`).FindAllString(row[3], -1)
			if len(proofs) == 0 {
				t.Errorf("%s has no proof", id)
			}
			for _, proof := range proofs {
				if !proven[proof] {
					t.Errorf("%s names %s, which no test names", id, proof)
				}
			}
		}
	})
	t.Run("SEC-16 it says what is protected, from whom, and what is not", func(t *testing.T) {
		for _, heading := range []string{"## What is protected", "## Whom we trust", "## Threats", "## Controls", "## What is not protected"} {
			if !strings.Contains(string(data), "\n"+heading+"\n") {
				t.Errorf("no %q", heading)
			}
		}
	})
}

// testedIDs are the acceptance ids in the names of this program's tests.
func testedIDs(t *testing.T, root string) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	name := regexp.MustCompile(`t\.Run\("([^"]*)"`)
	err := filepath.WalkDir(filepath.Join(root, "backend"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, found := range name.FindAllStringSubmatch(string(source), -1) {
			for _, id := range regexp.MustCompile(`SEC-\d\d`).FindAllString(found[1], -1) {
				ids[id] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
