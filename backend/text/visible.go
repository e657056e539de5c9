package text

import (
	"fmt"
	"strings"
	"unicode"
)

// What models, tools and other people wrote is no sentence of the catalogues, but stands beside them.
// It passes through here before a person reads it, approvals above all (Spec SP-APPR-30).

// Visible makes what a terminal would act on or hide visible: control, bidirectional and zero-width
// characters become ⟨U+XXXX⟩. Lines and tabs stay.
func Visible(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			b.WriteString(point(r))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// VisibleLine is Visible for what must stay on one line.
func VisibleLine(s string) string {
	return strings.NewReplacer("\n", newline, "\t", " ").Replace(Visible(s))
}

// newline is how a line break shows where there is one line.
const newline = "⏎"

// hidden is what unicode calls neither a letter, mark, number, punctuation, symbol nor a plain space,
// and the letters that show as nothing.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u034f', '\u2800':
		return true
	}
	return !unicode.IsPrint(r)
}

func point(r rune) string { return fmt.Sprintf("⟨U+%04X⟩", r) }
