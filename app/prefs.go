package app

import (
	"encoding/json"
	"time"
)

// shellPrefs are what the owner has set about the desktop.
type shellPrefs struct {
	Autostart, NotifyApprovals, NotifyFinished, NotifyFailed, KeepInTray bool
	LongTurn                                                             time.Duration
}

func prefsOf(get func(key string) json.RawMessage) shellPrefs {
	return shellPrefs{NotifyApprovals: true, NotifyFinished: true, NotifyFailed: true, KeepInTray: true, LongTurn: 30 * time.Second}
}
