package app

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"aalis/backend/text"
)

// Manual writes the manual page of this build as source for man(1), in UTF-8. It is made of what the
// commands say of themselves, so that it cannot say anything else. name is what the program is
// installed as, date the day on the page. An error is the writer's.
func Manual(w io.Writer, name string, lang text.Language, date time.Time) error {
	p := &program{lang: lang}
	root := p.root()
	m := manual{program: p, name: name}
	m.line(`'\" t`, `.\" -*- coding: UTF-8 -*-`)
	m.line(fmt.Sprintf(".TH %s 1 %s %s %s", strings.ToUpper(name), date.UTC().Format(time.DateOnly),
		quoted("Aalis "+Version), quoted(p.say("manual.head"))))
	m.line(".ad l") // stretched lines tear Chinese apart
	m.section("manual.name")
	m.line(prose(name) + ` \- ` + prose(root.Short))
	m.section("manual.synopsis")
	m.synopsis(root)
	m.section("manual.description")
	m.paragraphs(root.Long)
	if hasWindow {
		m.paragraphs(p.say("manual.links"))
	}
	m.section("manual.options")
	m.options(root.LocalNonPersistentFlags())
	m.section("manual.options-all")
	m.options(root.PersistentFlags())
	m.option(root.Flags().Lookup("help"))
	m.section("manual.commands")
	m.commands(root)
	m.section("manual.exit")
	m.entry("0", p.say("manual.exit-fine"))
	m.entry(fmt.Sprint(exitFailed), p.say("manual.exit-failed"))
	m.entry(fmt.Sprint(exitUsage), p.say("manual.exit-usage"))
	m.section("manual.environment")
	m.environment()
	m.section("manual.files")
	m.paragraphs(p.say("manual.folder"))
	for _, f := range dataFiles {
		m.entry(f.path, p.say(f.says))
	}
	_, err := io.WriteString(w, m.String())
	return err
}

// dataFiles are the parts of the data folder that a person may want to look at.
var dataFiles = []struct {
	path string
	says text.Key
}{
	{"config.yaml", "manual.file-config"},
	{databaseFile, "manual.file-database"},
	{"workspace/", "manual.file-workspace"},
	{filepath.ToSlash(filepath.Join("run", "server.json")), "manual.file-running"},
	{filepath.ToSlash(filepath.Join("logs", "aalis.log")), "manual.file-log"},
}

// manual is a page in the making.
type manual struct {
	*program
	strings.Builder

	name string
}

func (m *manual) line(lines ...string) {
	for _, l := range lines {
		m.WriteString(l + "\n")
	}
}

func (m *manual) section(title text.Key) { m.line(".SH " + quoted(m.say(title))) }

func (m *manual) paragraphs(words string) {
	for paragraph := range strings.SplitSeq(words, "\n\n") {
		m.line(".PP", prose(paragraph))
	}
}

// entry is one term and what it means.
func (m *manual) entry(term, meaning string) {
	m.line(".TP", `\fB`+literal(term)+`\fR`, prose(meaning))
}

// called is a command line under the name that the program is installed as.
func (m *manual) called(line string) string {
	if rest, ours := strings.CutPrefix(line, "aalis"); ours && (rest == "" || rest[0] == ' ') {
		return m.name + rest
	}
	return line
}

func (m *manual) synopsis(root *cobra.Command) {
	for _, cmd := range described(root) {
		if cmd.Runnable() {
			m.line(`\fB`+literal(m.called(cmd.CommandPath()))+`\fR`+literal(strings.TrimPrefix(cmd.Use, cmd.Name())), ".br")
		}
	}
}

func (m *manual) commands(root *cobra.Command) {
	for _, cmd := range described(root)[1:] {
		m.line(".SS " + quoted(m.called(cmd.UseLine())))
		m.line(prose(cmd.Short))
		m.options(cmd.LocalNonPersistentFlags())
		if cmd.Example != "" {
			m.line(".PP", ".RS", ".EX")
			for example := range strings.Lines(cmd.Example) {
				m.line(literal(m.called(strings.TrimSpace(example))))
			}
			m.line(".EE", ".RE")
		}
	}
}

// described are a command and all below it that help tells of, in its order.
func described(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, described(sub)...)
		}
	}
	return all
}

// options leaves out --help, which every command has.
func (m *manual) options(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			m.option(f)
		}
	})
}

func (m *manual) option(f *pflag.Flag) {
	value, meaning := pflag.UnquoteUsage(f)
	term := `\fB` + literal("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		term = `\fB` + literal("-"+f.Shorthand) + `\fR, ` + term
	}
	if value != "" {
		term += ` \fI` + literal(value) + `\fR`
	}
	m.line(".TP", term, prose(meaning))
}

func (m *manual) environment() {
	m.entry("AALIS_DATA_DIR", m.say("command.flag-data-dir"))
	m.entry("AALIS_CONFIG", m.say("command.flag-config"))
	for _, key := range configKeys {
		m.entry(envName(key), m.say("manual.env-key", "key", "`"+key+"`"))
	}
	m.entry("XDG_DATA_HOME", m.say("manual.env-xdg"))
}

// plainly makes the formatter take every character for what it is.
var plainly = strings.NewReplacer(`\`, `\e`, "-", `\-`, "~", `\(ti`, "^", `\(ha`)

// prose is a running text; what stands between backquotes is set as it is typed.
func prose(words string) string {
	parts := strings.Split(words, "`")
	for i := range parts {
		if i%2 == 1 {
			parts[i] = `\fB` + literal(parts[i]) + `\fR`
		} else {
			parts[i] = plainly.Replace(parts[i])
		}
	}
	return guarded(strings.Join(parts, ""))
}

// literal is what a person types.
func literal(words string) string {
	return guarded(strings.NewReplacer("'", `\(aq`, "`", `\(ga`).Replace(plainly.Replace(words)))
}

// guarded keeps a line from being taken for a request.
func guarded(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}

// quoted is one argument of a request.
func quoted(words string) string { return `"` + strings.ReplaceAll(prose(words), `"`, `\(dq`) + `"` }
