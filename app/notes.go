//go:build desktop || dev

package app

import (
	"strings"
	"time"

	"aalis/app/desk"
	"aalis/app/notify"
	"aalis/backend/text"
)

// The actions of a notification beside notify.Open.
const (
	actApprove = "approve"
	actDeny    = "deny"
)

// Keys of notifications: an approval, and the latest turn of a session that ended.
const (
	approvalKey = "approval:"
	turnKey     = "turn:"
)

func (sh *shell) openAction() notify.Action {
	return notify.Action{ID: notify.Open, Label: text.New("notify.open").In(sh.in.Language())}
}

// showRequests shows a notification for each approval that waits, and takes back those that are decided.
func (sh *shell) showRequests(now desk.State) {
	wanted := sh.prefs().NotifyApprovals
	waits := make(map[string]bool, len(now.Requests))
	var show []desk.Request
	var gone []string
	sh.mu.Lock()
	for _, r := range now.Requests {
		waits[r.ID] = true
		if _, shown := sh.asked[r.ID]; !shown && wanted {
			sh.asked[r.ID] = r
			show = append(show, r)
		}
	}
	for id := range sh.asked {
		if !waits[id] {
			delete(sh.asked, id)
			gone = append(gone, id)
		}
	}
	sh.mu.Unlock()
	for _, id := range gone {
		sh.notes.Withdraw(approvalKey + id)
	}
	say := func(key text.Key, args ...any) string { return text.New(key, args...).In(sh.in.Language()) }
	for i := len(show) - 1; i >= 0; i-- { // oldest first: the newest lies on top
		r := show[i]
		body := r.What
		if r.Where != "" {
			body += "\n" + say("notify.where", "folder", r.Where)
		}
		sh.notes.Show(notify.Note{
			Key: approvalKey + r.ID, Title: say("notify.asks", "who", r.Who), Body: body, Urgent: true,
			Actions: []notify.Action{
				{ID: actApprove, Label: say("notify.approve")},
				{ID: actDeny, Label: say("notify.deny")},
				sh.openAction(),
			},
		})
	}
}

// ended shows that a turn has ended, to an owner who does not look: one that failed, or that took long.
func (sh *shell) ended(t desk.Turn) {
	prefs := sh.prefs()
	long := t.Replied && !t.Room && t.Took >= prefs.LongTurn
	if t.Failed && !prefs.NotifyFailed || !t.Failed && (!long || !prefs.NotifyFinished) || sh.inFront() {
		return
	}
	say := func(key text.Key, args ...any) string { return text.New(key, args...).In(sh.in.Language()) }
	note := notify.Note{
		Key: turnKey + t.Session, Title: say("notify.finished", "title", t.Title),
		Body: say("notify.took", "time", t.Took.Round(time.Second).String()), Actions: []notify.Action{sh.openAction()},
	}
	if t.Failed {
		note.Title, note.Body = say("notify.failed", "title", t.Title), t.Reason
		if strings.TrimSpace(note.Body) == "" {
			note.Body = say("notify.failed-somehow")
		}
	}
	sh.mu.Lock()
	sh.told[note.Key] = t.Session
	sh.mu.Unlock()
	sh.notes.Withdraw(note.Key) // the one of an earlier turn
	sh.notes.Show(note)
}

// tellHidden says, the first time, where a window went that was closed.
func (sh *shell) tellHidden() {
	say := func(key text.Key, args ...any) string { return text.New(key, args...).In(sh.in.Language()) }
	sh.notes.Show(notify.Note{Key: "hidden", Title: say("notify.hidden", "name", sh.s.name), Body: say("notify.hidden-about"), Actions: []notify.Action{sh.openAction()}})
}

// acted takes a click on a notification. Only the two buttons decide; a click on the notification itself
// opens what it speaks of.
func (sh *shell) acted(key, action string) {
	if id, ok := strings.CutPrefix(key, approvalKey); ok {
		switch action {
		case actApprove, actDeny:
			sh.decide(id, action == actApprove)
		case notify.Open:
			sh.mu.Lock()
			r := sh.asked[id]
			sh.mu.Unlock()
			sh.win.raise(target{Session: r.Session})
		}
		return
	}
	if action != notify.Open {
		return
	}
	sh.mu.Lock()
	session := sh.told[key]
	delete(sh.told, key)
	sh.mu.Unlock()
	sh.win.raise(target{Session: session})
}
