package tray

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	// The maintained library for Windows' notification area; only the Windows build has it.
	"fyne.io/systray"
)

// Tray is the icon. A process has one, once.
type Tray struct {
	core    *core
	wg      sync.WaitGroup
	once    sync.Once
	changed chan struct{} // holds one: there is something to publish
	over    chan struct{} // closed by Close
	ready   chan struct{} // closed by the library
	hosted  atomic.Bool

	// One goroutine, which publishes, has all below.
	fixed map[int32]*entry
	list  []*entry // in their order
	old   []*entry // hidden, until no click can be under way
	shown *appearance
	tip   string
}

// entry is an item of the library's menu, bound for ever to one of ours.
type entry struct {
	item
	on     *systray.MenuItem
	hidden time.Time
}

// Start shows the icon and returns at once.
func Start(o Options) *Tray {
	t := &Tray{
		core: newCore(o), changed: make(chan struct{}, 1), over: make(chan struct{}), ready: make(chan struct{}),
		fixed: map[int32]*entry{},
	}
	t.changed <- struct{}{}
	systray.SetOnTapped(func() { t.core.click(showID) })
	t.wg.Go(func() {
		// Windows delivers a window's messages to the thread that made it.
		runtime.LockOSThread()
		systray.Run(func() { close(t.ready) }, nil)
	})
	t.wg.Go(t.publishing)
	return t
}

// Set says what to show from now on. The latest wins.
func (t *Tray) Set(s State) {
	t.core.set(s)
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// Hosted reports whether something shows the icon now.
func (t *Tray) Hosted() bool { return t.hosted.Load() }

// Close takes the icon away and waits for what the tray has started.
func (t *Tray) Close() {
	t.once.Do(func() { close(t.over) })
	t.wg.Wait()
	t.core.close()
}

func (t *Tray) publishing() {
	select {
	case <-t.ready:
	case <-t.over: // the library must be ready before it can be told to end
		<-t.ready
	}
	defer systray.Quit()
	t.hosted.Store(true)
	defer t.hosted.Store(false)
	t.core.tell(func() {
		if t.core.o.Hosted != nil {
			t.core.o.Hosted(true)
		}
	})
	for {
		select {
		case <-t.over:
			return
		case <-t.changed:
			t.publish()
		}
	}
}

func (t *Tray) publish() {
	items, tip, look := t.core.look()
	split := slices.IndexFunc(items, func(it item) bool { return it.id == wordsID }) + 1
	t.publishFixed(items[:split])
	t.publishList(items[split:])
	if tip = t.core.o.Name + ": " + tip; tip != t.tip {
		t.tip = tip
		systray.SetTooltip(tip)
	}
	if t.shown == nil || *t.shown != look {
		t.shown = &look
		systray.SetIcon(ico(look))
	}
}

// publishFixed keeps what is always there. The library places an item where its age says; so that of the
// restart is made with the others, and shown when it is wanted.
func (t *Tray) publishFixed(items []item) {
	if len(t.fixed) == 0 {
		for id := showID; id <= wordsID; id++ {
			if id == ruleID {
				systray.AddSeparator()
				continue
			}
			t.fixed[id] = t.add(item{id: id, label: " ", off: id == wordsID})
		}
	}
	for id, e := range t.fixed {
		at := slices.IndexFunc(items, func(it item) bool { return it.id == id })
		switch {
		case at < 0 && e.hidden.IsZero():
			e.hidden = time.Now()
			e.on.Hide()
		case at >= 0 && (e.label != items[at].label || !e.hidden.IsZero()):
			e.label, e.hidden = items[at].label, time.Time{}
			e.on.SetTitle(shownLabel(e.label)) // shows it too
		}
	}
}

// publishList keeps the requests. The library can only append: when something new comes, all are made
// anew in the right order, and the old ones hidden, each still meaning what it meant.
func (t *Tray) publishList(items []item) {
	t.removeOld()
	var kept []*entry
	next := 0
	for _, e := range t.list {
		if next < len(items) && e.id == items[next].id && e.label == items[next].label {
			kept = append(kept, e)
			next++
		}
	}
	if next < len(items) {
		kept = nil
	}
	for _, e := range t.list {
		if !slices.Contains(kept, e) {
			e.on.Hide()
			e.hidden = time.Now()
			t.old = append(t.old, e)
		}
	}
	if kept == nil {
		for _, it := range items {
			kept = append(kept, t.add(it))
		}
	}
	t.list = kept
}

// quiet is how long a hidden item is kept: removing it closes the channel on which a click that is under
// way would still be sent.
const quiet = time.Minute

func (t *Tray) removeOld() {
	for len(t.old) > 0 && time.Since(t.old[0].hidden) > quiet {
		t.old[0].on.Show() // what is hidden keeps its submenu's handle when it is removed
		t.old[0].on.Remove()
		t.old = t.old[1:]
	}
}

func (t *Tray) add(it item) *entry {
	e := &entry{item: it, on: systray.AddMenuItem(shownLabel(it.label), "")}
	if it.off {
		e.on.Disable()
	}
	t.follow(e.on, it.id)
	for _, below := range it.below {
		t.follow(e.on.AddSubMenuItem(shownLabel(below.label), ""), below.id)
	}
	return e
}

// follow passes clicks on until the item is removed, or the tray ends.
func (t *Tray) follow(on *systray.MenuItem, id int32) {
	t.wg.Go(func() {
		for {
			select {
			case <-t.over:
				return
			case _, open := <-on.ClickedCh:
				if !open {
					return
				}
				t.core.click(id)
			}
		}
	})
}

// shownLabel keeps an ampersand: one alone would underline the next letter.
func shownLabel(label string) string { return strings.ReplaceAll(label, "&", "&&") }
