package app

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"aalis/backend/text"
)

func manualPage(t *testing.T, name string, lang text.Language) string {
	t.Helper()
	var page strings.Builder
	if err := Manual(&page, name, lang, time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// formatted is the page as a terminal shows it, without its emphasis, and what the formatter objects to.
func formatted(t *testing.T, page string) string {
	t.Helper()
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is missing: it comes with the package groff-base")
	}
	cmd := exec.CommandContext(t.Context(), "groff", "-K", "utf8", "-T", "utf8", "-m", "man", "-w", "w", "-rLL=500n", "-P-cbou")
	cmd.Stdin = strings.NewReader(page)
	var objections strings.Builder
	cmd.Stderr = &objections
	out, err := cmd.Output()
	if err != nil || objections.Len() > 0 {
		t.Fatalf("groff: %v %s", err, objections.String())
	}
	return string(out)
}

func TestTheManualTellsOfEveryCommandFlagVariableAndFile(t *testing.T) {
	for _, lang := range []text.Language{text.English, text.Chinese} {
		t.Run(string(lang), func(t *testing.T) {
			page := formatted(t, manualPage(t, "aalis-server", lang))
			p := &program{lang: lang}
			tells := func(words string) {
				t.Helper()
				if !strings.Contains(page, words) {
					t.Errorf("the page does not hold %q", words)
				}
			}
			for _, cmd := range described(p.root()) {
				tells(strings.Replace(cmd.UseLine(), "aalis", "aalis-server", 1))
				tells(strings.ReplaceAll(cmd.Short, "`", ""))
				for example := range strings.Lines(cmd.Example) {
					tells(strings.Replace(strings.TrimSpace(example), "aalis", "aalis-server", 1))
				}
				cmd.Flags().VisitAll(func(f *pflag.Flag) { tells("--" + f.Name) })
			}
			for _, name := range envNames() {
				tells(name)
			}
			for _, f := range dataFiles {
				tells(f.path)
			}
		})
	}
}

func TestTheManualIsTheSameForTheSameDay(t *testing.T) {
	page := manualPage(t, "aalis", text.English)
	if page != manualPage(t, "aalis", text.English) {
		t.Error("two pages of one build differ")
	}
	if !strings.Contains(page, ".TH AALIS 1 2026-11-30 \"Aalis "+strings.ReplaceAll(Version, "-", `\-`)+`"`) {
		t.Errorf("the heading is another: %.200s", page)
	}
}

func TestWhatTheFormatterWouldTakeForARequestIsText(t *testing.T) {
	for words, source := range map[string]string{
		".hidden":       `\&.hidden`,
		"'tis":          `\&'tis`,
		`a\b -x ~ ^`:    `a\eb \-x \(ti \(ha`,
		"run `a'b` now": `run \fBa\(aqb\fR now`,
	} {
		if got := prose(words); got != source {
			t.Errorf("prose(%q) is %q, want %q", words, got, source)
		}
	}
}
