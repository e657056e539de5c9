package search

import (
	"io"
	"os"
	"regexp"
	"strings"

	"aalis/backend/tool"
)

// rule is one line of an ignore file, as gitignore(5) has it.
type rule struct {
	base     string // the folder of its file, "" for the top, else with a trailing slash
	pattern  *regexp.Regexp
	nameOnly bool // the pattern is for the last component at any depth
	keep     bool // a line with !: what it matches is not ignored after all
	dirOnly  bool
}

func (r rule) matches(path string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	below, inside := strings.CutPrefix(path, r.base)
	if !inside {
		return false
	}
	if r.nameOnly {
		below = below[strings.LastIndexByte(below, '/')+1:]
	}
	return r.pattern.MatchString(below)
}

// rules are in order of precedence, the strongest last.
type rules []rule

// ignores reports whether the last rule that speaks of path says so. That a folder above it is
// ignored is for the walker, which does not enter one.
func (rs rules) ignores(path string, isDir bool) bool {
	for i := len(rs) - 1; i >= 0; i-- {
		if rs[i].matches(path, isDir) {
			return !rs[i].keep
		}
	}
	return false
}

// maxIgnoreFile bounds how much of an ignore file is read.
const maxIgnoreFile = 1 << 20

// with adds the rules of one ignore file, if it is there; base is as in rule. A file that is a link
// counts as missing, as it does for git.
func (rs rules) with(root *os.Root, name, base string) rules {
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return rs
	}
	file, _, err := tool.OpenRegular(root, name)
	if err != nil || file == nil {
		return rs
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxIgnoreFile))
	if err != nil {
		return rs
	}
	added := rs[:len(rs):len(rs)] // siblings must not share what comes after
	for line := range strings.SplitSeq(strings.TrimPrefix(string(text), "\uFEFF"), "\n") {
		if r, ok := parseRule(line, base); ok {
			added = append(added, r)
		}
	}
	return added
}

func parseRule(line, base string) (rule, bool) {
	r := rule{base: base}
	line = trimSpaces(strings.TrimSuffix(line, "\r"))
	if strings.HasPrefix(line, "#") {
		return rule{}, false
	}
	line, r.keep = strings.CutPrefix(line, "!")
	if cut, ok := strings.CutSuffix(line, "/"); ok {
		line, r.dirOnly = cut, true
	}
	if line == "" {
		return rule{}, false
	}
	r.nameOnly = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	compiled, err := compileGlob(line, false)
	if err != nil {
		return rule{}, false // such a line matches nothing
	}
	r.pattern = compiled
	return r, true
}

// trimSpaces drops spaces at the end unless the last one is escaped.
func trimSpaces(s string) string {
	for strings.HasSuffix(s, " ") && !strings.HasSuffix(s, `\ `) {
		s = s[:len(s)-1]
	}
	return s
}
