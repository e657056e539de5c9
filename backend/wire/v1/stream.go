package v1

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"aalis/backend/core"
	"aalis/backend/store"
	"aalis/backend/text"
	"aalis/backend/wire/rest"
)

// stream is GET /v1/sessions/{id}/events: everything behind a number, and then what comes, in one form.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	after, err := sinceOf(r)
	if err != nil {
		return err
	}
	found, head, err := s.session(r)
	if err != nil {
		return err
	}
	after = min(after, head.LastSeq) // a number from nowhere waits for what comes. Spec V1-101
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &sse{w: w, c: http.NewResponseController(w), last: after}
	if err := out.flush(); err != nil {
		return nil //nolint:nilerr // the client has gone
	}
	p := newProjector(found.SID, found.WireID(), s.o.Digest)
	f := rest.Follower{
		Loop: s.o.Loop, SID: found.SID, After: after, Idle: s.o.Heartbeat,
		Rows: func(tx *store.ReadTx, rows []store.Row) (func() error, error) {
			events, err := p.events(tx, rows[0].Seq-1, rows)
			return func() error { return out.events(events) }, err
		},
		Beat: func() error { return out.beat(found.WireID()) },
	}
	err = f.Run(r.Context()) // it never ends well: the client goes, or the program ends
	if r.Context().Err() == nil && !errors.Is(err, core.ErrClosed) && !errors.Is(err, errGone) {
		s.log.ErrorContext(r.Context(), "an event stream ended", "session", found.ID, "error", err)
	}
	return nil
}

// sinceOf is the number behind which a client wants to go on: its header's, else ?since=, else 0
// (Spec V1-096 to -100).
func sinceOf(r *http.Request) (int64, error) {
	name, value := "Last-Event-ID", r.Header.Get("Last-Event-ID")
	if value == "" {
		name, value = "since", r.URL.Query().Get("since")
	}
	if value == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		return 0, invalid(name, text.New("v1.number", "name", name))
	}
	return int64(n), nil
}

// sse writes the frames of one stream.
type sse struct {
	w    http.ResponseWriter
	c    *http.ResponseController
	last int64 // the number of the last event that was sent
}

// errGone is a client that does not read any more.
var errGone = errors.New("the client has gone")

// patience is how long a reader may take nothing before it is let go; it comes back and is caught up from
// the log (Spec V1-112).
const patience = 30 * time.Second

func (o *sse) events(all []Event) error {
	for _, e := range all {
		data, err := encode(e)
		if err != nil {
			return fmt.Errorf("encoding an event: %w", err)
		}
		if err := o.frame(fmt.Sprintf("event: %s\nid: %d\ndata: %s\n\n", e.Type, e.Seq, data)); err != nil {
			return err
		}
		o.last = e.Seq
	}
	if len(all) == 0 {
		return nil
	}
	return o.flush()
}

// beat says that the stream lives. It has no id, so that it never moves a client's position (Spec V1-109).
func (o *sse) beat(session string) error {
	data, err := encode(Event{V: EventVersion, Seq: o.last, Type: Heartbeat, SessionID: session, At: stamp(time.Now().UnixMilli()), Data: Empty{}})
	if err != nil {
		return fmt.Errorf("encoding a heartbeat: %w", err)
	}
	if err := o.frame(fmt.Sprintf("event: %s\ndata: %s\n\n", Heartbeat, data)); err != nil {
		return err
	}
	return o.flush()
}

func (o *sse) frame(text string) error {
	_ = o.c.SetWriteDeadline(time.Now().Add(patience)) // a test's recorder has none
	if _, err := o.w.Write([]byte(text)); err != nil {
		return errGone
	}
	return nil
}

func (o *sse) flush() error {
	if err := o.c.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errGone
	}
	return nil
}

// session finds the session of a request; what a caller may not see is as if it were not there
// (Spec V1-033).
func (s *Server) session(r *http.Request) (found store.Session, head store.Head, err error) {
	id := r.PathValue("id")
	err = s.o.Loop.Read(r.Context(), func(tx *store.ReadTx) error {
		if found, err = tx.Session(id); err == nil {
			head, err = tx.Head(found.SID)
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return found, head, core.NoSession(id)
	}
	return found, head, err
}
