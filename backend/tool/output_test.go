package tool

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTruncate(t *testing.T) {
	t.Run("a short text stays as it is", func(t *testing.T) {
		text := strings.Repeat("x", MaxResultBytes)
		if got, cut := Truncate(text); got != text || cut {
			t.Errorf("cut: %v, %d bytes", cut, len(got))
		}
	})
	t.Run("a long one keeps head and tail and says how much is missing", func(t *testing.T) {
		text := "HEAD" + strings.Repeat("\n0123456789", 20_000) + "TAIL"
		got, cut := Truncate(text)
		if !cut || len(got) > MaxResultBytes || !strings.HasPrefix(got, "HEAD\n0") || !strings.HasSuffix(got, "9TAIL") {
			t.Fatalf("cut: %v, %d bytes", cut, len(got))
		}
		head, rest, _ := strings.Cut(got, "\n[… ")
		notice, tail, _ := strings.Cut(rest, " line ends left out …]\n")
		left := text[len(head) : len(text)-len(tail)]
		if want := fmt.Sprintf("%d bytes, %d", len(left), strings.Count(left, "\n")); notice != want {
			t.Errorf("the notice says %q, want %q", notice, want)
		}
	})
}

func TestExcerptHoldsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.StringN(0, 200, -1)).Draw(t, "pieces")
		e := NewExcerpt(1 << 10)
		for _, piece := range pieces {
			e.Add(piece)
		}
		text, got := strings.Join(pieces, ""), e.String()
		if !utf8.ValidString(got) || len(got) > 1<<10 {
			t.Fatalf("%d bytes, valid %v", len(got), utf8.ValidString(got))
		}
		if !e.Truncated() {
			if got != text {
				t.Fatalf("%q became %q", text, got)
			}
			return
		}
		head, rest, _ := strings.Cut(got, "\n[… ")
		_, tail, _ := strings.Cut(rest, "…]\n")
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(head) < 400 || len(tail) < 400 {
			t.Fatalf("%q and %q are not head and tail of %q", head, tail, text)
		}
	})
}

func TestStreamIsCapped(t *testing.T) {
	var mu sync.Mutex
	var got strings.Builder
	out := capStream(func(piece string) {
		mu.Lock()
		defer mu.Unlock()
		got.WriteString(piece)
	})
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 1000 {
				out("日本語のテキスト")
			}
			for range 40 {
				out(strings.Repeat("ü", 8000))
			}
		})
	}
	writers.Wait()
	out("more")
	text := got.String()
	if !utf8.ValidString(text) || len(text) > MaxStreamBytes+200 || len(text) < MaxStreamBytes {
		t.Errorf("%d bytes, valid %v", len(text), utf8.ValidString(text))
	}
	if strings.Count(text, "not shown while it runs") != 1 || !strings.HasSuffix(text, "…]\n") {
		t.Errorf("the closing line is not there once and last: %q", text[len(text)-200:])
	}
}
