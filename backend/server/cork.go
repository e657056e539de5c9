package server

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// corkConn lies between the network and everything that writes to it. It does three things that
// net/http and the WebSocket library leave open: several frames become one write, every write has a
// deadline, and a connection that is to end can be given a time by which it ends.
type corkConn struct {
	net.Conn
	writeTime time.Duration
	closed    func()
	once      sync.Once

	write sync.Mutex // held during a write, so that frames never interleave

	mu     sync.Mutex // guards all below
	corked bool
	buf    []byte
	last   time.Time // no write or read may last beyond it; zero: no such end
	heard  time.Time // when bytes last came in, or reading began
	deaf   bool      // nobody reads just now, so silence means nothing
}

func newCorkConn(c net.Conn, writeTime time.Duration, closed func()) *corkConn {
	return &corkConn{Conn: c, writeTime: writeTime, closed: closed, heard: time.Now()}
}

// Read notes that the other end lives.
func (c *corkConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.mu.Lock()
		c.heard = time.Now()
		c.mu.Unlock()
	}
	return n, err
}

// Write sends p, or keeps it until Uncork. A client that does not take it within writeTime is cut off
// by the error.
func (c *corkConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.corked {
		c.buf = append(c.buf, p...)
		c.mu.Unlock()
		return len(p), nil
	}
	c.mu.Unlock()
	c.write.Lock()
	defer c.write.Unlock()
	c.setWrite(time.Now().Add(c.writeTime))
	return c.Conn.Write(p)
}

// Cork keeps what is written until Uncork.
func (c *corkConn) Cork() {
	c.mu.Lock()
	c.corked = true
	c.mu.Unlock()
}

// keepBuffer is the size up to which a connection's buffer outlives a batch; a full batch of small frames
// fits.
const keepBuffer = 96 << 10

// Uncork sends everything kept, as one write with one deadline. When the deadline passes, late is
// asked for another one to finish in; its false ends the attempt. The frames stay whole that way, and
// a client that reads again in the last moment still learns why it is closed.
func (c *corkConn) Uncork(deadline time.Time, late func() (time.Time, bool)) error {
	c.write.Lock()
	defer c.write.Unlock()
	c.mu.Lock()
	c.corked = false
	buf := c.buf
	c.buf = nil
	c.mu.Unlock()
	rest := buf
	for len(rest) > 0 {
		c.setWrite(deadline)
		n, err := c.Conn.Write(rest)
		rest = rest[n:]
		if err == nil {
			break
		}
		again := false
		if errors.Is(err, os.ErrDeadlineExceeded) {
			deadline, again = late()
		}
		if !again {
			return err
		}
	}
	if cap(buf) <= keepBuffer {
		c.mu.Lock()
		if c.buf == nil {
			c.buf = buf[:0]
		}
		c.mu.Unlock()
	}
	return nil
}

// Close ends the connection and frees its place.
func (c *corkConn) Close() error {
	c.once.Do(c.closed)
	return c.Conn.Close()
}

// endBy lets no read or write last beyond t, those under way included.
func (c *corkConn) endBy(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.IsZero() || t.Before(c.last) {
		c.last = t
	}
	_ = c.Conn.SetDeadline(c.last)
}

func (c *corkConn) setWrite(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.IsZero() && (t.IsZero() || c.last.Before(t)) {
		t = c.last
	}
	_ = c.Conn.SetWriteDeadline(t)
}

// setRead sets when a read under way ends; zero: never, but for endBy.
func (c *corkConn) setRead(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.IsZero() && (t.IsZero() || c.last.Before(t)) {
		t = c.last
	}
	_ = c.Conn.SetReadDeadline(t)
}

// listening says whether somebody reads from now on. The other end's silence begins anew with it.
func (c *corkConn) listening(yes bool) {
	c.mu.Lock()
	c.deaf = !yes
	c.heard = time.Now()
	c.mu.Unlock()
}

// silence is how long nothing came in although somebody was reading.
func (c *corkConn) silence() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deaf {
		return 0
	}
	return time.Since(c.heard)
}

// connKey finds a request's corkConn in its context.
type connKey struct{}
