package tool

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func of[T any](v T) *T { return &v }

func TestResolveDisplay(t *testing.T) {
	command := &Display{Kind: DisplayCommand, Command: "command", Cwd: "cwd", ExitCode: "code"}
	change := &Display{Kind: DisplayFileChange, Path: "path", Removed: "old", Added: "new"}
	for _, c := range []struct {
		name    string
		display *Display
		args    string
		end     *Ended
		want    *Shown
	}{
		{"SP-DISP-01 a command", command, `{"command":"ls","cwd":"src"}`, nil, &Shown{Kind: "command", Command: of("ls"), Cwd: of("src")}},
		{"SP-DISP-01 a file change", change, `{"path":"a","old":"x","new":"y"}`, nil, &Shown{Kind: "file-change", Path: of("a"), Removed: of("x"), Added: of("y")}},
		{
			"SP-DISP-02 parts are literal: controls, bidi marks, empty strings", change, `{"path":"a\u202eb\u0007","old":"","new":"\u200b"}`, nil,
			&Shown{Kind: "file-change", Path: of("a\u202eb\u0007"), Removed: of(""), Added: of("\u200b")},
		},
		{"SP-DISP-02 names are taken in exact case", command, `{"Command":"ls"}`, nil, nil},
		{"SP-DISP-03 no declaration", nil, `{"command":"ls"}`, nil, nil},
		{"SP-DISP-03 an unknown kind", &Display{Kind: "picture", Path: "path"}, `{"path":"a"}`, nil, nil},
		{"SP-DISP-03 a command that is no string", command, `{"command":["ls"]}`, nil, nil},
		{"SP-DISP-03 a command that is null", command, `{"command":null}`, nil, nil},
		{"SP-DISP-03 no command", command, `{"cwd":"x"}`, nil, nil},
		{"SP-DISP-03 a path that is no string", change, `{"path":1,"old":"x"}`, nil, nil},
		{"SP-DISP-03 arguments that are no object", change, `[]`, nil, nil},
		{"SP-DISP-04 a cwd that is no string is left out", command, `{"command":"ls","cwd":5}`, nil, &Shown{Kind: "command", Command: of("ls")}},
		{"SP-DISP-04 a removed part that is no string is left out", change, `{"path":"a","old":{},"new":"y"}`, nil, &Shown{Kind: "file-change", Path: of("a"), Added: of("y")}},
		{"SP-DISP-05 the exit code beside the text", command, `{"command":"ls"}`, &Ended{Text: "x", ExitCode: of(2)}, &Shown{Kind: "command", Command: of("ls"), ExitCode: of[int64](2)}},
		{"SP-DISP-05 zero is an exit code", command, `{"command":"ls"}`, &Ended{ExitCode: of(0)}, &Shown{Kind: "command", Command: of("ls"), ExitCode: of[int64](0)}},
		{"SP-DISP-05 the declared entry of a result object", command, `{"command":"ls"}`, &Ended{Text: `{"code":-1,"Code":5}`}, &Shown{Kind: "command", Command: of("ls"), ExitCode: of[int64](-1)}},
		{"SP-DISP-05 an integer written with a point", command, `{"command":"ls"}`, &Ended{Text: `{"code":3.0}`}, &Shown{Kind: "command", Command: of("ls"), ExitCode: of[int64](3)}},
		{"SP-DISP-05 none without a declared key", &Display{Kind: DisplayCommand, Command: "command"}, `{"command":"ls"}`, &Ended{Text: `{"code":1}`, ExitCode: of(1)}, &Shown{Kind: "command", Command: of("ls")}},
		{"SP-DISP-05 none before the end", command, `{"command":"ls"}`, nil, &Shown{Kind: "command", Command: of("ls")}},
		{"SP-DISP-05 none in a result that is no object", command, `{"command":"ls"}`, &Ended{Text: `[1]`}, &Shown{Kind: "command", Command: of("ls")}},
		{"SP-DISP-05 none in words", command, `{"command":"ls"}`, &Ended{Text: `exit code 1`}, &Shown{Kind: "command", Command: of("ls")}},
		{"SP-DISP-05 a fraction is none", command, `{"command":"ls"}`, &Ended{Text: `{"code":1.5}`}, &Shown{Kind: "command", Command: of("ls")}},
		{"SP-DISP-05 a string is none", command, `{"command":"ls"}`, &Ended{Text: `{"code":"1"}`}, &Shown{Kind: "command", Command: of("ls")}},
		{"SP-DISP-05 null is none", command, `{"command":"ls"}`, &Ended{Text: `{"code":null}`}, &Shown{Kind: "command", Command: of("ls")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ResolveDisplay(c.display, json.RawMessage(c.args), c.end)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("SP-DISP-01 on the wire", func(t *testing.T) {
		got, err := json.Marshal(Shown{Kind: "command", Command: of(""), ExitCode: of[int64](0)})
		if want := `{"kind":"command","command":"","exitCode":0}`; err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	})
}
