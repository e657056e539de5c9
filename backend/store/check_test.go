package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCheck(t *testing.T) {
	filed := func(t *testing.T, then ...string) string {
		dir := t.TempDir()
		s := openTest(t, dir)
		tx := begin(t, s)
		for range 40 {
			create(t, tx)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		for _, sql := range then {
			if err := s.writer.script(sql); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	t.Run("a good file is left as it is", func(t *testing.T) {
		dir := filed(t)
		before, _ := os.ReadFile(filepath.Join(dir, FileName))
		if err := Check(dir); err != nil {
			t.Error(err)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, FileName)); !slices.Equal(before, after) {
			t.Error("the file changed")
		}
		if left, _ := filepath.Glob(filepath.Join(dir, FileName+"-*")); len(left) > 0 {
			t.Error(left)
		}
	})
	t.Run("one of an older version is not migrated", func(t *testing.T) {
		dir := filed(t, "PRAGMA user_version=0; PRAGMA application_id=0")
		before, _ := os.ReadFile(filepath.Join(dir, FileName))
		if err := Check(dir); err != nil {
			t.Error(err)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, FileName)); !slices.Equal(before, after) {
			t.Error("the file changed")
		}
	})
	t.Run("a newer one is told", func(t *testing.T) {
		err := Check(filed(t, "PRAGMA user_version=99"))
		if n, ok := errors.AsType[*Newer](err); !ok || n.Have != 99 {
			t.Error(err)
		}
	})
	t.Run("one in use is told with its holder", func(t *testing.T) {
		dir := t.TempDir()
		openTest(t, dir)
		if l, ok := errors.AsType[*Locked](Check(dir)); !ok || l.PID != os.Getpid() {
			t.Error(l)
		}
	})
	t.Run("a damaged one is told, wherever it is damaged", func(t *testing.T) {
		for where, damage := range map[string]func(bytes []byte){
			"its header":         func(b []byte) { copy(b, "nothing of the kind") },
			"one of its pages":   func(b []byte) { clear(b[len(b)-4096:]) },
			"most of its pages":  func(b []byte) { clear(b[8192:]) },
			"the end is missing": nil,
		} {
			path := filepath.Join(filed(t), FileName)
			bytes, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if damage == nil {
				bytes = bytes[:len(bytes)/2]
			} else {
				damage(bytes)
			}
			if err := os.WriteFile(path, bytes, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := Check(filepath.Dir(path)); err == nil {
				t.Errorf("%s: nothing is told", where)
			} else {
				t.Log(where, err)
			}
		}
	})
}
