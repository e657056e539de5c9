// Package rule owns the owner's standing answers about calls of tools: how one is written, what it
// covers, and which of several decides. It knows no settings, no log and no tool: an engine asks it
// before it asks the owner. A rule that lets something run covers as little as its words can mean; one
// that forbids or asks covers as much.
//
//	exact: git status        the command, character by character
//	prefix: git status       that, and further plain words, but no options
//	tool: write_file         every call of a tool
package rule

import (
	"slices"
	"strings"
	"unicode"

	"aalis/backend/fault"
	"aalis/backend/text"
)

// Verdict is what a rule says.
type Verdict string

// The verdicts, the strongest first; None is that of no rule.
const (
	Deny  Verdict = "deny"
	Ask   Verdict = "ask"
	Allow Verdict = "allow"
	None  Verdict = ""
)

// Kind is how a rule reads.
type Kind string

// The kinds.
const (
	Exact  Kind = "exact"
	Prefix Kind = "prefix"
	Tool   Kind = "tool"
)

// Set is all rules that count somewhere, as they are written, from whatever layers they come.
type Set struct {
	Deny, Ask, Allow []string
	// Free lets everything run that no rule denies or asks about.
	Free bool
}

// Call is what is to be judged. Command is "" for a call that runs none.
type Call struct {
	Tool    string
	Command string
}

// Decision is a verdict and the rule that gave it, as written; "" when none did.
type Decision struct {
	Verdict Verdict
	Rule    string
}

// Decide judges a call: deny before ask before allow, wherever they stand and in whatever order.
// Failures B16, B17. A rule that cannot be read never allows; among those that deny or ask it asks
// about every call, so that nothing runs that it may have been meant for.
func (s Set) Decide(c Call) Decision {
	for _, one := range []struct {
		verdict Verdict
		rules   []string
	}{{Deny, s.Deny}, {Ask, s.Ask}} {
		for _, written := range one.rules {
			if r, err := Parse(written); err == nil && r.concerns(c) {
				return Decision{one.verdict, written}
			}
		}
	}
	for _, written := range slices.Concat(s.Deny, s.Ask) {
		if _, err := Parse(written); err != nil {
			return Decision{Ask, written}
		}
	}
	for _, written := range s.Allow {
		if r, err := Parse(written); err == nil && r.covers(c) {
			return Decision{Allow, written}
		}
	}
	if s.Free {
		return Decision{Verdict: Allow}
	}
	return Decision{}
}

// Rule is one that has been read.
type Rule struct {
	Kind Kind
	Text string // a command, words, or a tool's name
}

// Parse reads a rule; fault.Invalid, which says what would be right, for what is none.
func Parse(written string) (Rule, error) {
	kind, words, found := strings.Cut(written, ":")
	r := Rule{Kind: Kind(strings.TrimSpace(kind)), Text: strings.TrimSpace(words)}
	if r.Kind == Exact {
		r.Text = strings.TrimPrefix(words, " ") // the rest is the command, character by character
	}
	switch {
	case !found || strings.TrimSpace(r.Text) == "":
		return Rule{}, wrong("rule.form")
	case r.Kind == Exact:
	case r.Kind == Tool:
		if strings.ContainsFunc(r.Text, func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') }) {
			return Rule{}, wrong("rule.form")
		}
	case r.Kind == Prefix:
		words, plain := plainWords(r.Text)
		switch {
		case !plain:
			return Rule{}, wrong("rule.words")
		case strings.Contains(words[0], "="):
			return Rule{}, wrong("rule.assigns")
		case runsItsWords(words):
			return Rule{}, wrong("rule.runs", "program", words[0])
		}
		r.Text = strings.Join(words, " ")
	default:
		return Rule{}, wrong("rule.form")
	}
	return r, nil
}

func wrong(key text.Key, args ...any) *fault.Fault {
	return fault.New(fault.Invalid, text.New(key, args...))
}

