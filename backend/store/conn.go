package store

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"

	// mattn is the project's SQLite (fixed by its owner). The driver's connection is used directly,
	// without database/sql: a statement costs 1.3 to 1.7 times less and a cancellable context would
	// cost a goroutine each. It also gives one code path for the writer and the readers.
	sqlite3 "github.com/mattn/go-sqlite3"
)

// conn is one connection with its prepared statements. It belongs to one goroutine at a time.
type conn struct {
	c     *sqlite3.SQLiteConn
	stmts map[string]*sqlite3.SQLiteStmt
	busy  map[string]bool // statements whose rows are being read
	// inject, when set, sees every statement that writes before it runs.
	inject func(c *conn, query string) error
}

func dsn(path, mode string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: path}
	return u.String() + "?mode=" + mode + "&_mutex=no&_busy_timeout=5000"
}

func openConn(path, mode string, pragmas ...string) (*conn, error) {
	d, err := (&sqlite3.SQLiteDriver{}).Open(dsn(path, mode))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	c := &conn{c: d.(*sqlite3.SQLiteConn), stmts: map[string]*sqlite3.SQLiteStmt{}, busy: map[string]bool{}}
	for _, p := range pragmas {
		if _, err := c.c.Exec(p, nil); err != nil {
			_ = c.close()
			return nil, fmt.Errorf("setting %q on %s: %w", p, path, err)
		}
	}
	return c, nil
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		_ = s.Close()
	}
	c.stmts = nil
	return c.c.Close()
}

func (c *conn) prepare(query string) (*sqlite3.SQLiteStmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	d, err := c.c.Prepare(query)
	if err != nil {
		return nil, fmt.Errorf("preparing %q: %w", query, err)
	}
	s := d.(*sqlite3.SQLiteStmt)
	c.stmts[query] = s
	return s, nil
}

// exec runs a statement that gives no rows and returns how many rows it changed.
func (c *conn) exec(query string, args ...any) (int64, error) {
	if c.inject != nil {
		if err := c.inject(c, query); err != nil {
			return 0, err
		}
	}
	s, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	res, err := s.Exec(values(args))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// script runs several statements that are used once.
func (c *conn) script(sql string) error {
	_, err := c.c.Exec(sql, nil)
	return err
}

// query calls each with every row. The slice is reused between rows.
func (c *conn) query(query string, args []any, each func(r row) error) error {
	var s *sqlite3.SQLiteStmt
	if c.busy[query] { // its rows are being read further up: a statement of its own
		d, err := c.c.Prepare(query)
		if err != nil {
			return fmt.Errorf("preparing %q: %w", query, err)
		}
		s = d.(*sqlite3.SQLiteStmt)
		defer func() { _ = s.Close() }()
	} else {
		var err error
		if s, err = c.prepare(query); err != nil {
			return err
		}
		c.busy[query] = true
		defer delete(c.busy, query)
	}
	rows, err := s.Query(values(args))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	r := make(row, len(rows.Columns()))
	for {
		if err := rows.Next(r); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := each(r); err != nil {
			if errors.Is(err, errStop) {
				return nil
			}
			return err
		}
	}
}

// errStop ends a query early without an error.
var errStop = errors.New("stop")

// one reads at most one row; found is false without one.
func (c *conn) one(query string, args []any, each func(r row)) (found bool, err error) {
	err = c.query(query, args, func(r row) error {
		found = true
		each(r)
		return errStop
	})
	return found, err
}

// inTransaction reports whether a transaction is open, as SQLite itself says: some errors end it.
func (c *conn) inTransaction() bool { return !c.c.AutoCommit() }

func values(args []any) []driver.Value {
	v := make([]driver.Value, len(args))
	for i, a := range args {
		switch x := a.(type) {
		case nil, int64, float64, string, []byte, bool:
			v[i] = x
		case int:
			v[i] = int64(x)
		case *int:
			if x != nil {
				v[i] = int64(*x)
			}
		case *int64:
			if x != nil {
				v[i] = *x
			}
		case null:
			if x != "" {
				v[i] = string(x)
			}
		case zero:
			if x != 0 {
				v[i] = int64(x)
			}
		default:
			panic(fmt.Sprintf("store: a %T is no SQL value", a))
		}
	}
	return v
}

// null is a string that is NULL when empty; zero an integer that is NULL when 0.
type (
	null string
	zero int64
)

// row is one row of a result.
type row []driver.Value

func (r row) int(i int) int64 { n, _ := r[i].(int64); return n }
func (r row) str(i int) string {
	switch s := r[i].(type) {
	case string:
		return s
	case []byte:
		return string(s)
	}
	return ""
}

func (r row) bytes(i int) []byte {
	switch s := r[i].(type) {
	case string:
		return []byte(s)
	case []byte:
		return append([]byte(nil), s...)
	}
	return nil
}
func (r row) null(i int) bool { return r[i] == nil }

// IsFull reports whether err says that there is no room left to write.
func IsFull(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && e.Code == sqlite3.ErrFull
}

// isUnique reports a broken uniqueness guard.
func isUnique(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && e.Code == sqlite3.ErrConstraint
}
