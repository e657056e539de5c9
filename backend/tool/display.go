package tool

import (
	"encoding/json"
	"math"
)

// The kinds of Display. Spec SP-DISP-01: a closed set, extended by addition only.
const (
	DisplayCommand    = "command"
	DisplayFileChange = "file-change"
)

// Display says which arguments a card shows, by their names; an empty name is no declaration.
type Display struct {
	Kind     string // DisplayCommand or DisplayFileChange
	Command  string
	Cwd      string
	Path     string
	Removed  string
	Added    string
	ExitCode string // name of the exit code in the result; empty: none
}

// Shown is a resolved Display, in the form of the session protocol's ToolDisplay.
type Shown struct {
	Kind     string  `json:"kind"`
	Command  *string `json:"command,omitempty"`
	Cwd      *string `json:"cwd,omitempty"`
	ExitCode *int64  `json:"exitCode,omitempty"`
	Path     *string `json:"path,omitempty"`
	Removed  *string `json:"removed,omitempty"`
	Added    *string `json:"added,omitempty"`
}

// Ended is how a call came out, as far as a card shows it.
type Ended struct {
	Text     string // what the model read
	ExitCode *int   // the exit code the tool handed over beside its text
}

// ResolveDisplay gives what a card shows of a call, nil for the generic card. It depends on its
// arguments alone. end is nil while the call runs.
//
// Spec SP-DISP-02: the parts are taken literally from the arguments. Spec SP-DISP-03: no display
// without a declaration, for an unknown kind, or when the declared command or path is not a string.
// Spec SP-DISP-04: an optional part that is not a string is left out. Spec SP-DISP-05: the exit
// code needs a declaration, an ended call, and an integer: the one a tool of ours hands over, which
// is that entry of its result, or else the entry of a text that is a JSON object.
func ResolveDisplay(d *Display, args json.RawMessage, end *Ended) *Shown {
	if d == nil {
		return nil
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil {
		return nil
	}
	switch d.Kind {
	case DisplayCommand:
		command := stringOf(given, d.Command)
		if command == nil {
			return nil
		}
		return &Shown{Kind: d.Kind, Command: command, Cwd: stringOf(given, d.Cwd), ExitCode: exitCodeOf(d, end)}
	case DisplayFileChange:
		path := stringOf(given, d.Path)
		if path == nil {
			return nil
		}
		return &Shown{Kind: d.Kind, Path: path, Removed: stringOf(given, d.Removed), Added: stringOf(given, d.Added)}
	}
	return nil
}

func stringOf(given map[string]json.RawMessage, name string) *string {
	raw, there := given[name]
	if name == "" || !there {
		return nil
	}
	var s *string
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return s
}

func exitCodeOf(d *Display, end *Ended) *int64 {
	if d.ExitCode == "" || end == nil {
		return nil
	}
	if end.ExitCode != nil {
		code := int64(*end.ExitCode)
		return &code
	}
	var result map[string]json.RawMessage
	if json.Unmarshal([]byte(end.Text), &result) != nil {
		return nil
	}
	var number *float64
	if json.Unmarshal(result[d.ExitCode], &number) != nil || number == nil {
		return nil
	}
	// 3.0 is an integer in JSON Schema and in the client's language; beyond 2^53 nothing is exact.
	if *number != math.Trunc(*number) || math.Abs(*number) > 1<<53 {
		return nil
	}
	code := int64(*number)
	return &code
}
