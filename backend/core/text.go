package core

import (
	"errors"
	"strings"
	"sync"
	"time"

	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
)

// ErrItemClosed refuses a piece of an item that is closed, or whose turn was interrupted.
var ErrItemClosed = errors.New("the item is closed")

// openItem is an item that text may be streamed into.
type openItem struct {
	id      string
	sid     int64
	session string
	turn    string
	start   int64 // seq of the event that opened it
	kind    event.DeltaKind
	bytes   int  // streamed so far; output only
	full    bool // the closing line has been given
}

// openItems is the one state beside the rows: what may be streamed into. It follows the commits
// and is empty at start, because recovery closes everything.
type openItems struct {
	mu    sync.Mutex // guards both maps and the items' bytes and full
	items map[string]*openItem
	// index is the next number of a row of text, by openItem.series.
	index map[string]int64
}

// series is what numbers a row of text: the turn for her words, which the chat API counts over all
// messages of a run, and the item itself for everything else.
func (it openItem) series() string {
	if it.kind == event.TextDelta {
		return it.turn
	}
	return it.id
}

func newOpenItems() *openItems {
	return &openItems{items: map[string]*openItem{}, index: map[string]int64{}}
}

// accept checks a piece and cuts a tool's output at its limit; nil without error means that it is
// swallowed.
func (o *openItems) accept(id, piece string) (*Piece, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	it, ok := o.items[id]
	if !ok {
		return nil, ErrItemClosed
	}
	if it.kind == event.OutputDelta {
		if it.full {
			return nil, nil
		}
		if left := outputMax - it.bytes; len(piece) > left {
			it.full = true
			piece = strings.ToValidUTF8(piece[:left], "") + "\n" + text.New("output.cut", "kib", outputMax>>10).In(text.English) + "\n"
		}
		it.bytes += len(piece)
	}
	return &Piece{Session: it.session, ItemID: id, Kind: it.kind, Text: piece}, nil
}

func (o *openItems) get(id string) (openItem, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	it, ok := o.items[id]
	if !ok {
		return openItem{}, false
	}
	return *it, true
}

// next gives the next number of a series.
func (o *openItems) next(series string) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.index[series]
}

// used moves series past the rows that were written.
func (o *openItems) used(rows map[string]int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for series, n := range rows {
		o.index[series] += n
	}
}

// apply follows one committed event.
func (o *openItems) apply(e *event.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	open := func(id string, kind event.DeltaKind) {
		o.items[id] = &openItem{id: id, sid: e.SID, session: e.Session, turn: e.Turn, start: e.Seq, kind: kind}
	}
	switch p := e.Payload.(type) {
	case event.MessageStart:
		open(p.MessageID, event.TextDelta)
	case event.ReasoningStart:
		open(p.ItemID, event.ReasoningDelta)
	case event.Call:
		open(p.CallID, event.OutputDelta)
	case event.Message:
		o.closeItem(p.MessageID)
	case event.Reasoning:
		o.closeItem(p.ItemID)
	case event.Result:
		o.closeItem(p.CallID)
	case event.Interrupt:
		o.closeTurn(p.Turn)
	case event.TurnEnd:
		o.closeTurn(p.TurnID)
		delete(o.index, p.TurnID)
	}
}

func (o *openItems) closeItem(id string) {
	delete(o.items, id)
	delete(o.index, id)
}

func (o *openItems) closeTurn(turn string) {
	for id, it := range o.items {
		if it.turn == turn {
			o.closeItem(id)
		}
	}
}

// waiting is the text that is in no row yet, per session and item, in the order of first pieces.
// It belongs to the loop's goroutine.
type waiting struct {
	rows  []*waitingRow
	index map[string]*waitingRow // by item id
	bytes int
	since time.Time // when the oldest piece came
	next  time.Time // no try before this, after a failure
	pause time.Duration
}

type waitingRow struct {
	item  openItem
	text  strings.Builder
	first int64
	last  int64
}

func newWaiting() waiting { return waiting{index: map[string]*waitingRow{}} }

func (w *waiting) empty() bool { return len(w.rows) == 0 }

func (w *waiting) add(it openItem, piece string, tick int64, now time.Time) {
	r, ok := w.index[it.id]
	if !ok {
		if w.empty() {
			w.since = now
		}
		r = &waitingRow{item: it, first: tick}
		w.index[it.id] = r
		w.rows = append(w.rows, r)
	}
	r.text.WriteString(piece)
	r.last = tick
	w.bytes += len(piece)
}

// oldest is the tick of the oldest piece that is in no row, 0 for none.
func (w *waiting) oldest() int64 {
	if w.empty() {
		return 0
	}
	return w.rows[0].first
}

// due is how long the loop may sleep.
func (w *waiting) due(now time.Time) time.Duration {
	if w.empty() {
		return time.Hour
	}
	at := w.since.Add(textDelay)
	if w.next.After(at) {
		at = w.next
	}
	return max(0, at.Sub(now))
}

func (w *waiting) ready(now time.Time) bool { return !w.empty() && w.due(now) == 0 }

// write makes rows of everything that waits.
func (w *waiting) write(tx *store.Tx, number func(series string) int64) error {
	for _, r := range w.rows {
		if err := tx.AppendText(store.Piece{
			SID: r.item.sid, StartSeq: r.item.start, Kind: r.item.kind, Idx: number(r.item.series()), Text: r.text.String(), Tick: r.last,
		}); err != nil {
			return err
		}
	}
	return nil
}

// written forgets what a successful commit has made rows of.
func (w *waiting) written() { *w = newWaiting() }

// failed puts the next try off: 50 ms, doubling to 5 s. Kernel 0.9.
func (w *waiting) failed(now time.Time) {
	w.pause = min(max(2*w.pause, textDelay), retryMax)
	w.next = now.Add(w.pause)
}

// broadcast wakes everybody who waits for commits.
type broadcast struct {
	mu     sync.Mutex // guards both
	ch     chan struct{}
	closed bool
}

func newBroadcast() *broadcast { return &broadcast{ch: make(chan struct{})} }

func (b *broadcast) wait() (<-chan struct{}, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ch, b.closed
}

func (b *broadcast) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		close(b.ch)
		b.ch = make(chan struct{})
	}
}

func (b *broadcast) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		close(b.ch)
	}
}
