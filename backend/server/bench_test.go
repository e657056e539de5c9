package server_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"aalis/backend/server"
)

// BenchmarkFanOut measures the delivery of a frame of 219 bytes to clients that read as fast as they
// can: one operation is one frame to one client, with the client's reading in the same process.
func BenchmarkFanOut(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("clients=%d", n), func(b *testing.B) {
			board := newBoard()
			r := start(b, func(o *server.Options) { o.Sessions, o.Log = board, nil })
			frame := strings.Repeat("x", 219)
			wire := int64(len(frame) + 4)
			each := b.N/n + 1
			done := make(chan error, n)
			var pins []*pin
			for range n {
				c := r.upgrade()
				go func() {
					_, err := io.CopyN(io.Discard, c.in, wire*int64(each))
					done <- err
				}()
				pins = append(pins, <-board.conns)
			}
			b.ResetTimer()
			for range each {
				for _, p := range pins {
					if !p.peer.Room(b.Context()) {
						b.Fatal("a client was parted from")
					}
					p.send(frame)
				}
			}
			for range n {
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
