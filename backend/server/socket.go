package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"aalis/backend/principal"
	"aalis/backend/text"
)

// reasonNoSessions is the reason of 1013 while no session service runs (Spec SP-TRANS-04). It is a
// fixed word of the protocol, the same in every language.
const reasonNoSessions = "会话服务不在"

// socket is one WebSocket connection. The request's goroutine reads; one more writes and one watches
// over silence. All three have ended when serve returns.
type socket struct {
	ws     *websocket.Conn
	raw    *corkConn
	out    *outbox
	limits Limits
	caller principal.Caller
	seen   func(context.Context, principal.Caller) error
	large  chan struct{} // a place in it for each frame over LargeMessage, over all sockets
	say    func(text.Key, ...any) string
	slow   parting // how to part from a client that is too slow
	log    *slog.Logger
}

// serve speaks until either side ends the connection.
func (s *socket) serve(sessions Sessions) {
	var wg sync.WaitGroup
	wg.Go(s.write)
	wg.Go(s.watch)
	defer wg.Wait()
	defer s.hangUp()
	if sessions == nil {
		s.out.part(parting{websocket.StatusTryAgainLater, reasonNoSessions, true})
		s.drain()
		return
	}
	defer func() {
		if broken := recover(); broken != nil {
			s.log.Error("a connection's handler panicked", "panic", broken, "stack", string(debug.Stack()))
			s.leave(parting{code: websocket.StatusInternalError, reason: s.say("internal")})
		}
	}()
	conn := sessions.Connect(Peer{
		Caller:     s.caller,
		Surface:    s.caller.Surface,
		Disconnect: s.disconnect,
		Queued:     s.out.queued,
		Room:       s.out.waitRoom,
	}, s.send)
	// Spec SP-TRANS-07: closing the socket calls Close, whatever ended the reading.
	defer conn.Close()
	s.read(conn)
}

func (s *socket) send(frame string) {
	if s.out.send(frame, s.slow) {
		s.log.Warn("client is too slow", "bound", "bytes", "limit", s.limits.QueueBytes)
	}
}

// disconnect ends the connection as the session protocol wants it: what was sent arrives, then 1000
// with the reason (Spec SP-TRANS-05).
func (s *socket) disconnect(reason string) {
	s.out.part(parting{websocket.StatusNormalClosure, reason, true})
}

// hangUp frees the connection at once. Nothing can be said to the client any more.
func (s *socket) hangUp() {
	s.out.kill()
	_ = s.ws.CloseNow()
}

// maxReason is what a close frame has room for.
const maxReason = 123

// cutReason keeps as much of a reason as a close frame takes, in whole characters (Spec SP-TRANS-06).
func cutReason(reason string) string {
	reason = strings.ToValidUTF8(reason, "\uFFFD")
	if len(reason) <= maxReason {
		return reason
	}
	end := maxReason
	for !utf8.RuneStart(reason[end]) {
		end--
	}
	return reason[:end]
}

// leave says goodbye from the reading side and waits, for a moment, until the client has read it: a
// connection that is dropped with unread bytes would lose the close frame with them.
func (s *socket) leave(p parting) {
	s.out.kill()
	s.raw.endBy(time.Now().Add(partingTime))
	_ = s.ws.Close(p.code, cutReason(p.reason))
}

// drain discards what comes in until the connection ends.
func (s *socket) drain() {
	for {
		_, r, err := s.ws.Reader(context.Background())
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return
		}
	}
}

// read hands every frame to the session protocol until the connection ends (Spec SP-TRANS-07).
func (s *socket) read(conn Connection) {
	var pace bucket
	s.ws.SetReadLimit(-1) // readFrame counts, and says the limit in the close reason
	for {
		for wait := s.pace(&pace); wait > 0; wait = s.pace(&pace) {
			if !s.pause(wait) {
				return
			}
		}
		s.raw.listening(true)
		kind, r, err := s.ws.Reader(context.Background())
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			s.leave(parting{code: websocket.StatusUnsupportedData, reason: s.say("door.binary")})
			return
		}
		limit := s.limits.FirstMessage
		if conn.Initialized() {
			limit = s.limits.Message
		}
		frame, release, err := s.readFrame(r, limit)
		s.raw.listening(false)
		if err != nil {
			s.explain(err, limit)
			return
		}
		if !utf8.ValidString(frame) {
			release()
			s.leave(parting{code: websocket.StatusInvalidFramePayloadData, reason: s.say("door.not-utf8")})
			return
		}
		s.receive(conn, frame, release)
	}
}

func (s *socket) receive(conn Connection, frame string, release func()) {
	defer release()
	conn.Receive(frame)
}

func (s *socket) pace(b *bucket) time.Duration {
	return b.take(time.Now(), s.limits.Rate, s.limits.Burst)
}

// pause waits, unless the connection ends first: a client that sends faster than the limit is slowed
// down and loses nothing.
func (s *socket) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.out.dead:
		return false
	}
}

var (
	errEnded    = errors.New("the connection ended")
	errTooLarge = errors.New("the frame is too large")
)

