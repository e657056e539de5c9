package notify

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// toast gives a note as Windows reads it. Every word of it is escaped here: the library's own form puts
// words where they could end their element, and falls back on a script that would run what they hold.
func toast(note Note, icon string) string {
	title, body := readable(note)
	var b strings.Builder
	scenario := ""
	if note.Urgent {
		scenario = ` scenario="reminder"` // stays until it is answered
	}
	fmt.Fprintf(&b, `<toast activationType="foreground" launch="%s"%s><visual><binding template="ToastGeneric">`, escaped(pressOf(note.Key, Open)), scenario)
	if icon != "" {
		fmt.Fprintf(&b, `<image placement="appLogoOverride" src="%s"/>`, escaped(icon))
	}
	fmt.Fprintf(&b, `<text hint-maxLines="1">%s</text><text>%s</text></binding></visual><actions>`, escaped(title), escaped(body))
	for _, a := range note.Actions {
		fmt.Fprintf(&b, `<action activationType="foreground" content="%s" arguments="%s"/>`, escaped(a.Label), escaped(pressOf(note.Key, a.ID)))
	}
	b.WriteString(`</actions></toast>`)
	return b.String()
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder takes everything
	return b.String()
}

// pressOf and pressed are how an action travels through the system; an action's id has no blank.
func pressOf(key, action string) string { return action + " " + key }

func pressed(args string) (key, action string, ok bool) {
	action, key, ok = strings.Cut(args, " ")
	return key, action, ok
}
