package session

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aalis/backend/event"
	"aalis/backend/store"
)

func TestAppendString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.OneOf(
			rapid.String(), rapid.StringMatching("[a-z\"\\\\\n\t\x00-\x1f\u2028\u2029<>&é漢😀]*"),
			rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) }),
		).Draw(t, "words")
		var want strings.Builder
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(words); err != nil {
			t.Fatal(err)
		}
		if got := string(appendString(nil, words)) + "\n"; got != want.String() {
			t.Fatalf("%s, want %s", got, want.String())
		}
	})
}

// BenchmarkDelta writes the frame of one piece: its cost is the piece's, not the item's.
func BenchmarkDelta(b *testing.B) {
	for _, piece := range []string{" a few words", strings.Repeat("几个字 ", 100)} {
		b.Run("", func(b *testing.B) {
			var bytes int
			c := &Conn{}
			c.out.send = func(frame string) { bytes += len(frame) }
			sub := newSubscription(store.Session{SID: 1, ID: event.NewID()}, "kpp9EuNVodY", 0)
			item := event.NewID()
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				c.sendText(sub, item, piece, int64(n))
				n++
			}
			b.ReportMetric(float64(bytes)/float64(n)-float64(len(piece)), "extraB/delta")
		})
	}
}
