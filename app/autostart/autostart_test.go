//go:build unix && !darwin

package autostart

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// place for a test: a home of its own, and a program that is there.
func newPlace(t *testing.T) (path string, e Entry) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	e = Entry{Program: program(t, filepath.Join(home, "bin", "aalis")), Args: []string{"--hidden"}, Name: "Aalis", Comment: "An assistant"}
	return filepath.Join(home, ".config", "autostart", "aalis.desktop"), e
}

func program(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func is(t *testing.T, e Entry, want State, edited bool) {
	t.Helper()
	got, err := e.Status()
	if err != nil {
		t.Fatal(err)
	}
	if got.State != want || got.Edited != edited {
		t.Fatalf("is %+v, not %d edited %v", got, want, edited)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOnAndOff(t *testing.T) {
	path, e := newPlace(t)
	is(t, e, Off, false)
	must(t, e.Set(false)) // nothing is there, and nothing is made
	must(t, e.Set(true))
	is(t, e, On, false)
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v", info.Mode())
	}
	must(t, e.Set(true))
	if again, err := os.Stat(path); err != nil || !os.SameFile(info, again) {
		t.Error("written again although nothing was to be changed")
	}
	must(t, e.Set(false))
	is(t, e, Off, false)
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestPlace(t *testing.T) {
	_, e := newPlace(t)
	config := t.TempDir()
	for value, want := range map[string]string{config: config, "relative": filepath.Join(os.Getenv("HOME"), ".config"), "": filepath.Join(os.Getenv("HOME"), ".config")} {
		t.Setenv("XDG_CONFIG_HOME", value)
		if s, err := e.Status(); err != nil || s.Place != filepath.Join(want, "autostart", "aalis.desktop") {
			t.Errorf("with %q: %+v, %v", value, s, err)
		}
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	if err := e.Set(true); !errors.Is(err, ErrNoPlace) {
		t.Errorf("without a home: %v", err)
	}
}

func TestSwitchedOffByTheDesktop(t *testing.T) {
	for name, line := range map[string]string{"by the specification": "Hidden=true\n", "by GNOME": "X-GNOME-Autostart-enabled=false\n"} {
		t.Run(name, func(t *testing.T) {
			path, e := newPlace(t)
			must(t, e.Set(true))
			written := content(t, path)
			must(t, os.WriteFile(path, []byte(written+line), 0o644))
			is(t, e, Suspended, false)
			must(t, e.Set(true))
			is(t, e, On, false)
			must(t, os.WriteFile(path, []byte(written+line), 0o644))
			must(t, e.Set(false))
			is(t, e, Off, false)
		})
	}
}

func TestEditedByHand(t *testing.T) {
	path, e := newPlace(t)
	must(t, e.Set(true))
	edited := strings.Replace(content(t, path), "Exec=", "# mine\nExec=env LANG=C ", 1) + "[Desktop Action x]\nHidden=true\n"
	must(t, os.WriteFile(path, []byte(edited), 0o644))
	must(t, os.Chmod(path, 0o600))
	is(t, e, On, true)
	must(t, e.Set(true))
	if got := content(t, path); got != edited {
		t.Errorf("became\n%s", got)
	}
	must(t, e.Set(false))
	is(t, e, Suspended, true)
	must(t, e.Set(true))
	is(t, e, On, true)
	if got := content(t, path); got != edited {
		t.Errorf("became\n%s", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, exec := range []string{"aalis --hidden", filepath.Join(t.TempDir(), "link")} {
		if filepath.IsAbs(exec) {
			must(t, os.Symlink(e.Program, exec))
		}
		t.Setenv("PATH", filepath.Dir(e.Program))
		must(t, os.WriteFile(path, []byte("[Desktop Entry]\nType=Application\nName=A\nExec="+exec+"\n"), 0o644))
		is(t, e, On, true)
	}
}

func TestAnotherProgram(t *testing.T) {
	path, e := newPlace(t)
	t.Run("somebody else's is left", func(t *testing.T) {
		foreign := "[Desktop Entry]\nType=Application\nName=Aalis\nExec=/bin/true\n"
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(foreign), 0o644))
		is(t, e, Elsewhere, true)
		if err := e.Set(true); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), path) {
			t.Errorf("set: %v", err)
		}
		must(t, e.Set(false))
		if got := content(t, path); got != foreign {
			t.Errorf("became\n%s", got)
		}
	})
	t.Run("as is what cannot be read", func(t *testing.T) {
		must(t, os.WriteFile(path, []byte("[Desktop Entry]\nExec=\""+e.Program+"\n"), 0o644))
		is(t, e, Elsewhere, true)
		if err := e.Set(true); !errors.Is(err, ErrForeign) {
			t.Errorf("set: %v", err)
		}
	})
	t.Run("ours from another place is moved", func(t *testing.T) {
		must(t, os.Remove(path))
		old := e
		old.Program = "/opt/of an older time/aalis"
		must(t, old.Set(true))
		is(t, e, Elsewhere, false)
		must(t, e.Set(false)) // it is not this one that starts
		is(t, old, On, false)
		must(t, e.Set(true))
		is(t, e, On, false)
	})
}

func TestLinkedAndReadOnly(t *testing.T) {
	path, e := newPlace(t)
	kept := filepath.Join(t.TempDir(), "dotfiles", "aalis.desktop")
	must(t, os.MkdirAll(filepath.Dir(kept), 0o700))
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(kept, []byte("[Desktop Entry]\nType=Application\nName=A\nExec="+e.Program+"\nHidden=true\n"), 0o644))
	must(t, os.Symlink(kept, path))
	must(t, e.Set(true))
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	is(t, e, On, true)
	must(t, os.Chmod(kept, 0o444))
	if err := e.Set(false); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that may not be written: %v", err)
	}
	is(t, e, On, true)
}

