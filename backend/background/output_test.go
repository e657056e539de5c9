package background

import (
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// model is a text as UTF-16 units, all of it.
type model []uint16

func (m *model) add(piece string) { *m = append(*m, utf16.Encode([]rune(piece))...) }

// pair reports whether a position is inside of a character.
func (m model) pair(at int) bool {
	return at > 0 && at < len(m) && utf16.IsSurrogate(rune(m[at])) && utf16.DecodeRune(rune(m[at-1]), rune(m[at])) != '\uFFFD'
}

func (m model) after(pos int) (text string, end int, truncated bool) {
	start := max(0, len(m)-keptUnits)
	if m.pair(start) {
		start++
	}
	if pos >= len(m) {
		return "", len(m), false
	}
	from := max(pos, start)
	if m.pair(from) {
		from--
	}
	return string(utf16.Decode(m[from:])), len(m), pos < start
}

func TestRing(t *testing.T) {
	t.Run("SP-BG-22 SP-BG-23 SP-BG-24 the ring is the tail of the text, in UTF-16 units, and cuts no character", rapid.MakeCheck(func(t *rapid.T) {
		var r ring
		var m model
		piece := rapid.OneOf(
			rapid.StringN(0, 40, -1),
			rapid.Custom(func(t *rapid.T) string {
				part := rapid.SampledFrom([]string{"a", "é", "漢", "😀", "😀a", "\n", "a😀漢"}).Draw(t, "part")
				return strings.Repeat(part, rapid.IntRange(1, 70_000).Draw(t, "times"))
			}),
		)
		for range rapid.IntRange(1, 5).Draw(t, "pieces") {
			p := piece.Draw(t, "piece")
			r.add(p)
			m.add(p)
			if rapid.IntRange(0, 5).Draw(t, "shrink") == 0 {
				r.shrink()
			}
			if len(r.tail) > 3*2*keptUnits+3*70_000*4 {
				t.Fatalf("%d bytes are held", len(r.tail))
			}
			near := max(0, len(m)-keptUnits)
			for _, pos := range []int{0, near + 1, len(m), rapid.IntRange(max(0, near-3), len(m)+3).Draw(t, "pos")} {
				text, end, truncated := r.after(int64(pos))
				wantText, wantEnd, wantTruncated := m.after(pos)
				if text != wantText || int(end) != wantEnd || truncated != wantTruncated {
					t.Fatalf("after %d of %d: %d bytes, %d, %v; want %d bytes, %d, %v", pos, len(m), len(text), end, truncated, len(wantText), wantEnd, wantTruncated)
				}
			}
		}
	}))
	t.Run("a reader that passes end on gets everything once", rapid.MakeCheck(func(t *rapid.T) {
		var r ring
		var whole, read strings.Builder
		var at int64
		for range rapid.IntRange(1, 30).Draw(t, "pieces") {
			p := rapid.StringN(0, 30, -1).Draw(t, "piece")
			r.add(p)
			whole.WriteString(p)
			if rapid.Bool().Draw(t, "read") {
				text, end, _ := r.after(at)
				read.WriteString(text)
				at = end
			}
		}
		text, _, _ := r.after(at)
		read.WriteString(text)
		if read.String() != whole.String() {
			t.Fatalf("%q, want %q", read.String(), whole.String())
		}
	}))
	t.Run("what is not UTF-8 is no reason to break", func(t *testing.T) {
		var r ring
		r.add("a\xffb")
		if text, end, _ := r.after(0); text != "a\uFFFDb" || end != 3 {
			t.Errorf("%q, %d", text, end)
		}
	})
}

func TestLastLine(t *testing.T) {
	long := strings.Repeat("漢", 250)
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"only space", "\n \r\n\t\n", ""},
		{"the last with something in it", "one\ntwo\n\n  \n", "two"},
		{"one that has not ended", "one\ntwo", "two"},
		{"progress shows its newest state", "10%\r20%\r30%\r", "30%"},
		{"Windows' ends", "one\r\ntwo\r\n", "two"},
		{"colours and titles are no letters", "\x1b[1;31merror:\x1b[0m no\x1b]0;title\x07\n", "error: no"},
		{"control characters go, tabs are spaces", "a\x00b\x07\tc\n", "ab c"},
		{"200 characters", long, long[:200*3]},
	} {
		t.Run("SP-BG-10 "+c.name, func(t *testing.T) {
			if got := lastLine(c.text); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
