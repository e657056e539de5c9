package tool

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNewDiff(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after []byte
		want          string
	}{
		{
			"one line in the middle", []byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), []byte("1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
			"--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
		},
		{
			"two hunks", []byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), []byte("one\n2\n3\n4\n5\n6\n7\n8\nnine\n"),
			"--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+nine\n",
		},
		{"a file that is new", nil, []byte("a\nb\n"), "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"a file that is new and empty", nil, []byte{}, "--- /dev/null\n+++ b/f\n"},
		{"an empty file filled", []byte{}, []byte("a\n"), "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"},
		{"emptied", []byte("a\n"), []byte{}, "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n"},
		{"the last newline", []byte("a\nb"), []byte("a\nb\n"), "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"line ends", []byte("a\r\n"), []byte("a\n"), "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\r\n+a\n"},
		{"nothing", []byte("a\n"), []byte("a\n"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(&Diff{Path: "f", Patch: c.want}, NewDiff("f", c.before, c.after)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("no diff of a binary, a foreign encoding, or beyond the limit", func(t *testing.T) {
		large := bytes.Repeat([]byte("0123456789abcde\n"), MaxDiffBytes/16+1)
		for name, pair := range map[string][2][]byte{
			"binary before": {[]byte("a\x00b"), []byte("a")}, "binary after": {[]byte("a"), []byte("a\x00b")},
			"not UTF-8":    {[]byte("caf\xe9\n"), []byte("cafe\n")},
			"large before": {large, []byte("a")}, "large after": {nil, large},
			"large patch": {bytes.Repeat([]byte("a\n"), MaxDiffBytes/3), bytes.Repeat([]byte("b\n"), MaxDiffBytes/3)},
		} {
			if got := NewDiff("f", pair[0], pair[1]); got != nil {
				t.Errorf("%s: a diff of %d bytes", name, len(got.Patch))
			}
		}
	})
}

// textGen makes texts of few different lines, so that many of them repeat.
func textGen() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		some := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "}", "", "same", "x\r", "é", "-minus", "+plus", " pad"}), 0, 40).Draw(t, "lines")
		end := rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		return strings.Join(some, "\n") + end
	})
}

// apply is a patch program of its own: it reads the hunks and checks every line they name.
func apply(before, patch string) (string, error) {
	have := lines([]byte(before))
	var out strings.Builder
	at := 0
	rows := strings.SplitAfter(patch, "\n")
	for i := 2; i < len(rows) && rows[i] != ""; {
		var head, tail string
		if _, err := fmt.Sscanf(rows[i], "@@ -%s +%s @@\n", &head, &tail); err != nil {
			return "", fmt.Errorf("row %d %q: %w", i, rows[i], err)
		}
		first, count, found := strings.Cut(head, ",")
		start, err := strconv.Atoi(first)
		if err != nil {
			return "", err
		}
		if !found || count != "0" {
			start--
		}
		for ; at < start; at++ {
			out.WriteString(have[at])
		}
		for i++; i < len(rows) && rows[i] != "" && !strings.HasPrefix(rows[i], "@@"); i++ {
			mark, line := rows[i][0], rows[i][1:]
			if i+1 < len(rows) && strings.HasPrefix(rows[i+1], `\`) {
				line = strings.TrimSuffix(line, "\n")
			}
			if mark == '\\' {
				continue
			}
			if mark != '+' {
				if at >= len(have) || have[at] != line {
					return "", fmt.Errorf("row %d: %q is not at line %d", i, line, at+1)
				}
				at++
			}
			if mark != '-' {
				out.WriteString(line)
			}
		}
	}
	for ; at < len(have); at++ {
		out.WriteString(have[at])
	}
	return out.String(), nil
}

func TestDiffApplies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := textGen().Draw(t, "before"), textGen().Draw(t, "after")
		diff := NewDiff("f", []byte(before), []byte(after))
		got, err := apply(before, diff.Patch)
		if err != nil || got != after {
			t.Fatalf("applying\n%s\nto %q gives %q, %v; want %q", diff.Patch, before, got, err, after)
		}
		if before == after && diff.Patch != "" {
			t.Fatalf("a patch between equal texts: %s", diff.Patch)
		}
	})
}

// TestDiffWithPatch lets the system's own patch program judge.
func TestDiffWithPatch(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		if patch, err = exec.LookPath("git"); err != nil {
			t.Log("neither patch nor git is here; TestDiffApplies is the check")
			return
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		before, after := textGen().Draw(t, "before"), textGen().Draw(t, "after")
		if before == "" || after == "" || before == after { // an empty side means a file that is made or removed
			return
		}
		dir, err := os.MkdirTemp("", "aalis-diff")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		file := filepath.Join(dir, "f")
		if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(patch, "--binary", "-s", "-p1", "-d", dir)
		if strings.HasSuffix(patch, "git") {
			cmd = exec.Command(patch, "apply", "--whitespace=nowarn", "-")
			cmd.Dir = dir
		}
		text := NewDiff("f", []byte(before), []byte(after)).Patch
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, text)
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != after {
			t.Fatalf("%q, %v; want %q from %q by\n%s", got, err, after, before, text)
		}
	})
}

func TestDiffIsFast(t *testing.T) {
	var before, after strings.Builder
	for i := range MaxDiffBytes / 8 {
		fmt.Fprintf(&before, "%d\n", i%9)
		fmt.Fprintf(&after, "%d\n", i%7)
	}
	start := time.Now()
	NewDiff("f", []byte(before.String()), []byte(after.String()))
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("the largest files without a common line took %v", took)
	}
}
