package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Check looks at the database of a folder that nobody has open, and neither changes nor migrates it:
// its pages are whole (PRAGMA quick_check), it is ours, and this program knows its version. A file of
// an older version is fine. A newer one gives a *Newer error, a folder in use a *Locked one.
func Check(dir string) error {
	l, err := acquire(dir)
	if err != nil {
		return err
	}
	defer l.release()
	path := filepath.Join(dir, FileName)
	if _, err := os.Stat(path + "-wal"); os.IsNotExist(err) {
		// A reader of a WAL database makes these, and cannot take them away again.
		defer func() { _, _ = os.Remove(path+"-wal"), os.Remove(path+"-shm") }()
	}
	c, err := openConn(path, "ro", "PRAGMA query_only=ON")
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }() // it has written nothing
	have, all, err := version(c, dir)
	if err != nil {
		return err
	}
	if last := all[len(all)-1].version; have > last {
		return &Newer{Have: have, Know: last}
	}
	said := ""
	if _, err := c.one("PRAGMA quick_check(1)", nil, func(r row) { said = r.str(0) }); err != nil {
		return fmt.Errorf("checking the database: %w", err)
	}
	if said != "ok" {
		return fmt.Errorf("the database %s is damaged; move it away or put a backup in its place: %s", path, strings.ReplaceAll(said, "\n", " "))
	}
	return nil
}
