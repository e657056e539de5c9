package backend_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// The import ladder: a package imports only what stands below it. Each rule carries its reason, so that
// whoever runs into one knows what to weigh before changing it.

// rungs gives every folder its step, by the longest prefix.
var rungs = map[string]int{
	"backend/fault":           0,
	"backend/text":            0,
	"backend/contract/schema": 0, // the published documents, as bytes
	"frontend":                0, // the built interface, as files
	"backend/blob":            1,
	"backend/event":           1,
	"backend/rule":            1,
	"backend/store":           2,
	"backend/core":            3,
	"backend/approval":        4,
	"backend/attachment":      4,
	"backend/background":      4,
	"backend/checkpoint":      4,
	"backend/settings":        4,
	"backend/settings/field":  1, // declarations: whoever has settings needs them
	"backend/worker":          4,
	"backend/engine":          4,
	"backend/provider":        4,
	"backend/tool":            4,
	"backend/room":            4,
	"backend/principal":       4,
	"backend/turn":            5,
	"backend/title":           5,
	"backend/command":         5,
	"backend/wire":            6,
	"backend/server":          7,
	"backend/contract":        7,
	"backend":                 8,
	"backend/testkit":         8,
	"app":                     9,
	".":                       10,
	"build":                   10, // programs that make packages of it
}

// sideways are the steps on one rung that are allowed beside a child's to its own parent. A key ending
// in /... stands for everything below it.
var sideways = map[string][]string{
	"backend/fault":        {"backend/text"},                                                                  // a fault's message is a text
	"backend/engine/...":   {"backend/provider", "backend/tool"},                                              // the interfaces, never an implementation
	"backend/wire/session": {"backend/wire/jsonrpc"},                                                          // the frame codec is a library of the protocols
	"backend/wire/v1":      {"backend/wire/rest"},                                                             // as is the REST one
	"backend/wire/chat":    {"backend/wire/rest"},                                                             //
	"backend/wire/managed": {"backend/wire/rest"},                                                             //
	"backend/testkit/...":  {"backend", "backend/testkit"},                                                    // the harness opens the whole program
	"backend/testkit":      {"backend"},                                                                       //
	"backend/contract/gen": {"backend/contract"},                                                              // its command
	"app/...":              {"app/bus"},                                                                       // a part of the shell knows no other; package app puts them together
	"app":                  {"app/autostart", "app/desk", "app/notify", "app/seat", "app/survey", "app/tray"}, //
}

// ban keeps a package of somebody else's in few hands.
type ban struct {
	of     string   // an import path, or a prefix when it ends in /
	only   []string // folders that may, with everything below them
	reason string
}

var bans = []ban{
	{"database/sql", []string{"backend/store"}, "one package knows SQL; everything else reads typed rows"},
	{"github.com/mattn/go-sqlite3", []string{"backend/store"}, "one package knows SQL; everything else reads typed rows"},
	{"github.com/coder/websocket", []string{"backend/server", "backend/testkit", "app"}, "one package accepts connections; the shell's commands and the benchmarks dial it, as clients"},
	{"github.com/wailsapp/", []string{"app"}, "the window is the shell's"},
	{"fyne.io/systray", []string{"app"}, "the tray is the shell's"},
	{"github.com/spf13/", []string{"app"}, "command line and configuration are the shell's; viper would leak global state"},
	{"os/exec", []string{"backend/tool", "backend/engine", "backend/testkit", "app"}, "running programs is what approvals guard; the shell runs the program's own file"},
	{"net/http", []string{"backend/server", "backend/wire", "backend/provider", "backend/tool", "backend/room", "backend/testkit", "backend", "app"}, "requests leave only where a person configured them"},
	{"net", []string{"backend/server", "backend/provider", "backend/tool", "backend/room", "backend/testkit", "app"}, "one package listens"},
	{"plugin", nil, "nothing is loaded at run time"},
	{"github.com/google/uuid", nil, "its V7 keeps a counter per process, so that runs cannot be repeated; event.NewID does not"},
	{"github.com/stretchr/testify", nil, "the standard library and go-cmp say what differs"},
}

// strangers are parts of the program that must not know each other although the rungs would let them.
var strangers = []struct{ who, whom, reason string }{
	{"backend/wire", "backend/turn", "protocols read the log and write commands; they call no effect"},
	{"backend/wire", "backend/engine", "protocols read the log and write commands; they call no effect"},
	{"backend/wire", "backend/tool", "protocols read the log and write commands; they call no effect"},
	{"backend/wire", "backend/provider", "protocols read the log and write commands; they call no effect"},
	{"backend/wire", "backend/approval", "protocols read the log and write commands; they call no effect"},
	{"backend/wire", "backend/background", "protocols read the log and write commands; they call no effect"},
	{"backend/turn", "backend/approval", "effects speak through commands and events"},
	{"backend/turn", "backend/background", "effects speak through commands and events"},
	{"backend/turn", "backend/checkpoint", "effects speak through commands and events"},
	{"backend/server", "backend/store", "the door knows callers and frames, no rows"},
	{"backend/server", "backend/core", "the door knows callers and frames, no commands"},
	{"backend/principal", "backend/core", "who calls is settled before any command"},
}

