package rule_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aalis/backend/fault"
	"aalis/backend/rule"
)

func command(words string) rule.Call { return rule.Call{Tool: "run_command", Command: words} }

func TestDecide(t *testing.T) {
	const matching, other = "prefix: git status", "prefix: make test"
	lists := [][]string{nil, {other}, {matching}, {matching, other}, {other, matching}}
	has := func(l []string) bool { return strings.Contains(strings.Join(l, "|"), matching) }
	t.Run("FAIL-B16 FAIL-B17 deny before ask before allow before letting everything through, in whatever order they stand", func(t *testing.T) {
		for _, deny := range lists {
			for _, ask := range lists {
				for _, allow := range lists {
					for _, free := range []bool{false, true} {
						s := rule.Set{Deny: deny, Ask: ask, Allow: allow, Free: free}
						want := rule.Decision{}
						switch {
						case has(deny):
							want = rule.Decision{Verdict: rule.Deny, Rule: matching}
						case has(ask):
							want = rule.Decision{Verdict: rule.Ask, Rule: matching}
						case has(allow):
							want = rule.Decision{Verdict: rule.Allow, Rule: matching}
						case free:
							want = rule.Decision{Verdict: rule.Allow}
						}
						if got := s.Decide(command("git status src")); got != want {
							t.Errorf("%+v: got %+v, want %+v", s, got, want)
						}
					}
				}
			}
		}
	})
	t.Run("a rule that cannot be read allows nothing; among the strict ones it asks about everything", func(t *testing.T) {
		for _, bad := range []string{"git status", "prefix: ", "prefix: rm *", "glob: x", "", "{\"a\":1}"} {
			if got := (rule.Set{Allow: []string{bad}}).Decide(command("git status")); got.Verdict != rule.None {
				t.Errorf("%q allows: %+v", bad, got)
			}
			for _, s := range []rule.Set{{Deny: []string{bad}, Free: true}, {Ask: []string{bad}, Allow: []string{"exact: git status"}}} {
				if got := s.Decide(command("git status")); got != (rule.Decision{Verdict: rule.Ask, Rule: bad}) {
					t.Errorf("%+v: %+v", s, got)
				}
			}
			if got := (rule.Set{Deny: []string{bad, "prefix: rm"}}).Decide(command("rm x")); got.Verdict != rule.Deny {
				t.Errorf("%q hides a prohibition: %+v", bad, got)
			}
		}
	})
	t.Run("a tool's name covers its calls and no others", func(t *testing.T) {
		s := rule.Set{Allow: []string{"tool: write_file"}, Deny: []string{"tool: edit_file"}}
		for tool, want := range map[string]rule.Verdict{"write_file": rule.Allow, "edit_file": rule.Deny, "run_command": rule.None, "write_files": rule.None} {
			if got := s.Decide(rule.Call{Tool: tool}); got.Verdict != want {
				t.Errorf("%s: %+v", tool, got)
			}
		}
	})
	t.Run("exact is exact", func(t *testing.T) {
		s := rule.Set{Allow: []string{"exact: echo 'a; b' | wc"}}
		for words, want := range map[string]rule.Verdict{
			"echo 'a; b' | wc": rule.Allow, "echo 'a; b' | wc ": rule.None, " echo 'a; b' | wc": rule.None, "echo 'a; b' | wc\nrm x": rule.None,
			"echo 'a; b'  | wc": rule.None, "echo 'a; b' | wc\u200b": rule.None, "": rule.None, "Echo 'a; b' | wc": rule.None,
		} {
			if got := s.Decide(command(words)); got.Verdict != want {
				t.Errorf("%q: %+v", words, got)
			}
		}
	})
}

// added are commands that begin with an allowed one and do something more.
func added() (all []string) {
	evil := []string{"rm -rf b", "curl evil.example", "touch x"}
	for _, between := range []string{
		" && ", "&&", " || ", "||", "; ", ";", " ; ", " | ", "|", " |& ", " & ", "&", "\n", " \n ", "\r\n", "\r", " ;; ", "\v", "\f", " > x; ", " 2>&1; ", "\u2028", "\u0085", "\x00",
	} {
		for _, tail := range evil {
			all = append(all, "git status"+between+tail)
		}
	}
	for _, open := range []string{"$(%s)", "`%s`", "<(%s)", ">(%s)", "\"$(%s)\"", "\"`%s`\"", "${x:-$(%s)}", "$((%s))", "'%s'", "\"%s\"", "(%s)", "{%s}", "{ %s; }"} {
		for _, tail := range evil {
			all = append(all, "git status "+fmt.Sprintf(open, tail), "git status "+fmt.Sprintf(open, tail)+" src", "git status x"+fmt.Sprintf(open, tail))
		}
	}
	for _, redirect := range []string{">", ">>", "<", "<<", "<<<", "&>", ">|", "2>", "<>", ">&"} {
		all = append(all, "git status "+redirect+" x", "git status"+redirect+"x", "git status src "+redirect+"../x")
	}
	for _, option := range []string{
		"-c core.pager=evil", "--config=x", "--output=x", "-o x", "--exec=evil", "--upload-pack=evil", "-O evil", "--open-files-in-pager=evil", "--ext-diff", "--textconv", "--work-tree=/",
		"--git-dir=/tmp/x", "-C /", "--", "-- /etc/passwd", "src --porcelain", "-s",
	} {
		all = append(all, "git status "+option)
	}
	for _, before := range []string{"GIT_PAGER=evil ", "PATH=. ", "env ", "sudo ", "exec ", "! ", "time ", "./", "/tmp/", "\\", "echo ; ", "cd / && ", "a=b;", "$x ", "\u200b"} {
		all = append(all, before+"git status")
	}
	return append(
		all, "git  status-all", "git statusx", "gitstatus", "git", "git stat", "git\\ status", "git 'status'", "git sta\"t\"us", "git status *", "git status ?", "git status [a]", "git status ~",
		"git status ~root", "git status $HOME", "git status !!", "git status #", "git status %PATH%", "git status ^", "git status /etc", "git status ../other", "git status a/../../b", "git status x=y",
		"git status @file", "git status ext::sh", "git status +x", "git status \u202e", "git status \u00a0rm", "git status\u3000rm", "git status é", "git status ；rm", "git status \\", "", " ",
	)
}

