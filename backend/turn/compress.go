package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// How much of what happened a summary must keep, and how long a line of it may be, in characters.
const (
	maxFacts    = 40
	maxFactLine = 240
)

// The topic of the notices of a compression, and their states. Spec SP-NOTICE-06, decisions E6.
const (
	noticeCompress = "compress"
	compressStart  = "start"
	compressDone   = "done"
	compressError  = "error"
)

// Compress shortens what the model reads of a session, because a person wants it. It returns when that
// is done, or when there was nothing to do. A failure is fault.Internal with the reason, and leaves
// everything as it was; so is a second call for a session under way, which is told nobody else
// (Spec SP-COMP-01 to -07). fault.NotFound without the session.
func (r *Reactor) Compress(ctx context.Context, sessionID string) error {
	var session store.Session
	err := r.loop.Read(ctx, func(tx *store.ReadTx) (err error) {
		session, err = tx.Session(sessionID)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return core.NoSession(sessionID)
	}
	if err != nil {
		return fmt.Errorf("reading the session: %w", err)
	}
	return r.compress(ctx, session, r.told(session, ""))
}

// enterCompress reports whether nobody compresses a session yet.
func (r *Reactor) enterCompress(sid int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.compressing[sid] {
		return false
	}
	r.compressing[sid] = true
	return true
}

func (r *Reactor) leaveCompress(sid int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.compressing, sid)
}

// compress shortens the conversation of a session; t has a turn when its engine asked for it.
func (r *Reactor) compress(ctx context.Context, s store.Session, t engine.Turn) error {
	if !r.enterCompress(s.SID) {
		return fault.New(fault.Internal, text.New("compress.busy"))
	}
	defer r.leaveCompress(s.SID)
	c := compression{reactor: r, session: s, turn: t, id: event.NewID(), began: time.Now().UnixMilli()}
	return c.run(ctx)
}

// compression is one compression under way.
type compression struct {
	reactor *Reactor
	session store.Session
	turn    engine.Turn
	id      string // of its notice
	began   int64
	said    conversation
	dead    map[string]int64 // where the turns that were undone began
	facts   engine.Facts
}

func (c *compression) automatic() bool { return c.turn.TurnID != "" }

// run tells how it goes, but for one that finds nothing to do by itself.
func (c *compression) run(ctx context.Context) error {
	able, ok := c.reactor.options.Engines[c.session.Harness].(engine.Compressor)
	if !ok {
		return fault.New(fault.Unsupported, text.New("turn.no-engine", "harness", c.session.Harness))
	}
	if err := c.reactor.loop.Read(ctx, c.read); err != nil {
		return fmt.Errorf("reading the conversation: %w", err)
	}
	keep, gains, err := able.Keep(ctx, c.turn, c.said.said)
	switch {
	case err != nil:
		return c.failed(err)
	case !gains && !c.automatic():
		c.tell(core.CompressNote{Done: true}, compressDone, text.New("compress.nothing"), nil)
		return nil
	case !gains:
		return nil
	}
	c.tell(core.CompressNote{}, compressStart, text.New("compress.start"), nil)
	done, err := c.shorten(ctx, able, len(c.said.said)-keep)
	if err != nil {
		return c.failed(err)
	}
	c.tell(core.CompressNote{Done: true}, compressDone, text.New("compress.done", "before", done.TokensBefore, "after", done.TokensAfter), map[string]any{
		"tokensBefore": done.TokensBefore, "tokensAfter": done.TokensAfter,
	})
	return nil
}

// shorten puts a summary in the place of the entries before cut.
func (c *compression) shorten(ctx context.Context, able engine.Compressor, cut int) (event.Compacted, error) {
	gone, kept := c.said.said[:cut], c.said.said[cut:]
	var done event.Compacted
	summary, err := able.Summarize(ctx, c.turn, gone, kept, c.facts)
	if err != nil {
		return done, err
	}
	done = event.Compacted{
		Through: c.said.head.LastSeq, Summary: summary.Text, Model: summary.Model, Prompt: summary.Prompt, Completion: summary.Completion,
		Automatic: c.automatic(), Previous: c.said.head.CompactedSeq,
		Files: c.facts.Files, Failed: newest(append(slices.Clone(c.said.summary.Failed), failures(gone)...)),
	}
	if len(kept) > 0 {
		done.Through = c.said.seqs[cut] - 1
	}
	if measurer, ok := able.(engine.Measurer); ok {
		before, err := measurer.Measure(ctx, c.turn, c.said.said)
		if err != nil {
			return done, fmt.Errorf("measuring the context: %w", err)
		}
		after, err := measurer.Measure(ctx, c.turn, append([]engine.Entry{{Kind: engine.EntrySummary, Text: summary.Text}}, kept...))
		if err != nil {
			return done, fmt.Errorf("measuring the shortened context: %w", err)
		}
		usage := modelCall(after)
		done.TokensBefore, done.TokensAfter, done.Usage = before.Prompt, after.Prompt, &usage
	}
	for id, began := range c.dead {
		if began <= done.Through {
			done.Without = append(done.Without, id)
		}
	}
	slices.Sort(done.Without)
	_, err = c.reactor.loop.Do(ctx, core.CompactHistory{Session: c.session.ID, Cleared: c.said.head.ClearedSeq, Summary: done})
	return done, err
}

