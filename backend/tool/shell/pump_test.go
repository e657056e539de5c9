package shell

import (
	"strings"
	"testing"

	"aalis/backend/tool"

	"pgregory.net/rapid"
)

// TestPumpDoesNotDependOnPieces feeds the same bytes in different pieces.
func TestPumpDoesNotDependOnPieces(t *testing.T) {
	some := rapid.SampledFrom([]string{"a", "é", "日本", "\r", "\n", "\r\n", "\xff", "\x00", "sk-secret", "sk-sec", "sk-secret-long", "-long", "long line "})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(some, 0, 40).Draw(t, "text"), "")
		secrets := worthHiding([]string{"sk-secret", "sk-secret-long", "long line long"})
		feed := func(pieces []string) (stream, result string) {
			var out strings.Builder
			p := newPump(func(piece string) { out.WriteString(piece) }, secrets)
			for _, piece := range pieces {
				p.add([]byte(piece))
			}
			p.finish()
			return out.String(), p.text()
		}
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 5)).Draw(t, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		wantStream, wantResult := feed([]string{text})
		stream, result := feed(pieces)
		// A run of bytes that are no text may become one mark or several.
		squeeze := func(s string) string {
			for strings.Contains(s, "\uFFFD\uFFFD") {
				s = strings.ReplaceAll(s, "\uFFFD\uFFFD", "\uFFFD")
			}
			return s
		}
		if squeeze(stream) != squeeze(wantStream) || squeeze(result) != squeeze(wantResult) {
			t.Fatalf("%q in pieces: stream %q, want %q; result %q, want %q", text, stream, wantStream, result, wantResult)
		}
		for _, secret := range secrets {
			if strings.Contains(stream, secret) {
				t.Fatalf("%q is in %q", secret, stream)
			}
		}
	})
}

func TestLongLineWithoutEnd(t *testing.T) {
	var out strings.Builder
	p := newPump(func(piece string) { out.WriteString(piece) }, nil)
	for range 5000 {
		p.add([]byte(strings.Repeat("x", 100)))
	}
	p.add([]byte("\rnext\n"))
	p.finish()
	if got := p.text(); len(got) > tool.MaxResultBytes-noteRoom || !strings.HasSuffix(got, "x\nnext\n") {
		t.Errorf("%d bytes: …%q", len(got), got[len(got)-20:])
	}
}
