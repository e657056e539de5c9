package background

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// keptUnits is how much of a task's output is kept, in UTF-16 units (decisions G4).
const keptUnits = 64 << 10

// ring keeps the tail of a text of any length: at most keptUnits UTF-16 units, whole characters.
// Positions are counted in those units from the beginning, as the protocol's clients count
// (decisions G3). The zero value is empty.
type ring struct {
	tail  []byte // UTF-8; up to twice what is kept, so that it is moved now and then only
	units int64  // in tail
	total int64  // in all
}

// add appends a piece. What is not UTF-8 becomes U+FFFD.
func (r *ring) add(piece string) {
	piece = strings.ToValidUTF8(piece, "\uFFFD")
	n := units(piece)
	r.tail = append(r.tail, piece...)
	r.units += n
	r.total += n
	if r.units > 2*keptUnits {
		r.shrink()
	}
}

// shrink lets go of what is not kept.
func (r *ring) shrink() {
	kept := r.kept()
	r.tail, r.units = []byte(kept), units(kept)
}

func units(s string) (n int64) {
	for _, c := range s {
		n += int64(utf16.RuneLen(c))
	}
	return n
}

// kept is the longest end of the text that is not too long and begins with a whole character.
func (r *ring) kept() string {
	s, _ := skip(string(r.tail), r.units-keptUnits)
	return s
}

// skip leaves out whole characters until at least n units are gone.
func skip(s string, n int64) (rest string, skipped int64) {
	at := 0
	for skipped < n {
		c, size := utf8.DecodeRuneInString(s[at:])
		at += size
		skipped += int64(utf16.RuneLen(c))
	}
	return s[at:], skipped
}

// after gives what follows a position, the position of the end, and whether something between is no
// longer kept. A position inside of a character is its beginning, so that nothing is lost.
func (r *ring) after(pos int64) (text string, end int64, truncated bool) {
	kept := r.kept()
	start := r.total - units(kept)
	switch {
	case pos >= r.total:
		return "", r.total, false
	case pos < start:
		return kept, r.total, true
	}
	rest, skipped := skip(kept, pos-start)
	if skipped > pos-start {
		_, size := utf8.DecodeLastRuneInString(kept[:len(kept)-len(rest)])
		rest = kept[len(kept)-len(rest)-size:]
	}
	return rest, r.total, false
}

// lineMax bounds a last line, in characters (decisions G10).
const lineMax = 200

// sequences are what terminals take for colours and titles; their ends would be left as letters.
var sequences = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-_])`)

// lastLine is the last line with something to read in it, without control characters. What a
// carriage return has written over is a line of its own.
func lastLine(s string) string {
	for s != "" {
		cut := strings.LastIndexAny(s, "\r\n")
		line := sequences.ReplaceAllString(s[cut+1:], "")
		line = strings.TrimSpace(strings.Map(func(c rune) rune {
			if unicode.IsControl(c) && c != '\t' {
				return -1
			}
			return c
		}, line))
		if line = strings.ReplaceAll(line, "\t", " "); line != "" {
			return firstRunes(line, lineMax)
		}
		s = s[:max(cut, 0)]
	}
	return ""
}

func firstRunes(s string, n int) string {
	for at := range s {
		if n == 0 {
			return s[:at]
		}
		n--
	}
	return s
}
