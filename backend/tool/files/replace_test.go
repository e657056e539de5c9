package files

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestReplaceText(t *testing.T) {
	for _, c := range []struct {
		name, content, old, new string
		all                     bool
		want                    replacement
	}{
		{"once", "a\nb\nc\n", "b", "x", false, replacement{"a\nx\nc\n", 1, 2}},
		{"across lines", "a\nb\nc", "b\nc", "", false, replacement{"a\n", 1, 2}},
		{"every", "a b a", "a", "aa", true, replacement{"aa b aa", 2, 1}},
		{"CRLF stays CRLF", "a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n", false, replacement{"x\r\ny\r\nc\r\n", 1, 1}},
		{"CRLF said in so many words", "a\r\nb\r\n", "a\r\nb", "a b", false, replacement{"a b\r\n", 1, 1}},
		{"mixed line ends are left alone", "a\r\nb\nc\n", "b\nc", "x", false, replacement{"a\r\nx\n", 1, 2}},
		{"a byte order mark and a missing newline stay", "\uFEFFa", "a", "b", false, replacement{"\uFEFFb", 1, 1}},
		{"bytes that are not UTF-8 stay", "caf\xe9 a", "a", "b", true, replacement{"cbf\xe9 b", 2, 1}},
		{"regexp and template marks are plain", "a.*$1", ".*$1", `\1$0`, false, replacement{`a\1$0`, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := replaceText(c.content, c.old, c.new, c.all)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(replacement{})); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	for _, c := range []struct {
		name, content, old string
		all                bool
		want               string
	}{
		{"twice", "x\nsame\ny\nsame\n", "same", false, "old_text stands there 2 times, at lines 2, 4; take in more lines around the one you mean, or set replace_all"},
		{"overlapping", "aaa", "aa", false, "old_text stands there 2 times, at lines 1, 1; take in more lines around the one you mean, or set replace_all"},
		{"nothing like it", "a\nb\n", "completely different", false, "old_text does not stand there, nor anything like it; read the file again"},
		{"nothing like it, all", "a\nb\n", "completely different", true, "old_text does not stand there, nor anything like it; read the file again"},
		{"in an empty file", "", "x", false, "old_text does not stand there, nor anything like it; read the file again"},
		{
			"a slip", "func main() {\n\treturn compute(1)\n}\n", "func main() {\n\treturn compute(2)\n}", false,
			"old_text does not stand there; the nearest lines are, from line 1:\nfunc main() {\n\treturn compute(1)\n}",
		},
		{
			"white space", "x\n\tif a {\n\t\tb()\n\t}\n", "if a {\n    b()\n}", false,
			"old_text does not stand there; line 2 and what follows differ from it only in white space:\n\tif a {\n\t\tb()\n\t}",
		},
		{"escaped twice", "a\n\tb\n", `a\n\tb`, false, `old_text does not stand there; it does when its \n, \t or \" are written as the characters themselves (they are escaped twice)`},
		{"mixed line ends", "a\r\nb\nc\n", "a\nb", false, "old_text does not stand there; its line ends differ from the file's, which mixes CRLF and LF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := replaceText(c.content, c.old, "new", c.all)
			if err == nil || err.Error() != c.want {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

func TestReplaceTextIsExact(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b", "ab", "\n", "\r\n", " ", "é", "\t"})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		head, tail := text.Draw(t, "head"), text.Draw(t, "tail")
		old, fresh := "«"+text.Draw(t, "old")+"»", text.Draw(t, "new")
		content := head + old + tail
		got, err := replaceText(content, old, fresh, rapid.Bool().Draw(t, "all"))
		if err != nil {
			t.Fatalf("%q in %q: %v", old, content, err)
		}
		want := head + fresh + tail
		if everyCRLF(content) && !strings.Contains(old, "\r") && !strings.Contains(fresh, "\r") {
			want = head + strings.ReplaceAll(fresh, "\n", "\r\n") + tail
		}
		if got.text != want || got.count != 1 || got.line != strings.Count(head, "\n")+1 {
			t.Fatalf("%+v, want %q", got, want)
		}
		// Doubled, it is refused unless all are meant.
		if _, err := replaceText(content+old, old, fresh, false); err == nil {
			t.Fatal("two places and no error")
		}
		if strings.Contains(want, old) {
			return
		}
		if _, err := replaceText(want, old, "x", true); err == nil {
			t.Fatalf("replaced what is not there: %q in %q", old, want)
		}
	})
}

func TestMissedIsQuick(t *testing.T) {
	content := strings.Repeat(strings.Repeat("abcdefgh", 40)+"\n", 40_000)
	if _, err := replaceText(content, strings.Repeat("abcdefgi", 40), "x", false); err == nil {
		t.Error("no error")
	}
}
