package store

import (
	"embed"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"aalis/backend/event"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks our files ("Aals"), so that no other program's database is taken for ours.
const applicationID = 0x41616c73

// Newer says that the file was written by a newer program.
type Newer struct{ Have, Know int }

// Error says what to do.
func (n *Newer) Error() string {
	return fmt.Sprintf("the database has version %d and this program knows up to %d: start a newer Aalis, or restore a backup", n.Have, n.Know)
}

type migration struct {
	version int
	sql     string
}

func steps() ([]migration, error) {
	names, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, n := range names {
		v, err := strconv.Atoi(strings.SplitN(n.Name(), "_", 2)[0])
		if err != nil {
			return nil, fmt.Errorf("naming migration %s: %w", n.Name(), err)
		}
		b, err := migrations.ReadFile("migrations/" + n.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, migration{v, string(b)})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].version < all[j].version })
	return all, nil
}

// migrate runs the missing steps, one transaction each, forward only. An existing file is copied
// first, so that a failed step and a downgrade both have a way back.
func migrate(c *conn, dir string, fresh bool) error {
	have, all, err := version(c, dir)
	if err != nil {
		return err
	}
	return upgrade(c, dir, fresh, have, all)
}

// version gives the file's schema version, 0 for an empty file, and all steps there are.
func version(c *conn, dir string) (int, []migration, error) {
	all, err := steps()
	if err != nil {
		return 0, nil, fmt.Errorf("reading the migrations: %w", err)
	}
	var have, app int64
	if _, err := c.one("PRAGMA user_version", nil, func(r row) { have = r.int(0) }); err != nil {
		return 0, nil, fmt.Errorf("reading the schema version: %w", err)
	}
	if _, err := c.one("PRAGMA application_id", nil, func(r row) { app = r.int(0) }); err != nil {
		return 0, nil, fmt.Errorf("reading the application id: %w", err)
	}
	if have != 0 && app != applicationID {
		return 0, nil, fmt.Errorf("%s is a database of another program; move it away or choose another data folder", filepath.Join(dir, FileName))
	}
	return int(have), all, nil
}

func upgrade(c *conn, dir string, fresh bool, have int, all []migration) error {
	last := all[len(all)-1].version
	if have > last {
		return &Newer{Have: have, Know: last}
	}
	if have == last {
		return nil
	}
	if !fresh && have > 0 {
		to := filepath.Join(dir, fmt.Sprintf("aalis-before-v%d-%s.db", last, time.Now().UTC().Format("20060102T150405")))
		if err := c.script("VACUUM INTO " + quote(to)); err != nil {
			return fmt.Errorf("backing up before the migration: %w", err)
		}
	}
	for _, m := range all {
		if m.version <= have {
			continue
		}
		if err := apply(c, m); err != nil {
			return fmt.Errorf("migrating to version %d: %w", m.version, err)
		}
	}
	return nil
}

func apply(c *conn, m migration) error {
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := c.script(m.sql)
	if err == nil && m.version == 1 {
		err = seed(c)
	}
	if err == nil {
		err = c.script(fmt.Sprintf("PRAGMA user_version=%d; PRAGMA application_id=%d", m.version, applicationID))
	}
	if err == nil {
		return c.script("COMMIT")
	}
	if c.inTransaction() {
		_ = c.script("ROLLBACK")
	}
	return err
}

// seed puts in the rows that kernel 5.1 names.
func seed(c *conn) error {
	now := time.Now().UnixMilli()
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{"INSERT INTO principals(id, kind, tenant_id, user_id, platform, display_name, created_at) VALUES (?, 'owner', 'local', 'console', 'webui', '', ?)", []any{event.OwnerID, now}},
		{"INSERT INTO harnesses(id, version, spec, created_at) VALUES ('aalis', 1, '{\"context\":\"tokens+compaction\"}', ?)", []any{now}},
		{"INSERT INTO harnesses(id, version, spec, created_at) VALUES ('chat', 1, '{\"context\":\"recent(20)\",\"silence\":false}', ?)", []any{now}},
		{"INSERT INTO meta(key, value) VALUES ('installation', lower(hex(randomblob(4))))", nil},
		{"INSERT INTO environments(id, app_id, execution_mode, updated_at) VALUES ('local', 'local', 'inproc', ?)", []any{strconv.FormatInt(now, 10)}},
	} {
		if _, err := c.exec(s.sql, s.args...); err != nil {
			return err
		}
	}
	return nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