// readFrame reads one frame whole, of at most limit bytes. Beyond LargeMessage it waits for one of the
// few places for large frames, which release gives back once the frame has been dealt with.
func (s *socket) readFrame(r io.Reader, limit int64) (frame string, release func(), err error) {
	release = func() {}
	s.raw.setRead(time.Now().Add(s.limits.MessageTime))
	defer s.raw.setRead(time.Time{})
	var whole pieces
	for {
		before := whole.size
		n, err := r.Read(whole.space())
		whole.took(n)
		switch {
		case whole.size > limit:
			release()
			return "", nil, errTooLarge
		case errors.Is(err, io.EOF):
			return whole.join(), release, nil
		case err != nil:
			release()
			return "", nil, err
		}
		if whole.size > s.limits.LargeMessage && before <= s.limits.LargeMessage {
			s.raw.listening(false)
			select {
			case s.large <- struct{}{}:
			case <-s.out.dead:
				return "", nil, errEnded
			}
			s.raw.listening(true)
			release = func() { <-s.large }
			s.raw.setRead(time.Now().Add(s.limits.MessageTime))
		}
	}
}

// explain parts after a frame that could not be read. Where the connection itself failed there is
// nobody to tell.
func (s *socket) explain(err error, limit int64) {
	switch {
	case errors.Is(err, errTooLarge):
		s.leave(parting{code: websocket.StatusMessageTooBig, reason: s.say("door.message-large", "max", limit)})
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.leave(parting{code: websocket.StatusPolicyViolation, reason: s.say("door.message-slow")})
	}
}

const (
	// batchBytes bounds what one write carries.
	batchBytes = 64 << 10
	// lastChance is what a client gets after QueueAge to take the batch under way.
	lastChance = time.Second
	// leastRate is what a client must take per second of a frame that is larger than a batch.
	leastRate = 1 << 20
)

// write sends what waits, a batch at a time, each with one deadline: QueueAge after its oldest frame.
// The time that a large frame takes is no slowness: it is added, and what waited behind it does not
// age by it.
func (s *socket) write() {
	var batch []waiting
	var bytes []byte
	var since time.Time
	for {
		var end *parting
		batch, end = s.out.take(batch, batchBytes)
		switch {
		case len(batch) > 0:
			oldest, size := batch[0].at, len(batch[0].frame)
			if oldest.Before(since) {
				oldest = since
			}
			last := oldest.Add(s.limits.QueueAge + time.Duration(size)*time.Second/leastRate)
			if err := s.writeBatch(batch, &bytes, last); err != nil {
				s.hangUp()
				return
			}
			if size > batchBytes {
				since = time.Now()
			}
			s.out.wrote()
			continue
		case end != nil:
			s.raw.endBy(time.Now().Add(partingTime))
			_ = s.ws.Close(end.code, cutReason(end.reason))
			s.hangUp()
			return
		}
		select {
		case <-s.out.wake:
		case <-s.out.dead:
			return
		}
	}
}

func (s *socket) writeBatch(batch []waiting, bytes *[]byte, last time.Time) error {
	s.raw.Cork()
	var failed error
	for _, w := range batch {
		*bytes = append((*bytes)[:0], w.frame...)
		// Background on purpose: a context that can end costs a goroutine's worth per frame, and
		// the deadline of Uncork bounds the batch.
		if failed = s.ws.Write(context.Background(), websocket.MessageText, *bytes); failed != nil {
			break
		}
	}
	if cap(*bytes) > keepBuffer {
		*bytes = nil
	}
	err := s.raw.Uncork(last, func() (time.Time, bool) {
		if !s.out.part(s.slow) {
			return time.Time{}, false
		}
		s.log.Warn("client is too slow", "bound", "age", "limit", s.limits.QueueAge)
		return time.Now().Add(lastChance), true
	})
	return errors.Join(failed, err)
}

// seenEvery is how often a live connection counts as use of its sign-in.
const seenEvery = time.Hour

// watch pings, and ends a connection whose other end has been silent for too long. Silence counts
// only while somebody reads: the time a frame is being handled is ours.
func (s *socket) watch() {
	tick := time.NewTicker(s.limits.PingEvery)
	defer tick.Stop()
	seen := time.Now()
	for {
		select {
		case <-s.out.dead:
			return
		case <-tick.C:
		}
		if s.raw.silence() >= s.limits.SilenceAtMost {
			s.log.Info("client fell silent", "limit", s.limits.SilenceAtMost)
			s.hangUp()
			return
		}
		if time.Since(seen) >= seenEvery {
			seen = time.Now()
			if err := s.seen(context.Background(), s.caller); err != nil {
				s.log.Warn("noting the use of a sign-in failed", "error", err)
			}
		}
		s.ping()
	}
}

// ping asks for a sign of life; corkConn hears the answer, so nobody waits for it here beyond the
// next tick.
func (s *socket) ping() {
	ctx, cancel := context.WithTimeout(context.Background(), s.limits.PingEvery/2)
	defer cancel()
	_ = s.ws.Ping(ctx)
}
