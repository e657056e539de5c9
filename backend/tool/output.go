package tool

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// Excerpt keeps the head and the tail of a text of any length in bounded memory. The zero value
// keeps nothing: make it with NewExcerpt. Not safe for concurrent use.
type Excerpt struct {
	limit int // of head and tail together
	head  strings.Builder
	tail  []byte // at least the last limit/2 bytes, at most twice as many
	total int64
	lines int64 // newlines that went past the head
}

// maxNotice bounds the line that says how much is left out.
const maxNotice = 80

// NewExcerpt makes an Excerpt whose String is at most limit bytes; limit is at least 1 KiB.
func NewExcerpt(limit int) *Excerpt { return &Excerpt{limit: max(limit, 1<<10) - maxNotice} }

// Add appends a piece.
func (e *Excerpt) Add(piece string) {
	e.total += int64(len(piece))
	if room := e.limit/2 - e.head.Len(); room > 0 && len(e.tail) == 0 {
		cut := len(piece)
		if cut > room {
			cut = floorRune(piece, room)
		}
		e.head.WriteString(piece[:cut])
		piece = piece[cut:]
	}
	if piece == "" {
		return
	}
	e.lines += int64(strings.Count(piece, "\n"))
	e.tail = append(e.tail, piece...)
	if keep := e.limit / 2; len(e.tail) > 2*keep {
		e.tail = append(e.tail[:0], e.tail[len(e.tail)-keep:]...)
	}
}

// String gives the text, or its head and tail around one line that says how much is left out.
func (e *Excerpt) String() string {
	if !e.Truncated() {
		return e.head.String() + string(e.tail)
	}
	tail := string(e.tail[max(0, len(e.tail)-e.limit/2):])
	for tail != "" && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	left := e.total - int64(e.head.Len()) - int64(len(tail))
	lines := e.lines - int64(strings.Count(tail, "\n"))
	return fmt.Sprintf("%s\n[… %d bytes, %d line ends left out …]\n%s", e.head.String(), left, lines, tail)
}

// Truncated reports whether String leaves something out.
func (e *Excerpt) Truncated() bool { return e.total > int64(e.limit) }

// Truncate bounds a text to MaxResultBytes, keeping head and tail.
func Truncate(s string) (text string, truncated bool) {
	if len(s) <= MaxResultBytes {
		return s, false
	}
	e := NewExcerpt(MaxResultBytes)
	e.Add(s)
	return e.String(), e.Truncated()
}

// floorRune gives the largest cut of s at or below limit that does not split a rune.
func floorRune(s string, limit int) int {
	if limit >= len(s) {
		return len(s)
	}
	for cut := limit; cut > limit-utf8.UTFMax && cut > 0; cut-- {
		if utf8.RuneStart(s[cut]) {
			return cut
		}
	}
	return limit // not UTF-8
}

// capStream passes on the first MaxStreamBytes of a call's output, then one closing line. Decisions
// D11: the stream is append-only and cannot keep a tail; the result has head and tail.
func capStream(out Output) Output {
	if out == nil {
		return func(string) {}
	}
	var (
		mu   sync.Mutex // guards left, and the order of pieces
		left = MaxStreamBytes
	)
	return func(piece string) {
		mu.Lock()
		defer mu.Unlock()
		if left < 0 || piece == "" {
			return
		}
		if len(piece) <= left {
			left -= len(piece)
			out(piece)
			return
		}
		cut := floorRune(piece, left)
		left = -1
		out(piece[:cut] + fmt.Sprintf("\n[… more than %d KiB of output; the rest is not shown while it runs …]\n", MaxStreamBytes>>10))
	}
}

// Text makes bytes readable as text: what is not UTF-8, and NUL, becomes U+FFFD.
func Text(b []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "\uFFFD")
}
