package app

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/app/autostart"
	"aalis/backend/settings/field"
)

func TestShellPrefs(t *testing.T) {
	usual := shellPrefs{NotifyApprovals: true, NotifyFinished: true, NotifyFailed: true, KeepInTray: true, LongTurn: 30 * time.Second}
	t.Run("the usual, without any and by the fields' own defaults", func(t *testing.T) {
		defaults := map[string]json.RawMessage{}
		for _, f := range shellFields() {
			defaults[f.Key] = f.Default
		}
		for _, get := range []func(string) json.RawMessage{func(string) json.RawMessage { return nil }, func(key string) json.RawMessage { return defaults[key] }} {
			if diff := cmp.Diff(usual, prefsOf(get)); diff != "" {
				t.Error(diff)
			}
		}
	})
	t.Run("each by its key", func(t *testing.T) {
		for key, change := range map[string]func(*shellPrefs){
			"autostart":        func(p *shellPrefs) { p.Autostart = true },
			"keep_in_tray":     func(p *shellPrefs) { p.KeepInTray = false },
			"notify_approvals": func(p *shellPrefs) { p.NotifyApprovals = false },
			"notify_finished":  func(p *shellPrefs) { p.NotifyFinished = false },
			"notify_failed":    func(p *shellPrefs) { p.NotifyFailed = false },
			"long_turn":        func(p *shellPrefs) { p.LongTurn = 5 * time.Second },
		} {
			want := usual
			change(&want)
			value := field.Raw(key == "autostart")
			if key == "long_turn" {
				value = field.Raw(5)
			}
			got := prefsOf(func(k string) json.RawMessage { return map[string]json.RawMessage{key: value}[k] })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(key, diff)
			}
		}
	})
	t.Run("they are declared as they must be", func(t *testing.T) {
		if err := (field.Plugin{ID: shellKey, Fields: shellFields()}).Verify(); err != nil {
			t.Error(err)
		}
	})
}

func TestShellSettingsInTheDocument(t *testing.T) {
	t.Run("may stand there", func(t *testing.T) {
		configure(t, english(t), "desktop:\n  autostart: true\n  keep_in_tray: false\n  notify_failed:\n  long_turn: 5\n")
		if _, problem := load(t, globals{}); problem != "" {
			t.Error(problem)
		}
	})
	t.Run("what is wrong in them is said, all at once", func(t *testing.T) {
		dir := english(t)
		configure(t, dir, "desktop:\n  autostrat: true\n  keep_in_tray: 5\n  long_turn: -1\n")
		_, problem := load(t, globals{})
		wants(t, "the problem", problem, "desktop.autostrat", "autostart", "desktop.keep_in_tray: Keep running in the tray must be on or off.", "desktop.long_turn: What takes long (seconds) must be at least 0.")
		configure(t, dir, "desktop: yes\n")
		_, problem = load(t, globals{})
		wants(t, "the problem", problem, "desktop must be a map")
	})
	t.Run("they are no variables", func(t *testing.T) {
		english(t)
		t.Setenv("AALIS_DESKTOP", "{}")
		if _, problem := load(t, globals{}); !strings.Contains(problem, "AALIS_DESKTOP") {
			t.Error(problem)
		}
	})
}

// home makes a home in which an entry may be written.
func home(t *testing.T) (entryFile string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_DATA_HOME", "")
	return filepath.Join(dir, ".config", "autostart", "aalis.desktop")
}

func TestAutostartEntry(t *testing.T) {
	home(t)
	usual, err := defaultDataDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		data, config string
		want         []string
	}{
		{usual, filepath.Join(usual, "config.yaml"), []string{"--hidden"}},
		{"/other", "/other/config.yaml", []string{"--hidden", "--data-dir", "/other"}},
		{usual, "mine.yaml", []string{"--hidden", "--config", filepath.Join(here, "mine.yaml")}},
		{"/other", "/else.yaml", []string{"--hidden", "--data-dir", "/other", "--config", "/else.yaml"}},
	} {
		e, err := autostartEntry(settings{dataDir: c.data, configFile: c.config, name: "Mira"})
		if err != nil || !slices.Equal(e.Args, c.want) || e.Name != "Mira" || !filepath.IsAbs(e.Program) {
			t.Errorf("%+v %v", e, err)
		}
	}
}

func TestAutostarter(t *testing.T) {
	path := home(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	start := func() *autostarter {
		log.Reset()
		return &autostarter{entry: autostart.Entry{Program: self, Args: []string{"--hidden"}, Name: "A"}, log: slog.New(slog.NewTextHandler(&log, nil))}
	}
	there := func(want bool) {
		t.Helper()
		if _, err := os.Stat(path); (err == nil) != want {
			t.Fatalf("the entry: %v; the log: %s", err, &log)
		}
	}
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := start()
	a.follow(false)
	there(false)
	a.follow(true)
	there(true)
	a.follow(true)
	a.follow(false)
	there(false)

	start().follow(true) // at a start when it is on
	there(true)
	entry, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	start().follow(false) // at a start nothing is taken away
	there(true)

	a = start()
	write(string(entry) + "Hidden=true\n")
	a.follow(true)
	if got, _ := os.ReadFile(path); !strings.Contains(string(got), "Hidden=true") || !strings.Contains(log.String(), "switched off") {
		t.Errorf("what the desktop switched off became\n%s; the log: %s", got, &log)
	}

	a = start()
	foreign := strings.ReplaceAll(string(entry), self, "/bin/sh")
	write(foreign)
	a.follow(true)
	if got, _ := os.ReadFile(path); string(got) != foreign || !strings.Contains(log.String(), "/bin/sh") {
		t.Errorf("that of a program that is there became\n%s; the log: %s", got, &log)
	}
	write(strings.ReplaceAll(string(entry), self, "/gone/aalis"))
	start().follow(true)
	if got, _ := os.ReadFile(path); !bytes.Equal(got, entry) {
		t.Errorf("that of a program that is gone became\n%s", got)
	}

	a = start()
	a.follow(false)
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Dir(path), nil, fs.FileMode(0o600)); err != nil {
		t.Fatal(err)
	}
	a.follow(true)
	if !strings.Contains(log.String(), "cannot be set") {
		t.Errorf("a failure is not told: %s", &log)
	}
}
