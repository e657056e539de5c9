package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain 你好 é 👍\n\tx":      "plain 你好 é 👍\n\tx",
		"\x1b[31mred\x1b[0m":     "⟨U+001B⟩[31mred⟨U+001B⟩[0m",
		"rm -rf \u202e/ bus":     "rm -rf ⟨U+202E⟩/ bus",
		"a\u200bb\u2060c\ufeffd": "a⟨U+200B⟩b⟨U+2060⟩c⟨U+FEFF⟩d",
		"x\r\ny\u3164\u00a0":     "x⟨U+000D⟩\ny⟨U+3164⟩⟨U+00A0⟩",
	} {
		if got := Visible(in); got != want {
			t.Errorf("SP-APPR-30 Visible(%q) = %q, want %q", in, got, want)
		}
	}
	if got := VisibleLine("a\nb\tc"); got != "a⏎b c" {
		t.Error(got)
	}
}

func TestBrief(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "go test ./... 你好", "go test ./... 你好"},
		{"FAIL-B20 bidi", "rm \u202e-rf", "rm ⟨U+202E⟩-rf"},
		{"FAIL-B20 zero width", "rm\u200b x", "rm⟨U+200B⟩ x"},
		{"FAIL-B20 tag block", "a\U000e0041", "a⟨U+E0041⟩"},
		{"FAIL-B20 variation selectors", "a\ufe0f\U000e0100", "a⟨U+FE0F⟩⟨U+E0100⟩"},
		{"FAIL-B20 private, unassigned", "\ue000\u0378", "⟨U+E000⟩⟨U+0378⟩"},
		{"FAIL-B20 surrogate", "a\xed\xa0\x80b", "a\uFFFDb"},
		{"FAIL-B20 spaces", "ls" + strings.Repeat(" ", 400) + "; rm -rf ~", "ls⟨space×400⟩; rm -rf ~"},
		{"FAIL-B20 wide spaces", "ls" + strings.Repeat("\u3000", 9) + "x", "ls⟨space×9⟩x"},
		{"FAIL-B20 lines", "ls\nrm", "ls⏎rm"},
		{"FAIL-B20 many lines", "ls\n\n\n\n\n\nrm", "ls⟨\\n×6⟩rm"},
		{"FAIL-B20 marks", "a\u0301\u0301\u0301\u0301\u0301b", "a\u0301\u0301\u0301\u0301⟨U+0301⟩b"},
		{"FAIL-B21 homograph", "p\u0430ypal", "pа⟨U+0430⟩ypal"},
		{"FAIL-B21 a word of its own", "привет Δ", "привет Δ"},
		{"FAIL-B21 our own signs", "a ⟨…7⟩ b", "a ⟨U+27E8⟩…7⟨U+27E9⟩ b"},
		{"cut", strings.Repeat("a", 50) + strings.Repeat("b", 50), strings.Repeat("a", 16) + " ⟨…68⟩ " + strings.Repeat("b", 16)},
		{"cut wide", strings.Repeat("好", 50), strings.Repeat("好", 8) + " ⟨…34⟩ " + strings.Repeat("好", 8)},
		{"cut no escape", strings.Repeat("\u202e", 50), "⟨U+202E⟩⟨U+202E⟩ ⟨…46⟩ ⟨U+202E⟩⟨U+202E⟩"},
		{"blank", " \n\t", ""},
	} {
		if got := Brief(c.in, 40); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	long := Brief("start"+strings.Repeat("x", 1<<20)+"end", 40)
	if !strings.HasPrefix(long, "start") || !strings.HasSuffix(long, "end") || !strings.Contains(long, "⟨…1048556⟩") || utf8.RuneCountInString(long) > 40 {
		t.Error(long)
	}
	if got := BriefLines("a\nb", 40); got != "a\nb" {
		t.Error(got)
	}
}

// TestBriefCharacters goes through all of unicode: whatever a person cannot see stands there as a sign.
func TestBriefCharacters(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		got := Brief("a"+string(r)+"b", 40)
		silent := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) || !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z) ||
			r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
		switch {
		case !utf8.ValidRune(r): // a surrogate
			if got != "a\uFFFDb" {
				t.Errorf("FAIL-B20 %U: %q", r, got)
			}
		case r == '\n' && got != "a⏎b", r == '\t' && got != "a b":
			t.Errorf("%U: %q", r, got)
		case r != '\n' && r != '\t' && silent && got != "a"+point(r)+"b":
			t.Errorf("FAIL-B20 %U: %q", r, got)
		}
	}
}

func FuzzBrief(f *testing.F) {
	f.Add("rm -rf \u202e/", 40)
	f.Add(strings.Repeat("\u3000 ", 100)+"\xff", 10)
	f.Fuzz(func(t *testing.T, raw string, columns int) {
		columns = 24 + columns&0xff
		got := Brief(raw, columns)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, deceptiveButBrackets) || strings.Contains(got, strings.Repeat(" ", manyBlanks)) {
			t.Fatalf("%q", got)
		}
		if w := width(got); w > columns+1 {
			t.Fatalf("%d columns: %q", w, got)
		}
	})
}

func deceptiveButBrackets(r rune) bool {
	return r != '⟨' && r != '⟩' && (r == '\n' || deceptive(r))
}
