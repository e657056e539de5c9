package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/frontend"
)

// start is how the desktop app is asked for.
type start struct {
	link   string // of the program's own, "" for none
	hidden bool   // in the tray, without a window until one is wanted
	// renderer is safe or usual, to be remembered; "" is what was remembered.
	renderer string
}

const (
	rendererSafe  = "safe"
	rendererUsual = "usual"
)

// desktopCommand makes the root command the desktop app.
func (p *program) desktopCommand(root *cobra.Command) {
	var st start
	root.Use = "aalis [LINK]"
	root.Flags().BoolVar(&st.hidden, "hidden", false, p.say("command.flag-hidden"))
	root.Flags().StringVar(&st.renderer, "renderer", "", p.say("command.flag-renderer"))
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && !isLink(args[0]) {
			return p.noArgs(cmd, args) // a mistyped command
		}
		if len(args) > 1 {
			return p.noArgs(cmd, args[1:])
		}
		return nil
	}
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			st.link = args[0]
		}
		if _, err := parseLink(st.link); err != nil {
			return err
		}
		if st.renderer != "" && st.renderer != rendererSafe && st.renderer != rendererUsual {
			return usage("command.renderer", "value", st.renderer)
		}
		return p.desktop(cmd.Context(), st)
	}
}

// desktop is `aalis` without a command: the window, or the server alone in a build without one.
func (p *program) desktop(ctx context.Context, st start) error {
	s, err := p.settings(nil)
	if err != nil {
		return err
	}
	if !hasWindow {
		return p.serve(ctx, s, announcement{fd: -1})
	}
	if !frontend.Built() {
		return usage("run.no-pages")
	}
	if !hasDisplay() {
		if _, err := findRemote(s.dataDir); err == nil { // raising another one's window needs none
			return p.raiseOther(ctx, s, st, fault.New(fault.Unsupported, noDisplay))
		}
		return fault.New(fault.Unsupported, noDisplay)
	}
	end, err := p.show(ctx, s, st)
	if err != nil || !end.again {
		return err
	}
	return startAgain(os.Args, end.hidden)
}

// end is how the desktop app ended.
type end struct {
	again  bool // it is to start once more
	hidden bool // there was no window in sight
}

// show runs the app until it ends.
func (p *program) show(ctx context.Context, s settings, st start) (end, error) {
	log, closeLog := newLog(s.dataDir, s.logLevel, p.err)
	defer closeLog.Close()
	slog.SetDefault(log) // for libraries that log without being asked where
	w := newWindow(s, st, log)
	in, err := s.open(ctx, log, w.activate)
	if _, held := errors.AsType[*store.Locked](err); held {
		return end{}, p.raiseOther(ctx, s, st, err)
	}
	if err != nil {
		return end{}, err
	}
	return w.run(ctx, in)
}

// raiseWithin bounds how long a second start waits for a first one that is still starting.
const raiseWithin = 5 * time.Second

// raiseOther shows the window of the instance that holds the data folder, or opens a tab on it where
// it has none. One that was to start hidden has nothing to show.
func (p *program) raiseOther(ctx context.Context, s settings, st start, held error) error {
	ctx, cancel := context.WithTimeout(ctx, raiseWithin)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		other, err := findRemote(s.dataDir)
		if err == nil && st.hidden && st.link == "" {
			_, err = fmt.Fprintln(p.err, p.say("run.already"))
			return err
		}
		raised := false
		if err == nil {
			raised, err = other.raise(ctx, st.link)
		}
		if err == nil && raised {
			_, err = fmt.Fprintln(p.err, p.say("run.raised"))
			return err
		}
		if err == nil {
			return p.tabInstead(ctx, other, st)
		}
		select {
		case <-ctx.Done():
			return held // the one who holds the folder, because it tells nobody where it is
		case <-again.C:
		}
	}
}

// tabInstead opens a tab on an instance that has no window.
func (p *program) tabInstead(ctx context.Context, other *remote, st start) error {
	to, err := parseLink(st.link)
	if err != nil {
		return err
	}
	link, err := other.signInURL(ctx)
	if err != nil {
		return err
	}
	if link, err = tabURL(link, "", to.Session); err != nil {
		return err
	}
	if err := p.openTab(link); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.err, p.say("run.tab-instead"))
	return err
}