func TestAnAllowedPrefixCoversNothingAdded(t *testing.T) {
	s := rule.Set{Allow: []string{"prefix: git status"}}
	t.Run("FAIL-B19 no tail, no operator, no option goes through", func(t *testing.T) {
		all := added()
		if len(all) < 200 {
			t.Errorf("the corpus has %d commands", len(all))
		}
		for _, words := range all {
			if got := s.Decide(command(words)); got.Verdict != rule.None {
				t.Errorf("%q is let through", words)
			}
		}
	})
	t.Run("what it is for goes through", func(t *testing.T) {
		for _, words := range []string{"git status", "git status src", "git  status   src/a.go b_c", " git status ", "git\tstatus"} {
			want := rule.Allow
			if strings.Contains(words, "\t") {
				want = rule.None
			}
			if got := s.Decide(command(words)); got.Verdict != want {
				t.Errorf("%q: %+v", words, got)
			}
		}
	})
	t.Run("FAIL-B19 nor does whatever else is written behind it, when a shell would look at it", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			tail := rapid.StringOf(rapid.RuneFrom([]rune("ab-;&|<>$`'\"\\(){}*?[]~#!%^\n\r\t =@\u200b\u2028é"))).Draw(rt, "tail")
			if s.Decide(command("git status "+tail)).Verdict == rule.Allow && strings.ContainsAny(tail, ";&|<>$`'\"\\(){}*?[]~#!%^\n\r\u200b\u2028=@") {
				rt.Errorf("%q is let through", tail)
			}
		})
	})
}

func TestAProhibitionIsFoundWhereverItStands(t *testing.T) {
	s := rule.Set{Deny: []string{"prefix: rm", "prefix: git push"}, Free: true}
	for _, words := range []string{
		"rm x", "rm", "  rm -rf /", "cd a && rm x", "cd a;rm x", "true|rm x", "(rm x)", "$(rm x)", "`rm x`", "echo \"$(rm x)\"", "r\\m x", "'rm' x", "r'm' x", "\"rm\" x", "/bin/rm x", "sudo rm x",
		"X=1 rm x", "env rm x", "sh -c 'rm x'", "find . -exec rm {} +", "a\nrm x", "xargs rm", "{ rm x; }", "git push", "git push --force", "cd x && git push", "git 'push'", "/usr/bin/git push",
	} {
		if got := s.Decide(command(words)); got.Verdict != rule.Deny {
			t.Errorf("%q: %+v", words, got)
		}
	}
	for _, words := range []string{"ls", "rmdir x", "git pull", "git status", "farm x", "git pushx"} {
		if got := s.Decide(command(words)); got.Verdict != rule.Allow {
			t.Errorf("%q: %+v", words, got)
		}
	}
}

func TestParse(t *testing.T) {
	for written, want := range map[string]string{
		"prefix: git status": "", "prefix:  go   test ": "", "prefix: ./build/test.sh": "", "prefix: python3 tools/x.py": "", "exact: rm -rf build": "", "tool: write_file": "", "prefix: ls": "",
		"": "rule.form", "git status": "rule.form", "prefix:": "rule.form", "exact:  ": "rule.form", "Prefix: a": "rule.form", "tool: Write": "rule.form", "tool: a b": "rule.form",
		"prefix: ls *": "rule.words", "prefix: a && b": "rule.words", "prefix: 'a b'": "rule.words", "prefix: é": "rule.words", "prefix: a\nb": "rule.words",
		"prefix: A=b c": "rule.assigns", "prefix: sh": "rule.runs", "prefix: /bin/bash -c": "rule.runs", "prefix: sudo apt": "rule.runs", "prefix: env": "rule.runs", "prefix: python3.12": "rule.runs",
		"prefix: python -c": "rule.runs", "prefix: git": "rule.runs", "prefix: xargs rm": "rule.runs", "prefix: .": "rule.runs", "prefix: npx x": "rule.runs",
	} {
		_, err := rule.Parse(written)
		got := ""
		if err != nil {
			got = string(fault.Of(err).Message.Key)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
}
