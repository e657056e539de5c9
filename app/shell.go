//go:build desktop || dev

package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"aalis/app/desk"
	"aalis/app/notify"
	"aalis/app/seat"
	"aalis/app/tray"
	"aalis/backend/principal"
	"aalis/backend/server"
	"aalis/backend/text"
)

// shell is the desktop app around an instance: the tray, the notifications, who is at the desk, and the
// wish to end. The window comes and goes in front of it.
//
//	desk    ──State──▶ tray, notifications        what waits, what works, what failed
//	tray, notifications ──▶ desk.Decide           an answer
//	seat, tray host ──▶ desk.Present              whether anybody can be asked here
//	window, tray, page ──▶ parting                the end, asked about while something runs
type shell struct {
	s   settings
	log *slog.Logger
	in  instance
	win view

	desk   *desk.Desk
	tray   *tray.Tray
	notes  *notify.Notifier
	seat   *seat.Seat
	part   *parting
	newer  *newer
	ours   build
	opener *server.Opener

	lookNewer chan struct{} // holds a token when the program's file is to be looked at
	up        chan struct{} // closed when the tray, the notifications and the seat are there
	end       context.CancelFunc
	wg        sync.WaitGroup

	mu       sync.Mutex // guards all below
	state    desk.State
	asked    map[string]desk.Request // approvals that a notification was shown for
	told     map[string]string       // notes of turns that ended, by key: their session
	update   build                   // that lies on the disk and waits for a restart
	orphaned *time.Timer             // runs while the window is hidden and nothing shows the tray
	restart  bool                    // the program is to start again after its end
	closed   bool
}

// view is the window as the shell knows it. Its methods may be called from any goroutine.
type view interface {
	// raise brings the window to the front, making it where there is none, and goes to the target.
	raise(target)
	// lower shows that the program is there without coming to the front: in the list of windows.
	lower()
	hidden() bool
	front() bool
	// tell sends the page an event; before there is a page it is lost.
	tell(event string, data any)
	// ask is the toolkit's dialog with yes and no. It blocks.
	ask(question string) bool
	// quit closes the window for good, and ends the wait for one that was not made yet.
	quit()
}

// prefs are what the owner has set about the desktop.
func (sh *shell) prefs() shellPrefs { return prefsOf(sh.in.Setting) }

// newShell makes a shell of which nothing is up yet. end ends the program in good order.
func newShell(s settings, in instance, win view, log *slog.Logger, end context.CancelFunc) *shell {
	sh := &shell{
		s: s, log: log, in: in, win: win, ours: build{Version, orElse(commit, "unknown")}, opener: server.NewOpener(openURL),
		lookNewer: make(chan struct{}, 1), up: make(chan struct{}), end: end, asked: make(map[string]desk.Request), told: make(map[string]string),
	}
	sh.part = &parting{
		busy: sh.busy, show: func(q question) { sh.win.raise(target{}); sh.win.tell("question", q) },
		over:  func(id string) { sh.win.tell("question-over", map[string]string{"id": id}) },
		wait:  func(kind string, on bool) { sh.win.tell("finishing", map[string]any{"kind": kind, "on": on}) },
		ask:   sh.askNative,
		leave: sh.leave,
	}
	sh.desk = desk.New(desk.Options{Connect: in.ConnectTray, Version: Version, Changed: sh.changed, Ended: sh.ended, Log: log})
	return sh
}

