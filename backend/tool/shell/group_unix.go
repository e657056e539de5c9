//go:build unix

package shell

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// launcher becomes the command. First it leaves a guard in its process group that reads from a pipe
// whose other end only this process holds: when this process dies, however it dies, the pipe ends
// and the guard kills the group. A parent-death signal would reach only the direct child, and fires
// when the thread that forked ends. The guard is a child of a subshell that has ended, so that the
// command never meets a child it did not start; it ignores the signals of a polite end, which would
// leave stubborn processes unguarded; and it keeps the group's number from being given to another.
const launcher = `( (trap '' HUP INT TERM; exec <&3 3<&- >/dev/null 2>&1; read -r _; kill -KILL 0) & )
exec /bin/sh -c "$1" sh 3<&-`

// group is a running command with everything it started. It has its own session, hence no terminal
// to ask passwords on.
type group struct {
	cmd   *exec.Cmd
	leash *os.File // the guard lives as long as this is open here
}

// start runs c with both outputs on writer.
func start(c command, writer *os.File) (*group, error) {
	guardEnd, leash, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer guardEnd.Close()
	cmd := exec.Command("/bin/sh", "-c", launcher, "sh", c.line)
	cmd.Dir = c.dir
	cmd.Env = environ(os.Environ(), c.secrets, c.dir)
	cmd.Stdout, cmd.Stderr = writer, writer
	cmd.ExtraFiles = []*os.File{guardEnd}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		leash.Close()
		return nil, err
	}
	return &group{cmd: cmd, leash: leash}, nil
}

func (g *group) wait() error { return g.cmd.Wait() }

func (g *group) terminate() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGTERM) }

func (g *group) kill() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }

// release lets go of the guard's pipe; the group is dead by now.
func (g *group) release() { g.leash.Close() }

func endingOf(state *os.ProcessState) ending {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return ending{exitCode: 128 + int(status.Signal()), signal: unix.SignalName(status.Signal())}
	}
	return ending{exitCode: state.ExitCode()}
}