// covers reports whether an allowing rule is for exactly such a call.
func (r Rule) covers(c Call) bool {
	switch r.Kind {
	case Tool:
		return c.Tool == r.Text
	case Exact:
		return c.Command != "" && c.Command == r.Text
	}
	words, plain := plainWords(c.Command)
	want, _ := plainWords(r.Text)
	if !plain || len(words) < len(want) || !slices.Equal(words[:len(want)], want) {
		return false
	}
	return !slices.ContainsFunc(words[len(want):], mayAct)
}

// mayAct reports whether a word behind a prefix may do more than name something: options can make a
// program run another or write elsewhere, and no list of them is ever whole.
func mayAct(word string) bool {
	return strings.HasPrefix(word, "-") || strings.HasPrefix(word, "+") || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "@") ||
		strings.Contains(word, "=") || strings.Contains(word, "::") || slices.Contains(strings.Split(word, "/"), "..")
}

// plainWords splits a command that is nothing but words; plain is false for anything a shell would
// look at: operators, quotes, expansions, redirections, patterns, a second line.
func plainWords(command string) (words []string, plain bool) {
	for _, c := range command {
		ascii := c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c))
		if !ascii && !strings.ContainsRune(" -_./:+@=,", c) {
			return nil, false
		}
	}
	words = strings.Fields(command)
	return words, len(words) > 0
}

// runsItsWords reports whether what follows these words would be taken as a command or as code.
func runsItsWords(words []string) bool {
	program := strings.TrimRight(words[0][strings.LastIndexByte(words[0], '/')+1:], "0123456789.")
	switch {
	case program == "", slices.Contains(runners, program):
		return true
	case slices.Contains(interpreters, program): // a script named in the rule is a program like any other
		return len(words) == 1 || strings.HasPrefix(words[1], "-")
	}
	return len(words) == 1 && slices.Contains(families, program)
}

var (
	runners = []string{
		"sh", "bash", "dash", "zsh", "fish", "ksh", "csh", "tcsh", "cmd", "powershell", "pwsh", "busybox", "toybox", "sudo", "doas", "su", "env", "exec", "eval",
		"source", "command", "builtin", "nohup", "time", "timeout", "nice", "ionice", "stdbuf", "setsid", "xargs", "parallel", "watch", "script", "strace", "ltrace",
		"gdb", "chroot", "unshare", "nsenter", "flock", "ssh", "docker", "podman", "kubectl", "awk", "gawk", "mawk", "sed", "find", "npx", "uvx", "pipx", "start",
	}
	interpreters = []string{"python", "node", "deno", "bun", "perl", "ruby", "php", "lua", "java", "tsx", "osascript"}
	// families have commands that run others; one of them has to be named.
	families = []string{"git", "npm", "yarn", "pnpm", "go", "cargo", "make", "uv", "pip", "gh", "systemctl", "brew", "apt", "dotnet", "gradle", "mvn"}
)

// concerns reports whether a forbidding or asking rule is about a call: wherever its words stand in the
// command, whatever quotes or operators are around them.
func (r Rule) concerns(c Call) bool {
	switch r.Kind {
	case Tool:
		return c.Tool == r.Text
	case Exact:
		return c.Command != "" && strings.TrimSpace(c.Command) == strings.TrimSpace(r.Text)
	}
	words := loose(c.Command)
	want, _ := plainWords(r.Text)
	for at := range words {
		if len(words)-at < len(want) {
			break
		}
		if words[at] != want[0] && words[at][strings.LastIndexByte(words[at], '/')+1:] != want[0] {
			continue
		}
		if slices.Equal(words[at+1:at+len(want)], want[1:]) {
			return true
		}
	}
	return false
}

// loose splits a command into whatever could be words of a program, without quotes and backslashes.
func loose(command string) []string {
	bare := strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(command)
	return strings.FieldsFunc(bare, func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune(";&|()<>`${}!,=^", c)
	})
}