// alongside are packages made for the tests of others.
var alongside = []string{
	"backend/provider/scripted", "backend/provider/providertest", "backend/tool/tooltest", "backend/engine/enginetest",
	"backend/principal/principaltest", "backend/room/roomtest", "backend/testkit",
	"app/bustest",
}

// spoken are the protocols over which the tests of a part below speak, because what the part does shows
// only there. The program itself keeps the ladder.
var spoken = map[string]string{
	"backend/approval": "backend/wire/session", // presence and approvals are pushed to connections
	"backend/room":     "backend/wire/session", // what a room is shows as items
}

type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImports(t *testing.T) {
	for _, tags := range []string{"", "desktop,production,webkit2_41"} {
		for _, p := range list(t, tags) {
			from := folder(p.ImportPath)
			if _, ok := rung(from); !ok {
				t.Errorf("%s has no rung; give it one", from)
				continue
			}
			for _, to := range p.Imports {
				check(t, from, to)
			}
			for _, to := range append(p.TestImports, p.XTestImports...) {
				checkTest(t, from, to)
			}
		}
	}
}

// TestImportRules keeps the rules themselves honest: each must catch what it is there for.
func TestImportRules(t *testing.T) {
	for _, c := range []struct {
		from, to string
		allowed  bool
	}{
		{"backend/store", "aalis/backend/core", false},
		{"backend/core", "aalis/backend/store", true},
		{"backend/wire/session", "aalis/backend/turn", false},
		{"backend/wire/session", "aalis/backend/wire/jsonrpc", true},
		{"backend/wire/v1", "aalis/backend/wire/session", false},
		{"backend/engine/native", "aalis/backend/tool", true},
		{"backend/engine/native", "aalis/backend/tool/shell", false},
		{"backend/provider/openai", "aalis/backend/provider/demo", false},
		{"backend/approval", "aalis/backend/principal", false},
		{"backend/core", "database/sql", false},
		{"backend/wire/session", "github.com/coder/websocket", false},
		{"backend/server", "github.com/coder/websocket", true},
		{"backend/core", "os/exec", false},
		{"backend/tool/shell", "os/exec", true},
		{"backend", "github.com/spf13/viper", false},
		{"backend", "aalis/app", false},
		{"backend/core", "net/http/httptest", true}, // only the listed path itself is banned
	} {
		problem := refusal(c.from, c.to)
		if (problem == "") != c.allowed {
			t.Errorf("%s imports %s: %q", c.from, c.to, problem)
		}
	}
}

func check(t *testing.T, from, to string) {
	t.Helper()
	if problem := refusal(from, to); problem != "" {
		t.Errorf("%s imports %s: %s", from, to, problem)
	}
}

// checkTest is milder: a test may use what stands beside its package, and what is made for tests, but
// nothing above.
func checkTest(t *testing.T, from, to string) {
	t.Helper()
	own := folder(to)
	if !ours(to) || slices.Contains(alongside, own) || spoken[from] == own {
		return
	}
	a, _ := rung(from)
	if b, _ := rung(own); b > a {
		t.Errorf("a test of %s imports %s: it stands above", from, to)
	}
}

// refusal says why a package may not import another, or "".
func refusal(from, to string) string {
	if !ours(to) {
		for _, b := range bans {
			hit := to == b.of || strings.HasSuffix(b.of, "/") && strings.HasPrefix(to, b.of)
			if hit && !slices.ContainsFunc(b.only, func(may string) bool { return may == from || may != "backend" && under(from, may) }) {
				return b.reason
			}
		}
		return ""
	}
	own := folder(to)
	for _, s := range strangers {
		if under(from, s.who) && under(own, s.whom) {
			return s.reason
		}
	}
	a, _ := rung(from)
	b, known := rung(own)
	switch {
	case !known:
		return "it has no rung"
	case b > a:
		return "it stands above"
	case b == a && own != path.Dir(from) && !beside(from, own):
		return "it stands on the same rung; speak through commands and events, or through an interface of the parent"
	}
	return ""
}

func beside(from, to string) bool {
	for who, may := range sideways {
		prefix, below := strings.CutSuffix(who, "/...")
		if (who == from || below && strings.HasPrefix(from, prefix+"/")) && slices.Contains(may, to) {
			return true
		}
	}
	return false
}

func rung(of string) (int, bool) {
	for at := of; ; at = path.Dir(at) {
		// backend's own rung is not that of a new folder below it.
		if n, ok := rungs[at]; ok && (at == of || at != "backend" && at != ".") {
			return n, true
		}
		if at == "." {
			return 0, false
		}
	}
}

func under(folder, parent string) bool {
	return folder == parent || strings.HasPrefix(folder, parent+"/")
}

func ours(importPath string) bool {
	return importPath == "aalis" || strings.HasPrefix(importPath, "aalis/")
}

func folder(importPath string) string {
	if rest, below := strings.CutPrefix(importPath, "aalis/"); below {
		return rest
	}
	return "."
}

func list(t *testing.T, tags string) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-tags", tags, "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = ".."
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, problems.String())
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}
