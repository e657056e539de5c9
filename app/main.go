// Package app is the shell: the command line, the configuration, the desktop window, and the client
// that the commands use to talk to the instance that runs. It owns nothing of the domain: everything
// behind a connection is package backend's, and run.go is the one file that starts it.
//
//	Main
//	  cmd_desktop.go, cmd_serve.go   start an instance (run.go)
//	    desktop*.go                  the window, made when it is first wanted
//	    shell.go, notes.go           tray, notifications and who is there, around it
//	    part.go, update.go, link.go  how it ends, a newer file of the program, where a link goes
//	  cmd_open.go, cmd_send.go …     speak to the running one (client.go, session_client.go)
//
// One file per command. Sentences for people come from package text, in the language of config.yaml,
// else the system's.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"aalis/backend/text"
)

// Main is the whole program. It ends the process with 0, with 1 when what was asked for failed, and
// with 2 when the command line or the configuration is wrong.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends the program in good order; a second one ends it at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}

// The exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// program is one run of the command line.
type program struct {
	streams
	flags globals
	// lang is the language of sentences: the system's, until the configuration has been read.
	lang text.Language
}

// globals are the flags of every command, as given.
type globals struct {
	dataDir, config, logLevel string
	json                      bool
}

func run(ctx context.Context, args []string, s streams) int {
	p := &program{streams: s, lang: systemLanguage()}
	root := p.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if quiet, ok := errors.AsType[*exitError](err); ok {
		return quiet.code
	}
	for _, line := range p.explain(err) {
		fmt.Fprintln(s.err, p.say("command.error", "problem", line))
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// exitError ends the program with a code, everything having been said.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// usageError is a mistake in the command line or the configuration.
type usageError struct{ message text.Text }

func (e *usageError) Error() string { return e.message.String() }

func usage(key text.Key, args ...any) error { return &usageError{text.New(key, args...)} }

func (p *program) say(key text.Key, args ...any) string { return text.New(key, args...).In(p.lang) }

func (p *program) root() *cobra.Command {
	root := p.command("aalis", "command.aalis", "")
	root.Long = root.Short + "\n\n" + p.say("command.aalis-long")
	root.SilenceUsage, root.SilenceErrors = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetUsageTemplate(p.usageTemplate())
	root.SetFlagErrorFunc(p.flagError)
	p.desktopCommand(root)

	everywhere := root.PersistentFlags()
	everywhere.StringVar(&p.flags.dataDir, "data-dir", "", p.say("command.flag-data-dir"))
	everywhere.StringVar(&p.flags.config, "config", "", p.say("command.flag-config"))
	everywhere.StringVar(&p.flags.logLevel, "log-level", "", p.say("command.flag-log-level"))
	everywhere.BoolVar(&p.flags.json, "json", false, p.say("command.flag-json"))

	root.AddCommand(p.serveCommand(), p.openCommand(), p.sendCommand(), p.approvalsCommand(),
		p.tokenCommand(), p.pairCommand(), p.projectCommand(), p.roomCommand(), p.doctorCommand(), p.schemaCommand(), p.versionCommand())
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Short = p.say("command.help")
		}
	}
	p.finish(root)
	return root
}

// finish gives every command what they have in common.
func (p *program) finish(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = p.say("command.flag-help")
	cmd.Flags().SortFlags = false
	for _, sub := range cmd.Commands() {
		p.finish(sub)
	}
}

func (p *program) command(use string, short text.Key, example string) *cobra.Command {
	return &cobra.Command{Use: use, Short: p.say(short), Example: example, Args: p.noArgs, DisableFlagsInUseLine: true}
}
