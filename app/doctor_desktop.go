//go:build desktop || dev

package app

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"aalis/app/autostart"
	"aalis/app/seat"
	"aalis/app/survey"
	"aalis/backend/text"
)

// examineDesktop looks at what the desktop has for the window, the tray and the notifications. Where there
// is no desktop, that is all there is to say.
func (p *program) examineDesktop(ctx context.Context, s settings, configured, running bool) []finding {
	all := []finding{p.examineDisplay(ctx)}
	if configured {
		all = append(all, p.examineAutostart(s, running))
	}
	if runtime.GOOS != "linux" {
		return all
	}
	all = append(all, p.examineToolkit(), p.examineRenderer(s), p.examineLinks(ctx))
	here := survey.Look(ctx)
	if here.Problem != nil {
		return append(all, p.noBus(here.Problem))
	}
	return append(all, found("bus", fine, p.say("doctor.ok")), p.judgeTray(here.Tray), p.judgeNotes(here.Notes), p.judgeSeat(seat.Look(ctx)))
}

func (p *program) examineDisplay(ctx context.Context) finding {
	const name = "window"
	switch {
	case !hasDisplay():
		return found(name, note, p.say("doctor.window-dark"))
	case !displayAnswers(ctx):
		return found(name, broken, p.say("doctor.window-dead", "display", orElse(os.Getenv("WAYLAND_DISPLAY"), os.Getenv("DISPLAY"))))
	}
	return found(name, fine, p.say("doctor.ok"))
}

// examineAutostart compares the entry with the setting.
func (p *program) examineAutostart(s settings, running bool) finding {
	const name = "autostart"
	entry, err := autostartEntry(s)
	if err != nil {
		return p.judged(name, err, "")
	}
	is, err := entry.Status()
	if err != nil {
		return found(name, note, p.say("doctor.autostart-unknown", "reason", reasonOf(err)))
	}
	say := func(v verdict, key text.Key) finding {
		return found(name, v, p.say(key, "entry", is.Place, "program", orElse(is.Program, "?")))
	}
	switch {
	case is.State == autostart.Elsewhere:
		return say(note, "doctor.autostart-elsewhere")
	case is.State == autostart.Suspended && s.autostart:
		return say(note, "doctor.autostart-suspended")
	case is.State == autostart.On && !s.autostart:
		return say(note, "doctor.autostart-unwanted")
	case is.State == autostart.Off && s.autostart && running:
		return say(broken, "doctor.autostart-missing")
	case is.State == autostart.Off && s.autostart:
		return say(note, "doctor.autostart-later")
	case is.State == autostart.On:
		return say(fine, "doctor.autostart-on")
	}
	return say(fine, "doctor.autostart-off")
}

// examineToolkit names the libraries that draw the window: they are loaded, or this would not run.
func (p *program) examineToolkit() finding {
	const name = "toolkit"
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return found(name, note, reasonOf(err))
	}
	defer maps.Close()
	var loaded []string
	helper := false
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		at := strings.IndexByte(lines.Text(), '/')
		if at < 0 {
			continue
		}
		path := lines.Text()[at:]
		file := filepath.Base(path)
		if !strings.HasPrefix(file, "libgtk-3.so") && !strings.HasPrefix(file, "libwebkit2gtk-") || slices.Contains(loaded, file) {
			continue
		}
		loaded = append(loaded, file)
		if version, _, cut := strings.Cut(strings.TrimPrefix(file, "libweb"), ".so"); cut && strings.HasPrefix(version, "kit2gtk") {
			helper = webHelper(filepath.Dir(path), "web"+version)
		}
	}
	if len(loaded) == 0 {
		return found(name, note, p.say("doctor.toolkit-none"))
	}
	slices.Sort(loaded)
	list := strings.Join(loaded, ", ")
	if !helper {
		return found(name, note, p.say("doctor.toolkit-helper", "libraries", list))
	}
	return found(name, fine, list)
}

// webHelper looks for the program that draws pages, in the places where distributions put it.
func webHelper(library, version string) bool {
	for _, folder := range []string{library, "/usr/libexec", "/usr/lib", filepath.Join(library, "..", "libexec")} {
		if _, err := os.Stat(filepath.Join(folder, version, "WebKitWebProcess")); err == nil {
			return true
		}
	}
	return false
}

func (p *program) examineRenderer(s settings) finding {
	if loadKept(s.dataDir, slog.New(slog.NewTextHandler(io.Discard, nil))).Safe {
		return found("renderer", note, p.say("doctor.renderer-safe"))
	}
	return found("renderer", fine, p.say("doctor.renderer-usual"))
}

// examineLinks asks the desktop who opens links of ours.
func (p *program) examineLinks(ctx context.Context) finding {
	const name = "links"
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "xdg-mime", "query", "default", "x-scheme-handler/aalis")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return found(name, note, p.say("doctor.links-unknown"))
	}
	switch handler := strings.TrimSpace(string(out)); handler {
	case "":
		return found(name, note, p.say("doctor.links-none"))
	case "aalis.desktop":
		return found(name, fine, handler)
	default:
		return found(name, note, p.say("doctor.links-other", "handler", visibleLine(handler)))
	}
}

func (p *program) noBus(problem error) finding {
	if address := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return found("bus", broken, p.say("doctor.bus-dead", "address", address, "reason", reasonOf(problem)))
	}
	return found("bus", note, p.say("doctor.bus-none"))
}

func (p *program) judgeTray(t survey.Tray) finding {
	const name = "tray"
	switch {
	case t.Host:
		return found(name, fine, p.say("doctor.tray-shown", "who", visibleLine(t.Watcher)))
	case t.Watcher != "":
		return found(name, note, p.say("doctor.tray-unhosted", "who", visibleLine(t.Watcher)))
	case slices.Contains(strings.Split(os.Getenv("XDG_CURRENT_DESKTOP"), ":"), "GNOME"):
		return found(name, note, p.say("doctor.tray-gnome"))
	}
	return found(name, note, p.say("doctor.tray-none"))
}

func (p *program) judgeNotes(n survey.Notes) finding {
	const name = "notifications"
	who := visibleLine(strings.TrimSpace(n.Name + " " + n.Version))
	switch {
	case n.Startable:
		return found(name, fine, p.say("doctor.notifications-start"))
	case who == "":
		return found(name, note, p.say("doctor.notifications-none"))
	case n.Problem != nil:
		return found(name, broken, p.say("doctor.notifications-dead", "who", who, "reason", reasonOf(n.Problem)))
	case !n.Actions:
		return found(name, note, p.say("doctor.notifications-bare", "who", who))
	}
	return found(name, fine, p.say("doctor.notifications-shown", "who", who))
}

func (p *program) judgeSeat(s seat.Sources) finding {
	const name = "seat"
	named := func(all []string) string { return orElse(strings.Join(all, ", "), p.say("doctor.seat-nobody")) }
	if len(s.Lock)+len(s.Idle) == 0 {
		return found(name, note, p.say("doctor.seat-none"))
	}
	return found(name, fine, p.say("doctor.seat-told", "lock", named(s.Lock), "idle", named(s.Idle)))
}
