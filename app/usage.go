package app

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"aalis/backend/fault"
	"aalis/backend/provider"
	"aalis/backend/store"
	"aalis/backend/text"
)

// usageTemplate is cobra's, reduced to what our commands have, in the reader's language.
func (p *program) usageTemplate() string {
	return p.say("command.usage") + `:{{if .Runnable}}
  {{.UseLine}}{{if .HasAvailableFlags}} [--…]{{end}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} …

` + p.say("command.commands") + `:{{range .Commands}}{{if or .IsAvailableCommand (eq .Name "help")}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasExample}}

{{.Example}}{{end}}{{if .HasAvailableLocalFlags}}

` + p.say("command.flags") + `:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

` + p.say("command.flags-everywhere") + `:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
`
}

// noArgs refuses further words. On a command that has commands below it, the word was meant as one.
func (p *program) noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasSubCommands():
		return usage("command.unknown", "word", visible(args[0]), "hint", hint(args[0], commandNames(cmd)))
	}
	return usage("command.args", "want", text.New("command.args-none"), "example", cmd.CommandPath())
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			names = append(names, sub.Name())
		}
	}
	return names
}

// oneID wants exactly one word.
func oneID(cmd *cobra.Command, args []string) error { return one("command.args-id", cmd, args) }

func oneFolder(cmd *cobra.Command, args []string) error { return one("command.args-folder", cmd, args) }

func onePlace(cmd *cobra.Command, args []string) error { return one("command.args-place", cmd, args) }

func one(want text.Key, cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return usage("command.args", "want", text.New(want), "example", cmd.Example)
	}
	return nil
}

// flagError says which flag was meant, or what a value should look like.
func (p *program) flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		dashes := "--"
		if unknown.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		return usage("command.unknown-flag", "word", dashes+visible(name), "hint", hint("--"+name, known))
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usage("command.flag-value", "flag", "--"+bad.GetFlag().Name, "value", visible(bad.GetValue()), "takes", bad.GetFlag().Usage)
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usage("command.flag-no-value", "flag", "--"+missing.GetFlag().Name, "takes", missing.GetFlag().Usage)
	}
	return &usageError{text.Plain(err.Error())}
}

// hint names the one that was probably meant, else all there are.
func hint(word string, known []string) text.Text {
	if near := nearest(word, known); near != "" {
		return text.New("command.hint-near", "near", near)
	}
	return text.New("command.hint-all", "known", strings.Join(known, ", "))
}

// nearest gives the known word that takes the fewest changes to reach, or "" when all are far: more
// than a third of the word would have to change, or nothing of it is left.
func nearest(word string, known []string) string {
	letters := len([]rune(word))
	best, least := "", min(max(2, letters/3)+1, letters)
	for _, candidate := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance counts insertions, deletions, replacements and swaps of neighbours.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := [3][]int{make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(y)]
}

// explain turns an error into lines for people, one per mistake. What is no mistake of theirs is shown
// as it is: whoever runs a command can do something with the cause.
func (p *program) explain(err error) []string {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if joined, ok := e.(interface{ Unwrap() []error }); ok {
			var lines []string
			for _, each := range joined.Unwrap() {
				lines = append(lines, p.explain(each)...)
			}
			return slices.Compact(lines)
		}
		if line, ok := p.sentence(e); ok {
			return []string{line}
		}
	}
	return []string{err.Error()}
}

func (p *program) sentence(err error) (string, bool) {
	switch e := err.(type) {
	case *usageError:
		return e.message.In(p.lang), true
	case *fault.Fault:
		return e.Message.In(p.lang), true
	case *provider.ConfigError:
		return p.say("config.mistake", "file", p.flags.config, "key", e.Path, "problem", e.Message), true
	case *provider.Error:
		return e.Message.In(p.lang), true
	case *store.Locked:
		if e.PID == 0 {
			return p.say("run.locked", "folder", e.Dir), true
		}
		return p.say("run.locked-pid", "folder", e.Dir, "pid", e.PID), true
	case *store.Newer:
		return p.say("run.newer", "have", e.Have, "know", e.Know), true
	}
	return "", false
}
