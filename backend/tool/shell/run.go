package shell

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"

	"aalis/backend/tool"
)

// command is one command ready to start.
type command struct {
	line    string
	dir     string // absolute
	timeout time.Duration
	secrets []string
}

// ending is how a command came out.
type ending struct {
	exitCode   int
	signal     string // set when a signal ended it; exitCode is then 128 and its number
	leftBehind bool   // something it started still held the output
	timedOut   bool
	stopped    error // the cause of ctx's end
}

// drainGrace is how long output may still arrive after the command itself has ended. What it wrote
// is in the pipe already; only something it left behind keeps the pipe open longer.
const drainGrace = 250 * time.Millisecond

// run starts the command and returns when it and all of its group are gone.
func run(ctx context.Context, c command, out tool.Output) (tool.Result, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return tool.Result{}, tool.Refuse(tool.Failed, "the command could not be started: %w", err)
	}
	defer reader.Close()
	g, err := start(c, writer)
	writer.Close()
	if err != nil {
		return tool.Result{}, tool.Refuse(tool.Failed, "the command could not be started: %w", err)
	}
	defer g.release()

	p := newPump(out, c.secrets)
	var copier, reaper sync.WaitGroup // own the two goroutines below
	drained, exited := make(chan struct{}), make(chan error, 1)
	copier.Go(func() { defer close(drained); p.copy(reader) })
	reaper.Go(func() { exited <- g.wait() })

	end := conduct(ctx, c.timeout, g, drained, exited)
	// Whatever still holds the pipe, in the group or out of it, must not hold the call. The reaper
	// is not waited for: it ends when the kernel lets go of a process that is killed already.
	reader.Close()
	copier.Wait()
	p.finish()
	return ended(p, end, c.timeout)
}

// conduct waits for the command's end, its timeout, or ctx's end, and leaves no process of the
// group behind.
func conduct(ctx context.Context, timeout time.Duration, g *group, drained <-chan struct{}, exited <-chan error) ending {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var end ending
	select {
	case err := <-exited:
		end = exitOf(err)
		end.leftBehind = !within(drainGrace, drained)
		if end.leftBehind {
			g.terminate()
			within(tool.StopGrace, drained)
		}
		g.kill()
		within(drainGrace, drained)
		return end
	case <-timer.C:
		end.timedOut = true
	case <-ctx.Done():
		end.stopped = context.Cause(ctx)
	}
	g.terminate()
	grace := time.After(tool.StopGrace)
	for gone, empty := false, false; !gone || !empty; {
		// What the command started may need the rest of the grace to end well, too.
		select {
		case <-exited:
			gone, exited = true, nil
		case <-drained:
			empty, drained = true, nil
		case <-grace:
			gone, empty = true, true
		}
	}
	g.kill()
	if drained != nil {
		within(drainGrace, drained)
	}
	if exited != nil {
		select {
		case <-exited:
		case <-time.After(drainGrace):
		}
	}
	return end
}

func within(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

func exitOf(err error) ending {
	if err == nil {
		return ending{}
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return endingOf(exit.ProcessState)
	}
	return ending{exitCode: -1}
}
