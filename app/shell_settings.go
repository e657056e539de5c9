package app

import (
	"encoding/json"
	"slices"
	"time"

	"aalis/backend/fault"
	"aalis/backend/settings/field"
	"aalis/backend/text"
)

// shellKey is the map of config.yaml that the shell's own settings stand in.
const shellKey = "desktop"

// The keys of the shell's settings, in that map and everywhere else.
const (
	keyAutostart       = "autostart"
	keyKeepInTray      = "keep_in_tray"
	keyNotifyApprovals = "notify_approvals"
	keyNotifyFinished  = "notify_finished"
	keyNotifyFailed    = "notify_failed"
	keyLongTurn        = "long_turn"
)

// usualLongTurn is how long a turn takes whose end is told.
const usualLongTurn = 30 * time.Second

// shellPrefs are the shell's settings as they count now.
type shellPrefs struct {
	Autostart, NotifyApprovals, NotifyFinished, NotifyFailed, KeepInTray bool

	LongTurn time.Duration // of a finished turn that is told, the least
}

// prefsOf reads the settings through get, which is backend.Backend.Setting's. What get does not know has
// its default.
func prefsOf(get func(key string) json.RawMessage) shellPrefs {
	seconds := usualLongTurn.Seconds()
	prefs := shellPrefs{NotifyApprovals: true, NotifyFinished: true, NotifyFailed: true, KeepInTray: true}
	for key, into := range map[string]any{
		keyAutostart: &prefs.Autostart, keyKeepInTray: &prefs.KeepInTray, keyNotifyApprovals: &prefs.NotifyApprovals,
		keyNotifyFinished: &prefs.NotifyFinished, keyNotifyFailed: &prefs.NotifyFailed, keyLongTurn: &seconds,
	} {
		if raw := get(key); raw != nil {
			_ = json.Unmarshal(raw, into) // it fits, or the field would not have it
		}
	}
	prefs.LongTurn = time.Duration(seconds * float64(time.Second))
	return prefs
}

// shellFields declares the shell's settings. They apply to no kind of session: they are the program's.
func shellFields() []field.Field {
	onOff := func(key string, label, about text.Key, usually bool) field.Field {
		return field.Field{
			Key: key, Type: field.Boolean, Label: text.New(label), Description: text.New(about), Default: field.Raw(usually),
			Preference: true, Path: []string{shellKey, key},
			Session: field.Spec{AppliesTo: []field.Kind{}, Prominence: field.Common},
		}
	}
	least, most := 0.0, 86400.0 // seconds
	return []field.Field{
		onOff(keyAutostart, "shell.autostart", "shell.autostart-about", false),
		onOff(keyKeepInTray, "shell.keep-in-tray", "shell.keep-in-tray-about", true),
		onOff(keyNotifyApprovals, "shell.notify-approvals", "shell.notify-approvals-about", true),
		onOff(keyNotifyFinished, "shell.notify-finished", "shell.notify-finished-about", true),
		onOff(keyNotifyFailed, "shell.notify-failed", "shell.notify-failed-about", true),
		{
			Key: keyLongTurn, Type: field.Number, Label: text.New("shell.long-turn"), Description: text.New("shell.long-turn-about"),
			Default: field.Raw(int(usualLongTurn.Seconds())), Min: &least, Max: &most, Integer: true,
			Preference: true, Path: []string{shellKey, keyLongTurn},
			Session: field.Spec{AppliesTo: []field.Kind{}, Prominence: field.Advanced},
		},
	}
}

// shellSettings checks the map in config.yaml, and gives whether the program is to start with the machine.
// Every build does, because builds with a window and without one share the file.
func (r *reader) shellSettings() (autostart bool) {
	value := r.v.Get(shellKey)
	if value == nil {
		return false
	}
	of, ok := value.(map[string]any)
	if !ok {
		r.wrong(shellKey, "settings.want-mapping", "path", shellKey)
		return false
	}
	fields := shellFields()
	var known []string
	for _, f := range fields {
		known = append(known, f.Key)
	}
	for key, value := range of {
		at := shellKey + "." + visibleLine(key)
		i := slices.Index(known, key)
		if i < 0 {
			r.wrong(at, "config.unknown-key", "hint", hint(key, known))
			continue
		}
		if value == nil {
			continue
		}
		raw, err := json.Marshal(value)
		if err == nil {
			err = fields[i].Check(raw)
		}
		if err != nil {
			r.mistakes = append(r.mistakes, usage("config.mistake", "file", r.file, "key", at, "problem", fault.Of(err).Message))
		}
	}
	autostart, _ = of[keyAutostart].(bool)
	return autostart
}
