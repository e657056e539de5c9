// Package shell owns the tool that runs commands: its process group, its streamed output, its time
// limit, and an environment without secrets. It never decides whether a command may run (every one
// asks) or goes on in the background, and never keeps a process beyond the context it was given.
//
//	Exec            the definition; prepare resolves the folder, nothing runs
//	  run           starts the group, pumps its output, waits for end, timeout or stop
//	    group       one per operating system: start, terminate, kill; dies with this process
//	    pump        bytes -> whole runes -> no known secrets -> stream and excerpt
package shell

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"aalis/backend/tool"
)

//go:embed run_command.md
var description string

// The bounds of a command's running time.
const (
	DefaultTimeout = 120 * time.Second
	MaxTimeout     = 600 * time.Second
	// noLimit is for commands that may go on in the background and name no limit: they are seen and
	// can be stopped there, and servers never end.
	noLimit = time.Duration(math.MaxInt64)
)

// Options are what the program knows and a call does not.
type Options struct {
	// Secrets gives the values that must not leave: a variable that contains one is not passed on,
	// and output shows [redacted] in its place. It is asked at each call; nil means none.
	Secrets func() []string
	// Closed are folders no command may start in.
	Closed []string
}

type params struct {
	Command        string `json:"command" jsonschema:"minLength=1" jsonschema_description:"The command line, as for sh -c."`
	Cwd            string `json:"cwd,omitempty" jsonschema_description:"Folder to start in, relative to the session's folder. Default: that folder."`
	TimeoutSeconds int    `json:"timeout_seconds,omitempty" jsonschema:"minimum=1,maximum=600" jsonschema_description:"Seconds after which the command is ended. Default: 120; none for one that goes on in the background."`
}

// Exec is the tool run_command.
func Exec(options Options) tool.Definition {
	return tool.Define(tool.Definition{
		Name:        "run_command",
		Description: description,
		Example:     json.RawMessage(`{"command":"go test ./...","cwd":"backend","timeout_seconds":300}`),
		Effect:      tool.Write,
		Movable:     true,
		Display:     &tool.Display{Kind: tool.DisplayCommand, Command: "command", Cwd: "cwd", ExitCode: "exit_code"},
	}, options.prepare)
}

func (o Options) prepare(_ context.Context, call tool.Call, p params) (tool.Prepared, error) {
	if strings.ContainsRune(p.Command, 0) {
		return tool.Prepared{}, tool.Refuse(tool.InvalidArgs, `"command" contains a NUL byte, which no command line can`)
	}
	if strings.TrimSpace(p.Command) == "" {
		return tool.Prepared{}, tool.Refuse(tool.InvalidArgs, `"command" is empty`)
	}
	dir, info, err := o.folder(call.Place, p.Cwd)
	if err != nil {
		return tool.Prepared{}, err
	}
	foreground, moved := limits(p)
	within := func(timeout time.Duration) func(context.Context, tool.Output) (tool.Result, error) {
		return func(ctx context.Context, out tool.Output) (tool.Result, error) {
			again, now, err := o.folder(call.Place, p.Cwd)
			if err != nil || again != dir || !os.SameFile(info, now) {
				return tool.Result{}, tool.Refuse(tool.TargetChanged, "the folder %s is not the one that was approved any more; nothing ran", dir)
			}
			return run(ctx, command{line: p.Command, dir: dir, timeout: timeout, secrets: o.secrets()}, out)
		}
	}
	return tool.Prepared{
		Facts:         tool.Facts{Command: p.Command, Cwd: dir},
		NeedsApproval: true,
		Anywhere:      true,
		Execute:       within(foreground),
		Move:          &tool.Move{Execute: within(moved)},
	}, nil
}

// limits give how long a command may run that stays with its turn, and one that may go on without it.
func limits(p params) (foreground, moved time.Duration) {
	if p.TimeoutSeconds == 0 {
		return DefaultTimeout, noLimit
	}
	named := min(time.Duration(p.TimeoutSeconds)*time.Second, MaxTimeout)
	return named, named
}

// folder gives the absolute folder to start in.
func (o Options) folder(place tool.Place, cwd string) (string, os.FileInfo, error) {
	if cwd == "" {
		cwd = "."
	}
	folder, err := place.Open(o.Closed...)
	if err != nil {
		return "", nil, err
	}
	defer folder.Close()
	target, err := folder.Resolve(cwd)
	if err != nil {
		return "", nil, err
	}
	if target.Info == nil {
		return "", nil, folder.Missing(cwd, target)
	}
	if !target.Info.IsDir() {
		return "", nil, tool.Refuse(tool.InvalidArgs, "%q is a file; cwd must be a folder", cwd)
	}
	return folder.Abs(target), target.Info, nil
}

func (o Options) secrets() []string {
	if o.Secrets == nil {
		return nil
	}
	return worthHiding(o.Secrets())
}

// ended turns how a command came out into a result, with the note the model reads last.
func ended(p *pump, end ending, timeout time.Duration) (tool.Result, error) {
	text := p.text()
	note := func(s string) string {
		if text == "" || strings.HasSuffix(text, "\n") {
			return text + s
		}
		return text + "\n" + s
	}
	switch {
	case end.stopped != nil:
		return tool.Result{}, &tool.Error{Code: tool.Failed, Message: note("[stopped]"), Err: end.stopped}
	case end.timedOut:
		return tool.Result{}, tool.Fail(tool.TimedOut, "%s", note(fmt.Sprintf("[ended after %d s without finishing]", int(timeout.Seconds()))))
	}
	line := fmt.Sprintf("[exit code %d]", end.exitCode)
	if end.signal != "" {
		line = fmt.Sprintf("[exit code %d: ended by signal %s]", end.exitCode, end.signal)
	}
	if end.leftBehind {
		line = "[processes left in the background were ended]\n" + line
	}
	code := end.exitCode
	return tool.Result{Text: note(line), ExitCode: &code, Truncated: p.truncated()}, nil
}
