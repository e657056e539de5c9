package server

import (
	"bytes"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// counted keeps what each single write carried.
type counted struct {
	net.Conn
	mu     sync.Mutex // guards writes
	writes []string
}

func (c *counted) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.writes = append(c.writes, string(p))
	c.mu.Unlock()
	return c.Conn.Write(p)
}

func TestCork(t *testing.T) {
	pipe := func(t *testing.T) (near *counted, cork *corkConn, far net.Conn) {
		a, b := net.Pipe()
		near = &counted{Conn: a}
		t.Cleanup(func() { a.Close(); b.Close() })
		return near, newCorkConn(near, time.Second, func() {}), b
	}
	never := func() (time.Time, bool) { return time.Time{}, false }
	t.Run("what is written while corked leaves as one write, in order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			near, c, far := pipe(t)
			go func() { _, _ = io.Copy(io.Discard, far) }()
			for _, frames := range [][]string{{"a", "bc", "", "d"}, {"e"}, {strings.Repeat("x", 100_000), "y"}} {
				c.Cork()
				for _, f := range frames {
					if n, err := c.Write([]byte(f)); n != len(f) || err != nil {
						t.Fatal(n, err)
					}
				}
				if err := c.Uncork(time.Now().Add(time.Second), never); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := c.Write([]byte("alone")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"abcd", "e", strings.Repeat("x", 100_000) + "y", "alone"}, near.writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("a write that is late goes on in the time that late gives, without a byte lost or doubled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, c, far := pipe(t)
			var got bytes.Buffer
			go func() {
				_, _ = io.CopyN(&got, far, 3)
				time.Sleep(1500 * time.Millisecond)
				_, _ = io.Copy(&got, far)
			}()
			c.Cork()
			_, _ = c.Write([]byte("0123456789"))
			asked := 0
			err := c.Uncork(time.Now().Add(time.Second), func() (time.Time, bool) {
				asked++
				return time.Now().Add(time.Second), true
			})
			synctest.Wait()
			if err != nil || asked != 1 || got.String() != "0123456789" {
				t.Errorf("got %q, asked %d times, %v", got.String(), asked, err)
			}
			c.Close()
		})
	})
	t.Run("endBy ends what is under way and bounds what comes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, c, _ := pipe(t)
			began := time.Now()
			failed := make(chan error, 2)
			go func() {
				c.Cork()
				_, _ = c.Write([]byte("x"))
				failed <- c.Uncork(time.Now().Add(time.Hour), never)
			}()
			go func() {
				_, err := c.Read(make([]byte, 1))
				failed <- err
			}()
			synctest.Wait()
			c.endBy(time.Now().Add(2 * time.Second))
			c.endBy(time.Now().Add(time.Hour)) // does not make it later
			for range 2 {
				if err := <-failed; !os.IsTimeout(err) {
					t.Errorf("ended with %v", err)
				}
			}
			if took := time.Since(began); took != 2*time.Second {
				t.Errorf("after %v", took)
			}
			c.setRead(time.Time{})
			if _, err := c.Read(make([]byte, 1)); !os.IsTimeout(err) {
				t.Errorf("a later read ended with %v", err)
			}
		})
	})
	t.Run("a place is given back once", func(t *testing.T) {
		a, _ := net.Pipe()
		n := 0
		c := newCorkConn(a, time.Second, func() { n++ })
		_ = c.Close()
		_ = c.Close()
		if n != 1 {
			t.Errorf("%d times", n)
		}
	})
}

func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p pieces
		var want []byte
		for i := range rapid.IntRange(0, 60).Draw(t, "reads") {
			space := p.space()
			if len(space) == 0 || len(space) > mostPiece {
				t.Fatalf("space of %d bytes", len(space))
			}
			n := rapid.IntRange(0, len(space)).Draw(t, "n")
			for j := range n {
				space[j] = byte(i + j)
			}
			want = append(want, space[:n]...)
			p.took(n)
		}
		if p.size != int64(len(want)) || p.join() != string(want) {
			t.Fatalf("joined otherwise than read")
		}
	})
}