// start brings the tray, the notifications and the seat up. What they tell before all are there waits.
func (sh *shell) start() {
	sh.tray = tray.Start(tray.Options{
		Name: sh.s.name, Language: sh.in.Language, Log: sh.log, Hosted: func(bool) { <-sh.up; sh.attend() },
		Show: func() { sh.win.raise(target{}) }, New: func() { sh.win.raise(target{New: true}) },
		Open: sh.openTab, Restart: func() { sh.part.want(partRestart) }, Quit: func() { sh.part.want(partQuit) },
		Decide: sh.decide,
	})
	sh.notes = notify.Start(notify.Options{Name: sh.s.name, Icon: sh.iconFile(), Language: sh.in.Language, Act: sh.acted, Log: sh.log})
	sh.seat = seat.Start(seat.Options{Log: sh.log, Changed: func(now seat.State) {
		<-sh.up
		if now.Ending {
			sh.log.Info("the desktop session is ending")
			sh.end()
		}
		sh.attend()
	}})
	close(sh.up)
}

// iconFile puts the program's picture where the notification daemon finds it, installed or not.
func (sh *shell) iconFile() string {
	dir, err := principal.RunDir(sh.s.dataDir)
	path := filepath.Join(dir, "icon.png")
	if err == nil {
		err = principal.WritePrivate(path, icon)
	}
	if err != nil {
		sh.log.Warn("notifications have no picture", "error", err)
		return "aalis" // of an installed program
	}
	return path
}

// attendEvery is how often it is looked whether there is something to ask the owner with, beside each time
// that a part tells.
const attendEvery = 30 * time.Second

// run follows until ctx ends.
func (sh *shell) run(ctx context.Context) {
	sh.wg.Go(func() { sh.desk.Run(ctx) })
	sh.wg.Go(func() {
		look := time.NewTicker(attendEvery)
		defer look.Stop()
		for {
			sh.attend()
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
		}
	})
	if path, err := executable(); err != nil {
		sh.log.Warn("a newer version will not be noticed", "error", err)
	} else {
		sh.newer = newNewer(path, sh.ours, sh.updated, sh.log)
		sh.wg.Go(func() { sh.newer.run(ctx, sh.lookNewer) })
	}
	sh.wg.Wait()
}

// close takes the icon and the notifications away. run must have been told to end.
func (sh *shell) close() {
	sh.mu.Lock()
	sh.closed = true
	if sh.orphaned != nil {
		sh.orphaned.Stop()
	}
	sh.mu.Unlock()
	sh.seat.Close()
	sh.notes.Close()
	sh.tray.Close()
	sh.part.close()
}

// attend says whether the owner can be asked here, and sees that the window is never out of reach.
func (sh *shell) attend() {
	hosted := sh.tray.Hosted()
	sh.desk.Present(!sh.seat.State().Away && (hosted || sh.notes.Available()))
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.closed {
		return
	}
	if hosted || !sh.win.hidden() {
		if sh.orphaned != nil {
			sh.orphaned.Stop()
			sh.orphaned = nil
		}
		return
	}
	if sh.orphaned == nil {
		sh.orphaned = time.AfterFunc(orphanedAfter, sh.orphan)
	}
}

func (sh *shell) orphan() {
	sh.mu.Lock()
	sh.orphaned = nil
	closed := sh.closed
	sh.mu.Unlock()
	if !closed && !sh.tray.Hosted() && sh.win.hidden() {
		sh.log.Warn("nothing shows the tray: the window is back in the list of windows")
		sh.win.lower()
	}
}

// mayHide reports whether a window that is closed can come back.
func (sh *shell) mayHide() bool { return sh.prefs().KeepInTray && sh.tray.Hosted() }

// inFront reports whether the owner looks at the program now.
func (sh *shell) inFront() bool { return sh.win.front() || sh.in.InTabs() }

// busy is what runs, and what waits for a word.
func (sh *shell) busy() (turns, tasks, waiting int) {
	turns, tasks = sh.in.Running()
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return turns, tasks, len(sh.state.Requests)
}

// changed takes what the desk tells.
func (sh *shell) changed(now desk.State) {
	if now.Failed && sh.inFront() {
		now.Failed = false
		sh.wg.Go(sh.desk.Looked) // which tells again, and so must not be waited for here
	}
	sh.mu.Lock()
	sh.state = now
	sh.mu.Unlock()
	sh.showTray()
	sh.showRequests(now)
	if sh.waitsForRestart() {
		sh.tellUpdate() // something runs, or no more
	}
}

