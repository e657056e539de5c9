//go:build unix

package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// startAgain puts the file that now lies in the program's place in the process's stead, as it was
// started, hidden or not. Everything of this program must have ended. It returns only when that fails.
func startAgain(args []string, hidden bool) error {
	path, err := executable()
	if err != nil {
		return err
	}
	endChildren()
	if err := syscall.Exec(path, againArgs(args, hidden), os.Environ()); err != nil {
		return fmt.Errorf("starting %s again: %w", path, err)
	}
	return nil
}

// childrenWithin bounds the wait for processes of the toolkit.
const childrenWithin = time.Second

// endChildren ends what the web view has started: the program that comes in this one's stead would be
// their parent, and know nothing of them.
func endChildren() {
	lists, _ := filepath.Glob("/proc/self/task/*/children") // on Linux; elsewhere there is none
	for _, list := range lists {
		pids, _ := os.ReadFile(list) // of a thread that has ended there is nothing to read
		for word := range strings.FieldsSeq(string(pids)) {
			if pid, err := strconv.Atoi(word); err == nil {
				reap(pid)
			}
		}
	}
}

func reap(pid int) {
	if syscall.Kill(pid, syscall.SIGTERM) != nil {
		return
	}
	for end := time.Now().Add(childrenWithin); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); got == pid || err != nil {
			return
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	_, _ = syscall.Wait4(pid, nil, 0, nil)
}
