package session

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"aalis/backend/core"
)

// Text goes to a client as it comes. Only while the connection has just been written to, or has not
// got rid of what it was sent, pieces wait and are merged per item (kernel 0.11).
const (
	textPause = 8 * time.Millisecond
	textMost  = 64 << 10 // bytes that wait at most; more is sent whatever the connection does
)

// textFeed is the text that waits, in the order of the items' first pieces. Guarded by feed.mu.
type textFeed struct {
	waiting []*waitingText
	bytes   int
	sent    time.Time // when items or text were last sent
	frame   []byte    // reused
}

type waitingText struct {
	sub  *subscription
	item string
	text strings.Builder
	tick int64 // of the newest piece
}

// pushText sends a piece, or lets it wait.
func (c *Conn) pushText(sub *subscription, e core.Entry) {
	f := &c.feed.items.text
	now := time.Now()
	if len(f.waiting) == 0 && c.free(now) {
		c.sendText(sub, e.Piece.ItemID, e.Piece.Text, e.Tick)
		f.sent = now
		return
	}
	f.add(sub, e)
	if f.bytes >= textMost {
		c.flushText()
	}
}

// free reports whether the connection would send a frame at once.
func (c *Conn) free(now time.Time) bool {
	return now.Sub(c.feed.items.text.sent) >= textPause && (c.peer.Queued == nil || c.peer.Queued() == 0)
}

func (f *textFeed) add(sub *subscription, e core.Entry) {
	f.bytes += len(e.Piece.Text)
	for _, w := range f.waiting { // a handful of items at most
		if w.sub == sub && w.item == e.Piece.ItemID {
			w.text.WriteString(e.Piece.Text)
			w.tick = e.Tick
			return
		}
	}
	w := &waitingText{sub: sub, item: e.Piece.ItemID, tick: e.Tick}
	w.text.WriteString(e.Piece.Text)
	f.waiting = append(f.waiting, w)
}

func (f *textFeed) drop() {
	clear(f.waiting)
	f.waiting, f.bytes = f.waiting[:0], 0
}

// due is how long the waiting text may wait; without any, forever.
func (f *textFeed) due(now time.Time) (pause time.Duration, waits bool) {
	if len(f.waiting) == 0 {
		return 0, false
	}
	if pause = textPause - now.Sub(f.sent); pause > 0 {
		return pause, true
	}
	return textPause, true // the connection has not got rid of what it was sent; look again
}

// flushText sends everything that waits. The newest ticks of the items are given out in order of the
// frames, so that seq rises although an item's pieces were moved forward to its first.
func (c *Conn) flushText() {
	f := &c.feed.items.text
	if len(f.waiting) == 0 {
		return
	}
	ticks := make([]int64, len(f.waiting))
	for i, w := range f.waiting {
		ticks[i] = w.tick
	}
	slices.Sort(ticks)
	for i, w := range f.waiting {
		c.sendText(w.sub, w.item, w.text.String(), ticks[i])
	}
	f.drop()
	f.sent = time.Now()
}

// flushDue sends what waits if it may go now.
func (c *Conn) flushDue() {
	if c.free(time.Now()) {
		c.flushText()
	}
}

// sendText writes one item/delta by hand: it is the one frame that is made for every piece of text,
// of the piece's length and a little more, however long the item has become (FAIL-E11).
func (c *Conn) sendText(sub *subscription, item, text string, tick int64) {
	b := append(c.feed.items.text.frame[:0], sub.head...)
	b = strconv.AppendInt(b, seqOf(tick, 0), 10)
	b = appendString(append(b, `,"itemId":`...), item)
	b = appendString(append(b, `,"text":`...), text)
	b = append(b, "}}"...)
	c.feed.items.text.frame = b
	c.send(string(b))
}

// appendString writes a JSON string as the encoder of every other frame does.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		n := 1
		var escaped string
		switch ch := s[i]; {
		case ch == '"' || ch == '\\':
			escaped = escapes[ch]
		case ch < ' ':
			if escaped = escapes[ch]; escaped == "" {
				escaped = `\u00` + hexDigits[ch>>4:ch>>4+1] + hexDigits[ch&15:ch&15+1]
			}
		case ch >= utf8.RuneSelf:
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				escaped = `\ufffd`
			case r == '\u2028':
				escaped = `\u2028`
			case r == '\u2029':
				escaped = `\u2029`
			}
		}
		if escaped != "" {
			b = append(append(b, s[from:i]...), escaped...)
			from = i + n
		}
		i += n
	}
	return append(append(b, s[from:]...), '"')
}

const hexDigits = "0123456789abcdef"

var escapes = [256]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
