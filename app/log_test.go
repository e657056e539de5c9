package app

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLog(t *testing.T) {
	t.Run("warnings go to the error output as well", func(t *testing.T) {
		dir := t.TempDir()
		var also bytes.Buffer
		log, file := newLog(dir, slog.LevelInfo, &also)
		if _, err := os.Stat(filepath.Join(dir, "logs")); err == nil {
			t.Error("made before the first line")
		}
		log.Debug("quiet")
		log.Info("plain", "n", 1)
		log.Warn("loud")
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "logs", "aalis.log")
		written, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "the file", string(written), "msg=plain n=1", "msg=loud")
		if strings.Contains(string(written), "quiet") || strings.Contains(also.String(), "plain") || !strings.Contains(also.String(), "loud") {
			t.Errorf("file:\n%s\nalso:\n%s", written, also.String())
		}
		if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
			t.Error(info.Mode())
		}
	})
	t.Run("files move aside, whole lines each, the oldest go", func(t *testing.T) {
		r := &rotating{path: filepath.Join(t.TempDir(), "logs", "aalis.log"), most: 100, keep: 2}
		for n := range 40 {
			if _, err := fmt.Fprintf(r, "line %02d of forty\n", n); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		var all string
		for _, suffix := range []string{".2", ".1", ""} {
			data, err := os.ReadFile(r.path + suffix)
			if err != nil || len(data) > 100 || !strings.HasSuffix(string(data), "\n") {
				t.Errorf("%s: %q %v", suffix, data, err)
			}
			all += string(data)
		}
		if !strings.HasSuffix(all, "line 38 of forty\nline 39 of forty\n") || strings.Count(all, "\n") != 15 {
			t.Errorf("%q", all)
		}
		if _, err := os.Stat(r.path + ".3"); err == nil {
			t.Error("too many are kept")
		}
		if _, err := r.Write([]byte("late\n")); err == nil {
			t.Error("written after the end")
		}
	})
}
