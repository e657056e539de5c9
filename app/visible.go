package app

import (
	"fmt"
	"strings"
	"unicode"
)

// visible makes what a terminal would act on or hide visible: control, bidirectional and zero-width
// characters become ⟨U+XXXX⟩. Lines and tabs stay. What models, tools and other people wrote passes
// through here before it reaches a terminal, approvals above all (Spec SP-APPR-30).
func visible(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

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

// visibleLine is visible for what must stay on one line.
func visibleLine(s string) string {
	return strings.NewReplacer("\n", "⏎", "\t", " ").Replace(visible(s))
}
