// Package store owns the database file: schema and migrations, the append-only log, the reducer
// that turns events into the rows everything else reads, typed reads, and credentials. It is the
// only package that knows SQL. It never decides whether something is allowed beyond the guards a
// draft names, never publishes anything, and never reads the clock for a command but once.
//
//	core.Loop, one goroutine
//	  Store.Begin → *Tx
//	    Tx.Savepoint / Tx.Append → guards, numbers, INSERT, reduce / Tx.Rollback / Tx.Release
//	    Tx.AppendText            → rows of deltas
//	  Tx.Commit
//	everybody else
//	  Store.Read(ctx, func(*ReadTx) error)   one instant of the database
//
// One writer connection (WAL, synchronous=FULL) and a pool of readers. FULL, because a number that
// was once sent to a client must never be given out again after a power cut.
package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// Options say where the data is and how it is opened.
type Options struct {
	// Dir is the data folder; it is made with mode 0700 when missing.
	Dir string
	// Readers is the number of read connections, 0 for the default.
	Readers int
	// Inject, when set, is asked before every statement that writes and every COMMIT, and lets it
	// fail as SQLite would. For tests of failing disks.
	Inject func(query string) Failure
}

// Failure is a way for a statement to fail.
type Failure int

// The ways to fail. FailFull and FailIO end the whole transaction, as SQLite may do by itself.
const (
	NoFailure Failure = iota
	FailConstraint
	FailFull
	FailIO
)

// Store is an open database. Begin belongs to one goroutine; everything else is safe for
// concurrent use.
type Store struct {
	dir     string
	path    string
	lock    *lock
	writer  *conn
	readers chan *conn

	mu     sync.Mutex // guards closed, and Add on open against Wait
	closed bool
	open   sync.WaitGroup // reads under way
}

// FileName is the database inside the data folder.
const FileName = "aalis.db"

// Open locks the data folder, brings the schema up to date (a backup is made before a migration of
// an existing file) and opens the connections. A folder that another process holds gives a *Locked
// error with its PID; a file written by a newer program gives a *Newer error and is left alone.
func Open(o Options) (*Store, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the data folder: %w", err)
	}
	l, err := acquire(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: o.Dir, path: filepath.Join(o.Dir, FileName), lock: l}
	if err := s.connect(o); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) connect(o Options) error {
	fresh := false
	if _, err := os.Stat(s.path); os.IsNotExist(err) {
		fresh = true
		f, err := os.OpenFile(s.path, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("making the database: %w", err)
		}
		_ = f.Close()
	}
	w, err := openConn(s.path, "rw",
		"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON", "PRAGMA secure_delete=FAST",
		"PRAGMA cache_size=-8192")
	if err != nil {
		return err
	}
	s.writer = w
	if err := migrate(w, s.dir, fresh); err != nil {
		return err
	}
	if o.Inject != nil {
		w.inject = injector(o.Inject)
	}
	n := o.Readers
	if n == 0 {
		n = max(2, min(4, runtime.NumCPU()))
	}
	s.readers = make(chan *conn, n)
	for range n {
		r, err := openConn(s.path, "ro", "PRAGMA query_only=ON", "PRAGMA cache_size=-4096")
		if err != nil {
			return err
		}
		s.readers <- r
	}
	return nil
}

// injector gives a failing disk's behaviour to an error that voids the transaction.
func injector(ask func(string) Failure) func(*conn, string) error {
	return func(c *conn, query string) error {
		code := map[Failure]sqlite3.ErrNo{FailConstraint: sqlite3.ErrConstraint, FailFull: sqlite3.ErrFull, FailIO: sqlite3.ErrIoErr}[ask(query)]
		if code == 0 {
			return nil
		}
		if code != sqlite3.ErrConstraint && c.inTransaction() {
			if err := c.script("ROLLBACK"); err != nil {
				return err
			}
		}
		return sqlite3.Error{Code: code}
	}
}

// Close waits for reads under way, truncates the WAL and unlocks the folder. It may be called more
// than once.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.open.Wait()
	for len(s.readers) > 0 {
		_ = (<-s.readers).close()
	}
	var err error
	if s.writer != nil {
		s.writer.inject = nil
		if s.writer.inTransaction() {
			_ = s.writer.script("ROLLBACK")
		}
		_ = s.writer.script("PRAGMA wal_checkpoint(TRUNCATE)")
		err = s.writer.close()
	}
	s.lock.release()
	return err
}

// Dir is the data folder.
func (s *Store) Dir() string { return s.dir }

// Read runs fn over one instant of the database. ctx ends the wait for a connection and is looked
// at between rows; rows already read stay valid.
func (s *Store) Read(ctx context.Context, fn func(*ReadTx) error) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	s.open.Add(1)
	s.mu.Unlock()
	defer s.open.Done()
	var c *conn
	select {
	case c = <-s.readers:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { s.readers <- c }()
	if err := c.script("BEGIN"); err != nil {
		return fmt.Errorf("beginning to read: %w", err)
	}
	defer func() {
		if c.inTransaction() {
			_ = c.script("COMMIT")
		}
	}()
	return fn(&ReadTx{reads{c: c, ctx: ctx}})
}

// ErrClosed is returned by a store that has been closed.
var ErrClosed = errors.New("the store is closed")

// ReadTx reads one instant of the database.
type ReadTx struct{ reads }

// reads are the typed reads, shared by ReadTx and Tx.
type reads struct {
	c   *conn
	ctx context.Context // of Read; a Tx has none and is never cancelled
}

// each is query with a look at the caller's context between rows.
func (r reads) each(query string, args []any, fn func(row) error) error {
	return r.c.query(query, args, func(w row) error {
		if r.ctx != nil && r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		return fn(w)
	})
}

// key packs a session's number and a seq into the key of events and deltas.
func key(sid, seq int64) int64 { return sid<<32 + seq }

// Backup writes a consistent copy of the database to a new file, while the program runs.
func (s *Store) Backup(ctx context.Context, to string) error {
	return s.Read(ctx, func(*ReadTx) error { // Close waits for it
		// A connection of its own: query_only forbids VACUUM INTO, too.
		c, err := openConn(s.path, "ro")
		if err != nil {
			return err
		}
		defer func() { _ = c.close() }()
		if err := c.script("VACUUM INTO " + quote(to)); err != nil {
			return fmt.Errorf("backing up to %s: %w", to, err)
		}
		return nil
	})
}
