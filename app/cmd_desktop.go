package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/frontend"
)

// desktop is `aalis` without a command: the window, or the server alone in a build without one.
func (p *program) desktop(ctx context.Context) error {
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
			return p.raiseOther(ctx, s, fault.New(fault.Unsupported, noDisplay))
		}
		return fault.New(fault.Unsupported, noDisplay)
	}
	log, closeLog := newLog(s.dataDir, s.logLevel, p.err)
	defer closeLog.Close()
	w := newWindow(s, log)
	in, err := s.open(ctx, log, w.raise)
	if _, held := errors.AsType[*store.Locked](err); held {
		return p.raiseOther(ctx, s, err)
	}
	if err != nil {
		return err
	}
	return w.show(ctx, in)
}

// raiseWithin bounds how long a second start waits for a first one that is still starting.
const raiseWithin = 5 * time.Second

// raiseOther shows the window of the instance that holds the data folder, or opens a tab on it where
// it has none.
func (p *program) raiseOther(ctx context.Context, s settings, held error) error {
	ctx, cancel := context.WithTimeout(ctx, raiseWithin)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		other, err := findRemote(s.dataDir)
		raised := false
		if err == nil {
			raised, err = other.raise(ctx)
		}
		if err == nil && raised {
			_, err = fmt.Fprintln(p.err, p.say("run.raised"))
			return err
		}
		if err == nil {
			link, err := other.signInURL(ctx)
			if err == nil {
				err = p.openTab(link)
			}
			if err == nil {
				_, err = fmt.Fprintln(p.err, p.say("run.tab-instead"))
			}
			return err
		}
		select {
		case <-ctx.Done():
			return held // the one who holds the folder, because it tells nobody where it is
		case <-again.C:
		}
	}
}
