package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"aalis/backend/principal"
	"aalis/backend/text"
	"aalis/frontend"
)

// announcement says where the line of JSON goes once everything accepts.
type announcement struct {
	fd   int
	file string
}

func (p *program) serveCommand() *cobra.Command {
	var listen []string
	a := announcement{fd: -1}
	cmd := p.command("serve", "command.serve", "  aalis serve --listen 127.0.0.1:8080")
	cmd.Flags().StringArrayVar(&listen, "listen", nil, p.say("command.flag-listen"))
	cmd.Flags().IntVar(&a.fd, "ready-fd", -1, p.say("command.flag-ready-fd"))
	cmd.Flags().StringVar(&a.file, "ready-file", "", p.say("command.flag-ready-file"))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("ready-fd") && a.file != "" {
			return usage("command.flags-exclude", "one", "--ready-fd", "other", "--ready-file")
		}
		s, err := p.settings(listen)
		if err != nil {
			return err
		}
		return p.serve(cmd.Context(), s, a)
	}
	return cmd
}

// serve runs the server until ctx ends.
func (p *program) serve(ctx context.Context, s settings, a announcement) error {
	var fd *os.File
	if a.fd >= 0 {
		// Checked before anything starts: a parent that waits on it would wait for ever.
		fd = os.NewFile(uintptr(a.fd), "ready-fd")
		if _, err := fd.Stat(); err != nil {
			return usage("command.ready-fd", "fd", a.fd)
		}
	}
	log, closeLog := newLog(s.dataDir, s.logLevel, p.err)
	defer closeLog.Close()
	in, err := s.open(ctx, log, nil)
	if err != nil {
		return err
	}
	if !frontend.Built() {
		log.Warn(text.New("run.no-pages").In(text.English))
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var failed error
	err = in.Run(ctx, func(r ready) {
		if failed = p.announce(r, s, a, fd); failed != nil {
			stop(failed)
		}
	})
	return errors.Join(failed, err)
}

// announce tells whoever started the program that it is there.
func (p *program) announce(r ready, s settings, a announcement, fd *os.File) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding the ready line: %w", err)
	}
	line = append(line, '\n')
	if fd != nil {
		_, err = fd.Write(line)
		if err = errors.Join(err, fd.Close()); err != nil {
			return fmt.Errorf("writing the ready line: %w", err)
		}
	}
	if a.file != "" {
		if err := principal.WritePrivate(a.file, line); err != nil {
			return fmt.Errorf("writing the ready file: %w", err)
		}
	}
	if p.flags.json {
		_, err = p.out.Write(line)
	} else {
		_, err = fmt.Fprintln(p.out, p.say("run.at", "name", s.name, "url", r.URL))
	}
	if err != nil {
		return fmt.Errorf("writing where the program is: %w", err)
	}
	return nil
}
