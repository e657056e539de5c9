package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Brief makes raw words ready for a place with little room where a person decides on them: one line,
// with everything that could deceive spelt out, cut in the middle to at most columns columns so that
// both ends show. The result is valid UTF-8, and every ⟨ in it is ours.
func Brief(raw string, columns int) string { return brief(raw, columns, true) }

// BriefLines is Brief for a place that has lines.
func BriefLines(raw string, columns int) string { return brief(raw, columns, false) }

const (
	// More raw bytes than this are cut before they are looked at: nobody sees them.
	rawLimit = 64 << 10
	// So many blanks in a row push what follows out of sight; so many line breaks do it downwards.
	manyBlanks = 8
	manyBreaks = 4
	// A letter carries a few marks in real scripts; a pile of them covers its neighbours.
	manyMarks = 4
	// No word is read further than this.
	longWord = 64
)

func brief(raw string, columns int, oneLine bool) string {
	// Spaces at the ends deceive nobody.
	raw = strings.Trim(strings.ReplaceAll(raw, "\r\n", "\n"), " \t\n")
	if len(raw) <= rawLimit {
		return cut(spell(raw, oneLine), nil, 0, columns)
	}
	head, tail := raw[:rawLimit/2], raw[len(raw)-rawLimit/2:]
	return cut(spell(head, oneLine), spell(tail, oneLine), utf8.RuneCountInString(raw[len(head):len(raw)-len(tail)]), columns)
}

// spell gives the pieces that are shown: characters, or what stands for them, which is never cut apart.
func spell(raw string, oneLine bool) []string {
	// A lone surrogate, or half a character, is none at all.
	rs := []rune(strings.ToValidUTF8(raw, "\uFFFD"))
	var pieces []string
	marks := 0
	for i := 0; i < len(rs); {
		r := rs[i]
		n := run(rs[i:])
		switch {
		case r == '\n' && n > manyBreaks:
			pieces = append(pieces, fmt.Sprintf("⟨\\n×%d⟩", n))
			i += n
			continue
		case blank(r) && n >= manyBlanks:
			pieces = append(pieces, fmt.Sprintf("⟨space×%d⟩", n))
			i += n
			continue
		}
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == '\n' && oneLine:
			pieces = append(pieces, newline)
		case r == '\t':
			pieces = append(pieces, " ")
		case deceptive(r), marks > manyMarks:
			pieces = append(pieces, point(r))
		default:
			pieces = append(pieces, string(r))
			if foreign(rs, i) {
				pieces = append(pieces, point(r))
			}
		}
		i++
	}
	return pieces
}

// run counts how many blanks, or line breaks, follow each other.
func run(rs []rune) int {
	same := blank
	if rs[0] == '\n' {
		same = func(r rune) bool { return r == '\n' }
	}
	n := 0
	for n < len(rs) && same(rs[n]) {
		n++
	}
	return n
}

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\u3000' }

// deceptive is what is hidden, and what draws nothing of its own but changes or hides its neighbours.
func deceptive(r rune) bool {
	switch {
	case r == '⟨', r == '⟩', // the brackets are ours
		r == '\u17b4', r == '\u17b5', r >= '\u180b' && r <= '\u180f', r >= '\ufe00' && r <= '\ufe0f',
		r >= 0xe0000 && r <= 0xe0fff:
		return true
	case r == '\n', r == '\u3000': // a space of Chinese text
		return false
	}
	return hidden(r)
}

// foreign reports a Cyrillic or Greek letter in a word with Latin ones: it is read as what it is not.
func foreign(rs []rune, at int) bool {
	if !unicode.In(rs[at], unicode.Cyrillic, unicode.Greek) {
		return false
	}
	word := func(r rune) bool { return unicode.In(r, unicode.L, unicode.M) }
	for _, step := range []int{-1, 1} {
		for i := at + step; i >= 0 && i < len(rs) && word(rs[i]) && (i-at)*step <= longWord; i += step {
			if unicode.Is(unicode.Latin, rs[i]) {
				return true
			}
		}
	}
	return false
}

func cutMark(n int) string { return fmt.Sprintf(" ⟨…%d⟩ ", n) }

// cut joins both ends. When they take more than columns columns, or characters between them are missing
// already, it leaves out the middle and says how many characters that are.
func cut(head, tail []string, missing, columns int) string {
	total := 0
	for _, p := range head {
		total += width(p)
	}
	if missing == 0 && total <= columns {
		return strings.Join(head, "")
	}
	if missing == 0 {
		tail = head
	}
	room := max(columns-width(cutMark(missing+len(head)+len(tail))), 2)
	first, last := 0, len(tail)
	for used := 0; first < len(head) && used+width(head[first]) <= room-room/2; first++ {
		used += width(head[first])
	}
	for used := 0; last > 0 && used+width(tail[last-1]) <= room/2; last-- {
		used += width(tail[last-1])
	}
	left := last - first // the same pieces, from both ends
	if missing > 0 {
		left = len(head) - first + missing + last
	}
	return strings.Join(head[:first], "") + cutMark(left) + strings.Join(tail[last:], "")
}

// width is how many columns a piece takes: two for each letter of the wide scripts.
func width(piece string) int {
	n := 0
	for _, r := range piece {
		n++
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r >= 0xff00 && r <= 0xff60 || r >= 0x1f000 && r < 0x20000 {
			n++
		}
	}
	return n
}
