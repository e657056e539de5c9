package app

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"aalis/backend/wire/session"
)

// Version is the program's number.
const Version = "0.1.0"

// commit is set by the build: -ldflags "-X aalis/app.commit=…".
var commit string

// versions is what `aalis version --json` prints.
type versions struct {
	Version   string            `json:"version"`
	Commit    string            `json:"commit"`
	Go        string            `json:"go"`
	Window    bool              `json:"window"`
	Protocols map[string]string `json:"protocols"`
}

func (p *program) versionCommand() *cobra.Command {
	cmd := p.command("version", "command.version", "")
	cmd.RunE = func(*cobra.Command, []string) error {
		v := versions{
			Version: Version, Commit: orElse(commit, "unknown"), Go: runtime.Version(), Window: hasWindow,
			Protocols: map[string]string{session.Protocol.Name: session.Version},
		}
		if p.flags.json {
			return p.printJSON(v)
		}
		_, err := fmt.Fprintf(p.out, "aalis %s (%s)\n%s %s\n", v.Version, v.Commit, session.Protocol.Contract.Title, session.Version)
		return err
	}
	return cmd
}

// printJSON prints one value as one line.
func (p *program) printJSON(v any) error {
	encoder := json.NewEncoder(p.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