func (sh *shell) showTray() {
	sh.mu.Lock()
	now, update := sh.state, sh.update
	sh.mu.Unlock()
	st := tray.State{Working: now.Working, Failed: now.Failed}
	if update != (build{}) {
		st.Update = update.name(sh.ours)
	}
	for _, r := range now.Requests {
		st.Requests = append(st.Requests, tray.Request{ID: r.ID, Who: r.Who, What: r.What})
	}
	sh.tray.Set(st)
}

// openTab opens a signed-in tab in the browser.
func (sh *shell) openTab() {
	if err := sh.openTabAt(target{}); err != nil {
		sh.log.Error("no browser tab could be opened", "error", err)
		sh.notes.Show(notify.Note{Key: "tab", Title: sh.s.name, Body: text.New("notify.no-tab", "reason", reasonOf(err)).In(sh.in.Language())})
	}
}

func (sh *shell) openTabAt(t target) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := findRemote(sh.s.dataDir)
	if err != nil {
		return err
	}
	link, err := r.signInURL(ctx)
	if err != nil {
		return err
	}
	if link, err = tabURL(link, "", t.Session); err != nil {
		return err
	}
	return sh.opener.Open(link)
}

// decide answers an approval for the tray and the notifications.
func (sh *shell) decide(id string, approve bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := sh.desk.Decide(ctx, id, approve); err != nil && !errors.Is(err, context.Canceled) {
		sh.log.Error("an answer was not taken", "approval", id, "error", err)
		sh.notes.Show(notify.Note{
			Key: "refused:" + id, Title: sh.s.name, Body: text.New("notify.not-taken", "reason", reasonOf(err)).In(sh.in.Language()),
			Actions: []notify.Action{sh.openAction()},
		})
	}
}

// updated takes that another build lies on the disk; the zero build is none.
func (sh *shell) updated(b build) {
	sh.mu.Lock()
	sh.update = b
	sh.mu.Unlock()
	if b != (build{}) {
		sh.log.Info("a newer file of the program lies on the disk", "version", b.Version, "commit", b.Commit)
	}
	sh.showTray()
	sh.tellUpdate()
}

func (sh *shell) waitsForRestart() bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.update != build{}
}

func (sh *shell) tellUpdate() {
	sh.mu.Lock()
	update := sh.update
	sh.mu.Unlock()
	turns, tasks := sh.in.Running()
	version := ""
	if update != (build{}) {
		version = update.name(sh.ours)
	}
	sh.win.tell("update", map[string]any{"version": version, "busy": turns+tasks > 0})
}

// looked takes that the owner is at the window: failures are seen, turns that ended are no news.
func (sh *shell) looked() {
	sh.desk.Looked()
	sh.mu.Lock()
	keys := make([]string, 0, len(sh.told))
	for key := range sh.told {
		keys = append(keys, key)
	}
	clear(sh.told)
	sh.mu.Unlock()
	for _, key := range keys {
		sh.notes.Withdraw(key)
	}
	select {
	case sh.lookNewer <- struct{}{}:
	default:
	}
}

// askNative asks the questions of the end where no page shows them: two with yes and no, because that is
// what every system's dialog has. Closing a dialog is a no, and two of them change nothing.
func (sh *shell) askNative(q question) (choice string) {
	say := func(key text.Key) string { return text.New(key).In(sh.in.Language()) }
	switch {
	case sh.win.ask(say("close.finish")):
		return choiceFinish
	case sh.win.ask(say("close.stop")):
		return choiceStop
	}
	return choiceCancel
}

// leave ends the program as parting has it.
func (sh *shell) leave(kind string) {
	sh.mu.Lock()
	sh.restart = kind == partRestart
	sh.mu.Unlock()
	sh.win.quit()
}