// odd are arguments that a careless writer breaks.
var odd = []string{
	"/opt/a b/aalis", `/opt/quo"te/aalis`, "/opt/do$llar/aalis", "/opt/tick`s/aalis", `/opt/back\slash/aalis`, `/opt/end\`, "/opt/100%/aalis",
	"/opt/%U/aalis", "/opt/ＡＡ 漢字/aalis", "/opt/it's/aalis", "/opt/semi;amp&/aalis", "/opt/*?[~]#/aalis", "/opt/<>|(){}/aalis", "/opt/new\nline", "/opt/tab\there",
	"", " ", "--data-dir", "a=b", `\\`, `\"`, "%%", "%", "\\s",
}

func TestOddPaths(t *testing.T) {
	var d desktopEntry
	for _, one := range odd {
		e := Entry{Program: "/usr/bin/aalis", Args: []string{"--hidden", one, "last"}, Name: "Aalis"}
		b, err := d.render(e)
		must(t, err)
		if got, off, err := d.read(b); err != nil || off || !slices.Equal(got, e.command()) {
			t.Errorf("%q comes back as %q, %v, %v\n%s", one, got, off, err, b)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.OneOf(rapid.SampledFrom(odd), rapid.StringOf(rapid.RuneFrom([]rune(" \t\n\r\"'\\`$%=abcé漢#;&")))).Filter(func(s string) bool { return !strings.ContainsRune(s, 0) })
		e := Entry{Program: "/usr/bin/" + strings.ReplaceAll(word.Draw(rt, "program"), "=", ""), Args: rapid.SliceOf(word).Draw(rt, "args"), Name: "Aalis"}
		b, err := d.render(e)
		if err != nil {
			rt.Fatal(err)
		}
		if got, _, err := d.read(b); err != nil || !slices.Equal(got, e.command()) {
			rt.Fatalf("%q comes back as %q, %v\n%s", e.command(), got, err, b)
		}
		if tried, _ := d.value(b, "TryExec"); unescapeValue(tried) != e.Program {
			rt.Fatalf("TryExec is %q", tried)
		}
	})
	for what, e := range map[string]Entry{"no text": {Program: "/opt/\xff"}, "a zero": {Program: "/a", Args: []string{"\x00"}}, "an = in the path": {Program: "/opt/a=b"}} {
		if _, err := d.render(e); err == nil {
			t.Errorf("%s was written", what)
		}
	}
}

// TestOtherReaders has the desktops' own programs read and start what we write.
func TestOtherReaders(t *testing.T) {
	path, e := newPlace(t)
	dir := t.TempDir()
	told := filepath.Join(dir, "told")
	for _, folder := range []string{"plain", "a b", `quo"te`, "do$llar", "tick`s", `back\slash`, "100%", "%U", "漢字", "it's", "semi;amp&", "#<>|(){}*?[~]"} {
		t.Run(folder, func(t *testing.T) {
			e.Program = program(t, filepath.Join(dir, folder, "aalis"))
			must(t, os.WriteFile(e.Program, []byte("#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\" >'"+told+".new'; mv '"+told+".new' '"+told+"'\n"), 0o700))
			e.Args = []string{"--hidden", "--data-dir", filepath.Join(dir, folder)}
			must(t, os.RemoveAll(path))
			must(t, e.Set(true))
			if check, err := exec.LookPath("desktop-file-validate"); err == nil {
				if out, err := exec.CommandContext(t.Context(), check, path).CombinedOutput(); err != nil {
					t.Errorf("desktop-file-validate: %v\n%s\n%s", err, out, content(t, path))
				}
			}
			gio, err := exec.LookPath("gio")
			if err != nil {
				t.Skip("there is no gio here to start it")
			}
			_ = os.Remove(told)
			cmd := exec.CommandContext(t.Context(), gio, "launch", path)
			cmd.Env = append(os.Environ(), "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("gio launch: %v\n%s\n%s", err, out, content(t, path))
			}
			want := strings.Join(e.command(), "\n") + "\n"
			var got []byte
			for end := time.Now().Add(5 * time.Second); len(got) == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				got, _ = os.ReadFile(told)
			}
			if string(got) != want {
				t.Errorf("started as\n%snot\n%s\n%s", got, want, content(t, path))
			}
		})
	}
}

func TestLaunchAgent(t *testing.T) {
	dir := t.TempDir()
	f := file{filepath.Join(dir, "agents", "x.plist"), launchAgent{}}
	e := Entry{Program: program(t, filepath.Join(dir, "a b", `q"<&>`)), Args: []string{"--hidden", "--data-dir", " x "}, Name: "Aalis"}
	state := func(want State) {
		t.Helper()
		if s, err := f.status(e); err != nil || s.State != want || s.Edited {
			t.Fatalf("%+v, %v", s, err)
		}
	}
	state(Off)
	must(t, f.set(e, true))
	state(On)
	must(t, os.WriteFile(f.path, f.format.turn([]byte(content(t, f.path)), false), 0o644))
	state(Suspended)
	must(t, f.set(e, true))
	state(On)
	if c, _, err := f.format.read([]byte(content(t, f.path))); err != nil || !slices.Equal(c, e.command()) {
		t.Errorf("%q, %v", c, err)
	}
	must(t, f.set(e, false))
	state(Off)
}
