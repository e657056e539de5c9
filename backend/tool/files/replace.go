package files

import (
	"errors"
	"fmt"
	"strings"
)

// replacement is a text after the replacement.
type replacement struct {
	text  string
	count int
	line  int // of the first one, from 1
}

// replaceText puts new in the place of old. Unless all is set, old must stand in content exactly
// once, overlapping occurrences counted. In a file whose every line end is CRLF, an LF of old and
// new stands for it; nothing else is taken loosely. The error says what is wrong and where old was
// probably meant to match.
func replaceText(content, old, new string, all bool) (replacement, error) {
	if everyCRLF(content) && !strings.Contains(old, "\r") && !strings.Contains(new, "\r") {
		old = strings.ReplaceAll(old, "\n", "\r\n")
		new = strings.ReplaceAll(new, "\n", "\r\n")
	}
	found := occurrences(content, old)
	switch {
	case len(found) == 0:
		return replacement{}, missed(content, old)
	case len(found) > 1 && !all:
		return replacement{}, fmt.Errorf("old_text stands there %d times, at %s; take in more lines around the one you mean, or set replace_all",
			len(found), linesOf(content, found))
	}
	return replacement{
		text:  strings.ReplaceAll(content, old, new),
		count: strings.Count(content, old),
		line:  lineOf(content, found[0]),
	}, nil
}

func everyCRLF(s string) bool {
	crlf := strings.Count(s, "\r\n")
	return crlf > 0 && crlf == strings.Count(s, "\n")
}

// occurrences are the offsets of old, overlapping ones too.
func occurrences(content, old string) []int {
	var found []int
	for from := 0; ; {
		at := strings.Index(content[from:], old)
		if at < 0 {
			return found
		}
		found = append(found, from+at)
		from += at + 1
	}
}

func lineOf(content string, offset int) int { return strings.Count(content[:offset], "\n") + 1 }

func linesOf(content string, offsets []int) string {
	const shown = 8
	var names []string
	for i, offset := range offsets {
		if i == shown {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprint(lineOf(content, offset)))
	}
	return "lines " + strings.Join(names, ", ")
}

// missed explains why old does not stand in content.
func missed(content, old string) error {
	const reason = "old_text does not stand there"
	if plain := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`).Replace(old); plain != old && strings.Contains(content, plain) {
		return errors.New(reason + `; it does when its \n, \t or \" are written as the characters themselves (they are escaped twice)`)
	}
	if strings.Contains(unix(content), unix(old)) {
		return errors.New(reason + "; its line ends differ from the file's, which mixes CRLF and LF")
	}
	near := nearLine(content, old)
	switch {
	case near.line == 0:
		return errors.New(reason + ", nor anything like it; read the file again")
	case near.whole:
		return fmt.Errorf("%s; line %d and what follows differ from it only in white space:\n%s", reason, near.line, near.text)
	}
	return fmt.Errorf("%s; the nearest lines are, from line %d:\n%s", reason, near.line, near.text)
}

func unix(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// near is the place in a file most like what was looked for; line 0 means that none is.
type near struct {
	line  int
	text  string
	whole bool // equal but for white space at the ends of lines
}

// The bounds of the search for a near place; behind them no help is given.
const (
	nearMaxLines = 20_000
	nearMaxWidth = 400
	nearShown    = 12
)

func nearLine(content, old string) near {
	have := strings.Split(unix(content), "\n")
	want := strings.Split(strings.Trim(unix(old), "\n"), "\n")
	if len(have) > nearMaxLines {
		have = have[:nearMaxLines]
	}
	key := 0 // the longest line says most
	for i := range want {
		want[i] = strings.TrimSpace(want[i])
		if len(want[i]) > len(want[key]) {
			key = i
		}
	}
	best, likeness := -1, 0.5
	grams := bigrams(want[key])
	for i, line := range have {
		line = strings.TrimSpace(line)
		score := 0.0
		if line == want[key] {
			score = 1 + agreement(have, want, i-key)
		} else if len(line) <= nearMaxWidth && len(want[key]) <= nearMaxWidth {
			score = dice(grams, line)
		}
		if score > likeness {
			best, likeness = i, score
		}
	}
	if best < 0 {
		return near{}
	}
	first := max(0, best-key)
	last := min(len(have), first+min(len(want), nearShown))
	var text strings.Builder
	for _, line := range have[first:last] {
		if len(line) > nearMaxWidth {
			line = strings.ToValidUTF8(line[:nearMaxWidth], "") + "…"
		}
		text.WriteString(strings.ToValidUTF8(line, "\uFFFD") + "\n")
	}
	return near{line: first + 1, text: strings.TrimSuffix(text.String(), "\n"), whole: agreement(have, want, best-key) == 1}
}

// agreement is the share of want's lines that stand in have from line at on, but for white space.
func agreement(have, want []string, at int) float64 {
	same := 0
	for i, line := range want {
		if at+i >= 0 && at+i < len(have) && strings.TrimSpace(have[at+i]) == line {
			same++
		}
	}
	return float64(same) / float64(len(want))
}

func bigrams(s string) map[[2]byte]int {
	grams := make(map[[2]byte]int, len(s))
	for i := 1; i < len(s); i++ {
		grams[[2]byte{s[i-1], s[i]}]++
	}
	return grams
}

// dice is the Dice coefficient of two lines' pairs of bytes, from 0 to 1.
func dice(grams map[[2]byte]int, line string) float64 {
	if len(line) < 2 || len(grams) == 0 {
		return 0
	}
	size := len(line) - 1
	for _, n := range grams {
		size += n
	}
	shared := 0
	for gram, n := range bigrams(line) {
		shared += min(n, grams[gram])
	}
	return 2 * float64(shared) / float64(size)
}
