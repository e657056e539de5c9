//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a program that was started and has said that it accepts.
type process struct {
	cmd   *exec.Cmd
	dir   string // its data folder, "" for none
	url   string
	ready time.Duration // from its start to its first answer to a question for its health
	said  *tail         // on standard error
	ended chan error
}

const (
	readyWithin = 30 * time.Second
	stopWithin  = 5 * time.Second
)

// launch starts a program that writes {"url":…} to file descriptor 3, and asks it for its health.
func launch(ctx context.Context, dir, program string, args ...string) (*process, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	p := &process{cmd: exec.Command(program, args...), dir: dir, said: &tail{}, ended: make(chan error, 1)}
	p.cmd.ExtraFiles = []*os.File{out}
	p.cmd.Stderr = p.said
	p.cmd.Env = environment()
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it must not outlive us
	began := time.Now()
	err = p.cmd.Start()
	_ = out.Close()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	if err := p.awaitReady(ctx, in); err != nil {
		return nil, errors.Join(fmt.Errorf("%s did not become ready: %w\n%s", program, err, p.said), p.stop())
	}
	p.ready = time.Since(began)
	return p, nil
}

// environment is ours without what configures the server.
func environment() []string {
	var kept []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "AALIS_") {
			kept = append(kept, entry)
		}
	}
	return kept
}

func (p *process) awaitReady(ctx context.Context, in *os.File) error {
	if err := in.SetReadDeadline(time.Now().Add(readyWithin)); err != nil {
		return err
	}
	line, err := bufio.NewReader(in).ReadBytes('\n')
	if err != nil {
		return err
	}
	var ready struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(line, &ready); err != nil {
		return err
	}
	p.url = ready.URL
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/v1/health", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: readyWithin}
	answer, err := client.Do(ask)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("its health is %s", answer.Status)
	}
	return nil
}

// stop ends the process and waits for its end; an end with another status than 0 is an error.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(stopWithin)
	defer timer.Stop()
	select {
	case err := <-p.ended:
		if err != nil {
			return fmt.Errorf("%s ended: %w\n%s", p.cmd.Path, err, p.said)
		}
		return nil
	case <-timer.C:
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
	return fmt.Errorf("%s did not stop when told", p.cmd.Path)
}

// cpu is what the process has used so far, user and system time of all its threads. Its clock counts
// nanoseconds, /proc/PID/stat hundredths of a second.
func (p *process) cpu() (time.Duration, error) {
	// The kernel's own form of a process's clock: ~pid << 3, with 2 for time scheduled.
	clock := int32(^p.cmd.Process.Pid)<<3 | 2
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, fmt.Errorf("reading the clock of %s: %w", p.cmd.Path, err)
	}
	return time.Duration(t.Nano()), nil
}

// memory is what of the process lies in memory, in MB: all of it, and with shared pages divided among
// those who share them.
func (p *process) memory() (resident, proportional float64, err error) {
	if resident, err = p.kilobytes("status", "VmRSS:"); err != nil {
		return 0, 0, err
	}
	proportional, err = p.kilobytes("smaps_rollup", "Pss:")
	return resident / 1000, proportional / 1000, err
}

func (p *process) kilobytes(file, field string) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, file))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(data) {
		words := strings.Fields(string(line))
		if len(words) == 3 && words[0] == field && words[2] == "kB" {
			n, err := strconv.ParseFloat(words[1], 64)
			return n * 1.024, err // the kernel's kB are 1024 bytes
		}
	}
	return 0, fmt.Errorf("%s of process %d has no %s", file, p.cmd.Process.Pid, field)
}

// tail keeps the last of what is written to it.
type tail struct {
	mu   sync.Mutex // guards kept
	kept []byte
}

const tailMost = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if extra := len(t.kept) - tailMost; extra > 0 {
		t.kept = t.kept[extra:]
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
