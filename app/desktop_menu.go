//go:build desktop || dev

package app

import (
	goruntime "runtime"

	"github.com/wailsapp/wails/v2/pkg/menu"
	"github.com/wailsapp/wails/v2/pkg/menu/keys"

	"aalis/backend/text"
)

// menu is the native menu. Its entries are commands of the page's registry, which knows when each may
// be used; ids and keys are the registry's.
func (w *window) menu() *menu.Menu {
	say := func(key text.Key) string { return text.New(key).In(w.shell.in.Language()) }
	command := func(m *menu.Menu, key text.Key, id string, at *keys.Accelerator) {
		m.AddText(say(key), at, func(*menu.CallbackData) { w.tell("command", map[string]string{"id": id}) })
	}
	ctrl := keys.CmdOrCtrl
	all := menu.NewMenu()
	if goruntime.GOOS == "darwin" {
		all.Append(menu.AppMenu())
	}
	file := all.AddSubmenu(say("menu.file"))
	command(file, "menu.new", "new-session", keys.Combo("o", keys.CmdOrCtrlKey, keys.ShiftKey))
	command(file, "menu.tab", "open-in-browser", nil)
	file.AddSeparator()
	command(file, "menu.settings", "settings", ctrl(","))
	file.AddSeparator()
	file.AddText(say("menu.quit"), ctrl("q"), func(*menu.CallbackData) { w.shell.part.want(partQuit) })
	if goruntime.GOOS == "darwin" { // without these, copying and pasting have no keys there
		all.Append(menu.EditMenu())
	}
	look := all.AddSubmenu(say("menu.view"))
	command(look, "menu.sidebar", "toggle-sidebar", ctrl("b"))
	command(look, "menu.palette", "palette", ctrl("k"))
	command(look, "menu.inbox", "inbox", keys.Combo("a", keys.CmdOrCtrlKey, keys.ShiftKey))
	look.AddSeparator()
	command(look, "menu.zoom-in", "zoom-in", nil)
	command(look, "menu.zoom-out", "zoom-out", nil)
	command(look, "menu.zoom-reset", "zoom-reset", nil)
	if goruntime.GOOS == "darwin" {
		all.Append(menu.WindowMenu())
	}
	return all
}
