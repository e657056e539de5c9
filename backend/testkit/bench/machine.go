//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// own copies the programs to where nobody else runs them or builds them anew: memory that is shared
// with another instance would not be counted, and every round must measure the same program.
func (b *bench) own() error {
	for _, program := range []*string{&b.server.program, &b.floor.program} {
		data, err := os.ReadFile(*program)
		if err != nil {
			return err
		}
		*program = filepath.Join(b.temp, filepath.Base(*program))
		if err := os.WriteFile(*program, data, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// fill makes the databases, all at once: nothing is measured meanwhile.
func (b *bench) fill() error {
	d := &b.data
	d.starts, d.list, d.long = filepath.Join(b.temp, "starts"), filepath.Join(b.temp, "list"), filepath.Join(b.temp, "long")
	var wg sync.WaitGroup
	failures := make([]error, 3)
	wg.Go(func() { failures[0] = open(d.starts, func(s *seeder) error { return s.sessions(storedSessions) }) })
	wg.Go(func() { failures[1] = open(d.list, func(s *seeder) error { return s.sessions(listedSessions) }) })
	wg.Go(func() {
		failures[2] = open(d.long, func(s *seeder) (err error) {
			d.longID, err = s.long(longItems)
			return err
		})
	})
	wg.Wait()
	return errors.Join(failures...)
}

// syncTimes gives the median and the p95 of a small write that is waited for until it is on the disk, in
// ms: it is what the machine makes of every commit.
func syncTimes(dir string) (typical, late float64, err error) {
	f, err := os.CreateTemp(dir, "sync")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	block := make([]byte, 4<<10)
	var took []float64
	for range 100 {
		began := time.Now()
		if _, err := f.Write(block); err != nil {
			return 0, 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, 0, err
		}
		took = append(took, milliseconds(time.Since(began)))
	}
	return median(took), percentile(took, 95), nil
}

// load is the machine's over the last minute.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}