// read takes the conversation and what must not be lost of it from one moment.
func (c *compression) read(tx *store.ReadTx) error {
	if err := c.said.read(tx, c.session.SID, c.reactor.options.Files); err != nil {
		return err
	}
	var err error
	if c.dead, err = tx.DeadStarts(c.session.SID); err != nil {
		return err
	}
	plan, err := tx.Plan(c.session.SID)
	if err != nil {
		return err
	}
	for _, e := range plan.Entries {
		c.facts.Plan = append(c.facts.Plan, factLine(fmt.Sprintf("%d. [%s] %s", e.ID, e.Status, e.Title)))
	}
	pending, err := tx.PendingActions(c.session.SID)
	if err != nil {
		return err
	}
	for _, a := range pending {
		e, _, err := tx.Event(a.ID)
		if err != nil {
			return err
		}
		if asked, ok := e.Payload.(event.Action); ok {
			c.facts.Open = append(c.facts.Open, factLine(asked.Tool+" "+string(asked.Facts)))
		}
	}
	changed, err := tx.ChangedFiles(c.session.SID, maxFacts)
	if err != nil {
		return err
	}
	c.facts.Files = changed
	for _, path := range c.said.summary.Files {
		if len(c.facts.Files) < maxFacts && !slices.Contains(c.facts.Files, path) {
			c.facts.Files = append(c.facts.Files, path)
		}
	}
	c.facts.Failed = newest(append(slices.Clone(c.said.summary.Failed), failures(c.said.said)...))
	return nil
}

// failures tells of calls that did not succeed, a line each.
func failures(said []engine.Entry) []string {
	var all []string
	for _, e := range said {
		if e.Kind != engine.EntryTool || e.Status == "" || e.Status == engine.ToolSucceeded {
			continue
		}
		why, _, _ := strings.Cut(strings.TrimSpace(e.Result), "\n")
		all = append(all, factLine(fmt.Sprintf("%s %s: %s: %s", e.Tool, e.Args, e.Status, why)))
	}
	return all
}

func newest(all []string) []string { return all[max(0, len(all)-maxFacts):] }

// factLine is one line of a fact, cut where it is too long.
func factLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= maxFactLine {
		return s
	}
	return string([]rune(s)[:maxFactLine]) + "…"
}

// tell shows one state of the compression's notice; it is stored nowhere.
func (c *compression) tell(note core.CompressNote, status string, words text.Text, more map[string]any) {
	facts := map[string]any{"status": status}
	maps.Copy(facts, more)
	note.SID, note.ID, note.At = c.session.SID, c.id, c.began
	note.Notice = event.Notice{Topic: noticeCompress, Text: words, Facts: facts}
	c.reactor.loop.Note(core.Note{Kind: core.NoteCompress, Session: c.session.ID, Data: note})
}

// failed tells of a failure and makes it the answer. Spec SP-COMP-04, SP-COMP-05.
func (c *compression) failed(err error) error {
	words := fault.Of(err).Message
	if f, ok := errors.AsType[*engine.Failure](err); ok {
		words = f.Message
	} else if errors.Is(err, context.Canceled) {
		words = text.New("compress.stopped")
	}
	reason := words
	words = text.New("compress.failed", "reason", reason)
	c.reactor.log.Warn("a conversation was not compressed", "session", c.session.ID, "err", err)
	c.tell(core.CompressNote{Done: true, Reason: reason}, compressError, words, nil)
	return fault.Wrap(fault.Internal, words, err)
}

// Compress shortens the conversation of the running turn, and tells whether it has become shorter.
func (h *host) Compress(ctx context.Context, want bool) (bool, error) {
	var session store.Session
	read := func() (seq int64, err error) {
		err = h.reactor.loop.Read(ctx, func(tx *store.ReadTx) error {
			head, err := tx.Head(h.sid)
			if err == nil {
				session, err = tx.SessionBySID(h.sid)
			}
			seq = head.CompactedSeq
			return err
		})
		return seq, h.wrap(ctx, "reading the session", err)
	}
	seq, err := read()
	if err != nil {
		return false, err
	}
	if want && seq == h.seen() {
		if err := h.reactor.compress(ctx, session, h.told); ctx.Err() != nil {
			return false, h.wrap(ctx, "compressing", cmp.Or(err, ctx.Err()))
		}
		if seq, err = read(); err != nil { // a failure has been told
			return false, err
		}
	}
	return seq != h.seen(), nil
}

// seen is the seq of the summary the engine has read, 0 for none.
func (h *host) seen() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.summary
}
