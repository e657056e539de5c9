package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aalis/backend/contract/schema"
	"aalis/backend/fault"
	"aalis/backend/provider"
	"aalis/backend/store"
	"aalis/backend/text"
)

// TestUsage: whatever is typed wrong ends with 2 and a sentence that names the nearest right thing.
func TestUsage(t *testing.T) {
	english(t)
	for _, c := range []struct {
		args string
		want string
	}{
		{"serv", "aalis: there is no command serv. Did you mean serve?\n"},
		{"frobnicate", "aalis: there is no command frobnicate. There are: approvals, doctor, help, open, pair, project, room, schema, send, serve, token, version.\n"},
		{"token crate", "aalis: there is no command crate. Did you mean create?\n"},
		{"serve --lisen x", "aalis: there is no flag --lisen. Did you mean --listen?\n"},
		{"serve --ready-fd many", "aalis: --ready-fd: \"many\" does not fit; it takes write one line of JSON to this file descriptor when ready\n"},
		{"serve --ready-fd", "aalis: --ready-fd needs a value: write one line of JSON to this file descriptor when ready\n"},
		{"serve --ready-fd 3 --ready-file f", "aalis: --ready-fd and --ready-file do not go together; choose one\n"},
		{"serve --ready-fd 999", "aalis: file descriptor 999 is not open for writing; open it in the parent, or use --ready-file\n"},
		{"serve now", "aalis: this takes no further words; for example: aalis serve\n"},
		{"send", "aalis: this takes the text of the message; for example:   aalis send --wait what time is it\n"},
		{"send -", "aalis: the message is empty; write something\n"},
		{"approvals approve", "aalis: this takes one id; for example:   aalis approvals approve 01a2b3c4-…\n"},
		{"open a b", "aalis: this takes at most one session id; for example:   aalis open --print\n"},
		{"open --host example.org", "aalis: --host: \"example.org\" does not fit; it takes 127.0.0.1, for browsers that do not resolve names under .localhost\n"},
		{"token create", "aalis: --name is needed: which program the token is for\n"},
		{"token create --name x --ttl 0s", "aalis: --ttl: \"0s\" does not fit; it takes how long it is good, such as 720h\n"},
		{"--log-level loud version", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			got := command(t, strings.Fields(c.args)...)
			if c.want == "" {
				return
			}
			if got.err != c.want || got.code != exitUsage || got.out != "" {
				t.Errorf("got %d %q %q", got.code, got.err, got.out)
			}
		})
	}
}

// TestNoneRunning: the clients of a running instance say that there is none and how to start one.
func TestNoneRunning(t *testing.T) {
	dir := english(t)
	for _, args := range []string{"open", "send hello", "approvals", "approvals approve x", "token list", "token revoke x"} {
		got := command(t, strings.Fields(args)...)
		if want := "aalis: No Aalis is running on " + dir + "; start it with `aalis` or `aalis serve`.\n"; got.err != want || got.code != exitFailed {
			t.Errorf("%s: %d %q", args, got.code, got.err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Error("asking left something behind:", left, err)
	}
}

func TestHelp(t *testing.T) {
	english(t)
	got := command(t, "--help")
	wants(t, "the help", got.out, "A desktop app", "Usage:", "Commands:", "serve", "approvals", "--data-dir", "AI assistant lives")
	if got.code != 0 || strings.Contains(got.out, "completion") {
		t.Errorf("%d\n%s", got.code, got.out)
	}
	wants(t, "the help of send", command(t, "send", "--help").out, "aalis send TEXT…", "--wait", "Flags of every command:")
	t.Setenv("LC_ALL", "zh_CN.UTF-8")
	wants(t, "the Chinese help", command(t, "help").out, "用法:", "只运行服务器", "选项")
}

func TestVersion(t *testing.T) {
	english(t)
	wants(t, "version", command(t, "version").out, "aalis "+Version, "Aalis session protocol 0.2.0")
	var v versions
	if err := json.Unmarshal([]byte(command(t, "version", "--json").out), &v); err != nil || v.Version != Version || v.Protocols["session"] != "0.2.0" {
		t.Error(v, err)
	}
}

// TestSchema: what is written is what this build validates with.
func TestSchema(t *testing.T) {
	english(t)
	out := filepath.Join(t.TempDir(), "deep", "er")
	if got := command(t, "schema", "--out", out); got.code != 0 {
		t.Fatal(got)
	}
	data, err := os.ReadFile(filepath.Join(out, "session.json"))
	if err != nil || string(data) != string(schema.Session) {
		t.Error("the schema differs", err)
	}
	if data, err := os.ReadFile(filepath.Join(out, "session.gen.ts")); err != nil || !strings.Contains(string(data), "SESSION_PROTOCOL_VERSION") {
		t.Error("no TypeScript", err)
	}
	for name, want := range map[string]string{"openapi.json": `"openapi": "3.1.0"`, "V1Event.json": `"oneOf"`, "protocol.gen.ts": "ENDPOINT_SPECS"} {
		if data, err := os.ReadFile(filepath.Join(out, "v1", name)); err != nil || !strings.Contains(string(data), want) {
			t.Error("v1: no", name, err)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"serve", "send", "open", "token"}
	for word, want := range map[string]string{"sevre": "serve", "SEND": "send", "opne": "open", "tokens": "token", "x": "", "whatever": ""} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zäß你]{0,12}`)
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		if distance(a, a) != 0 || distance(a, b) != distance(b, a) {
			t.Fatal("not a distance")
		}
		if longest := max(len([]rune(a)), len([]rune(b))); distance(a, b) > longest {
			t.Fatalf("distance(%q, %q) = %d", a, b, distance(a, b))
		}
		_ = c
	})
}

func TestExplain(t *testing.T) {
	p := &program{lang: text.English, flags: globals{config: "c.yaml"}}
	bad := func(path string) error {
		return &provider.ConfigError{Path: path, Message: text.Plain("wrong")}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("opening: %w", errors.Join(bad("a"), bad("b"))), "c.yaml: a: wrong\nc.yaml: b: wrong"},
		{fmt.Errorf("opening: %w", &store.Locked{Dir: "/d", PID: 7}), "the data folder /d is in use by the Aalis with process id 7; end it first, or choose another with --data-dir"},
		{&store.Locked{Dir: "/d"}, "the data folder /d is in use by another Aalis"},
		{&store.Newer{Have: 9, Know: 1}, "the database was written by a newer Aalis (schema 9; this one knows 1); start that one instead"},
		{fault.Wrap(fault.Invalid, text.Plain("for people"), errors.Join(errors.New("x"), errors.New("y"))), "for people"},
		{errors.Join(fault.New(fault.Invalid, text.Plain("one")), errors.New("disk on fire")), "one\ndisk on fire"},
		{fmt.Errorf("doing: %w", errors.New("it")), "doing: it"},
	} {
		if got := strings.Join(p.explain(c.err), "\n"); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.err, got, c.want)
		}
	}
}

func TestTabURL(t *testing.T) {
	const link = "http://aalis-0a1b2c3d.localhost:4321/signin#c0de"
	for _, c := range []struct{ host, session, want string }{
		{"", "", link},
		{"127.0.0.1", "", "http://127.0.0.1:4321/signin#c0de"},
		{"::1", "s 1", "http://[::1]:4321/signin?session=s+1#c0de"},
	} {
		if got, err := tabURL(link, c.host, c.session); got != c.want || err != nil {
			t.Errorf("%+v: %s %v", c, got, err)
		}
	}
}
