package app

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aalis/app/bustest"
)

// diagnosis is what the doctor of the app as it is shipped says, by what it looked at.
type diagnosis struct {
	code  int
	lines map[string]finding
}

func (r *desktopRig) doctor(more ...string) diagnosis {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), r.app, "doctor", "--json")
	cmd.Env = append(r.env, more...)
	out, err := cmd.Output()
	d := diagnosis{cmd.ProcessState.ExitCode(), map[string]finding{}}
	var all struct {
		OK     bool      `json:"ok"`
		Checks []finding `json:"checks"`
	}
	if e := json.Unmarshal(out, &all); e != nil || all.OK != (d.code == 0) {
		r.t.Fatalf("%v, %v: %s", err, e, out)
	}
	for _, f := range all.Checks {
		if f.OK == (f.Verdict == broken) {
			r.t.Errorf("%+v", f)
		}
		d.lines[f.Name] = f
	}
	return d
}

func (d diagnosis) says(t *testing.T, name string, v verdict, parts ...string) {
	t.Helper()
	f, there := d.lines[name]
	if !there || f.Verdict != v {
		t.Errorf("of %s it says %+v, not %s", name, f, v)
	}
	wants(t, "of "+name+" it", f.Detail, parts...)
}

func TestDesktopDoctor(t *testing.T) {
	bus := bustest.New(t)
	r := newDesktop(t)
	entry := filepath.Join(r.home, "config", "autostart", "aalis.desktop")
	write := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("nothing that a machine cannot have is broken", func(t *testing.T) {
		d := r.doctor()
		if d.code != 0 {
			t.Errorf("it ended with %d: %v", d.code, d.lines)
		}
		d.says(t, "window", fine)
		d.says(t, "bus", fine)
		d.says(t, "tray", note, "nothing shows icons", "panel")
		d.says(t, "notifications", note, "install")
		d.says(t, "seat", note, "nothing tells")
		d.says(t, "autostart", fine, "off")
		d.says(t, "toolkit", fine, "libgtk-3.so", "libwebkit2gtk-4.1.so")
		d.says(t, "renderer", fine, "--renderer safe")
		d.says(t, "instance", fine, "none")
		d = r.doctor("DISPLAY=", "DBUS_SESSION_BUS_ADDRESS=")
		if d.code != 0 {
			t.Errorf("without a display it ended with %d: %v", d.code, d.lines)
		}
		d.says(t, "window", note, "aalis open")
		r.doctor("XDG_CURRENT_DESKTOP=ubuntu:GNOME").says(t, "tray", note, "extension")
	})
	t.Run("what is there and does not answer is", func(t *testing.T) {
		d := r.doctor("DISPLAY=:4711")
		d.says(t, "window", broken, ":4711")
		if d.code != exitFailed {
			t.Errorf("it ended with %d", d.code)
		}
		r.doctor("DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent").says(t, "bus", broken, "/nonexistent", "log out")
	})
	t.Run("FAIL-H4 who shows the icon", func(t *testing.T) {
		panel := bus.Panel(false)
		r.doctor().says(t, "tray", note, "nothing shows them", "panel")
		panel.Hosting(true)
		r.doctor().says(t, "tray", fine, "shown by ")
	})
	t.Run("who shows notifications", func(t *testing.T) {
		daemon := bus.Daemon(0, "body")
		daemon.Named("plain")
		r.doctor().says(t, "notifications", note, "plain 1", "no buttons")
		daemon.Stop()
		bus.Daemon(0, "actions").Named("dunst")
		r.doctor().says(t, "notifications", fine, "dunst 1")
	})
	t.Run("start with the machine", func(t *testing.T) {
		config := filepath.Join(r.dataDir(), "config.yaml")
		on, off := "desktop: {autostart: true}\n", "desktop: {autostart: false}\n"
		ours := "[Desktop Entry]\nType=Application\nName=A\nExec=" + r.app + " --hidden\n"
		for _, c := range []struct {
			config, entry string
			want          verdict
			says          string
		}{
			{on, "", note, "written at the next start"},
			{on, ours, fine, "on ("},
			{on, ours + "Hidden=true\n", note, "switched off by the desktop"},
			{off, ours, note, "off in the settings"},
			{off, ours + "Hidden=true\n", fine, "off"},
			{on, strings.Replace(ours, r.app, "/bin/true", 1), note, "/bin/true"},
		} {
			write(config, c.config)
			if err := os.Remove(entry); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if c.entry != "" {
				write(entry, c.entry)
			}
			r.doctor().says(t, "autostart", c.want, c.says)
		}
		write(config, on)
		if err := os.RemoveAll(filepath.Dir(entry)); err != nil {
			t.Fatal(err)
		}
		write(filepath.Dir(entry), "") // so that it cannot be written
	})
	t.Run("the instance that runs", func(t *testing.T) {
		write(filepath.Join(r.dataDir(), "window.json"), `{"safe":true}`)
		r.run("--hidden")
		d := r.doctor()
		d.says(t, "instance", fine, "process ", Version)
		d.says(t, "renderer", note, "--renderer usual")
		d.says(t, "autostart", note, "cannot be told")
		if err := os.Remove(filepath.Dir(entry)); err != nil {
			t.Fatal(err)
		}
		d = r.doctor()
		d.says(t, "autostart", broken, entry, "the log")
		if d.code != exitFailed {
			t.Errorf("it ended with %d", d.code)
		}
		for _, on := range []string{"false", "true"} { // what the doctor says is to be done
			r.ask("session/config/layer/update", map[string]any{
				"layer": map[string]string{"scope": "global"}, "plugin": shellKey, "key": keyAutostart, "value": json.RawMessage(on),
			}, new(any))
			bustest.Until(t, "the entry to follow the switch", func() bool {
				_, err := os.Stat(entry)
				return (err == nil) == (on == "true")
			})
		}
		r.doctor().says(t, "autostart", fine, "on (")
	})
}

// TestDoctorOfTheServer: a build without a window has one thing less to be looked at.
func TestDoctorOfTheServer(t *testing.T) {
	if hasWindow {
		t.Skip("this build has a window")
	}
	english(t)
	got := command(t, "doctor")
	wants(t, "it", got.out, "note  window: this build has no window", "ok  running instance: none")
	if strings.Contains(got.out, "tray") {
		t.Errorf("it speaks of a tray:\n%s", got.out)
	}
}
