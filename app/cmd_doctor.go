package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"aalis/backend/text"
	"aalis/frontend"
)

// verdict is the doctor's word for one thing.
type verdict string

// The verdicts. What a machine cannot have is a note, and never broken.
const (
	fine   verdict = "ok"
	note   verdict = "note"
	broken verdict = "broken"
)

// finding is one line of the doctor.
type finding struct {
	Name    string  `json:"name"`
	OK      bool    `json:"ok"` // it is not broken
	Verdict verdict `json:"verdict"`
	Detail  string  `json:"detail"` // what was found, and what to do where something is to be done
}

// found makes a line. The name is a key of the catalogue behind doctor.
func found(name string, v verdict, detail string) finding {
	return finding{name, v != broken, v, detail}
}

// judged is found for what is fine or has failed.
func (p *program) judged(name string, err error, detail string) finding {
	if err != nil {
		return found(name, broken, strings.Join(p.explain(err), "; "))
	}
	return found(name, fine, detail)
}

func (p *program) doctorCommand() *cobra.Command {
	cmd := p.command("doctor", "command.doctor", "")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		findings := p.examine(cmd.Context())
		good := true
		for _, f := range findings {
			good = good && f.OK
		}
		if p.flags.json {
			if err := p.printJSON(map[string]any{"ok": good, "checks": findings}); err != nil {
				return err
			}
		} else {
			for _, f := range findings {
				fmt.Fprintf(p.out, "%s  %s: %s\n", p.say(text.Key("doctor."+f.Verdict)), p.say(text.Key("doctor."+f.Name)), f.Detail)
			}
		}
		if !good {
			return &exitError{exitFailed}
		}
		return nil
	}
	return cmd
}

// examine changes nothing: what it looks at, it leaves as it is.
func (p *program) examine(ctx context.Context) []finding {
	s, configured := p.settings(nil)
	if p.flags.dataDir == "" { // not even that could be told
		return []finding{p.judged("config", configured, "")}
	}
	s.dataDir = p.flags.dataDir
	detail, err := p.examineFolder(s.dataDir)
	all := []finding{p.judged("folder", err, detail)}
	detail = p.flags.config
	if _, err := os.Stat(p.flags.config); errors.Is(err, fs.ErrNotExist) {
		detail = p.say("doctor.config-none", "file", p.flags.config)
	}
	all = append(all, p.judged("config", configured, detail))
	running, instance := p.examineInstance(ctx, s.dataDir)
	all = append(all, instance)
	detail, err = p.examineDatabase(s, running)
	all = append(all, p.judged("database", err, detail))
	if configured == nil {
		detail, err = p.examineModels(ctx, s)
		all = append(all, p.judged("models", err, detail))
	}
	detail, err = p.say("doctor.ok"), nil
	if !frontend.Built() {
		err = usage("doctor.interface-none")
	}
	all = append(all, p.judged("interface", err, detail))
	detail, err = examinePorts()
	all = append(all, p.judged("ports", err, detail))
	return append(all, p.examineDesktop(ctx, s, configured == nil, running)...)
}
