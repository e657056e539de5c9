package server

import (
	"math"
	"sync"
	"time"
)

// Limits bounds what clients can cost. Zero fields mean the defaults, which are for people and their
// scripts; tests set smaller ones.
type Limits struct {
	Connections   int     // TCP connections at once
	Sockets       int     // WebSocket connections at once
	SocketsEach   int     // … of one credential
	Rate          float64 // requests or frames per second of one credential, lasting
	Burst         float64 // … and at once
	HeaderTime    time.Duration
	BodyTime      time.Duration
	WriteTime     time.Duration // one write to a client that does not read
	FirstMessage  int64         // bytes of a frame before the handshake
	Message       int64         // bytes of a frame after it
	LargeMessage  int64         // bytes from which a frame needs one of LargeReads
	LargeReads    int
	MessageTime   time.Duration // from a frame's first byte to its last
	QueueBytes    int           // waiting for one client
	QueueAge      time.Duration // of the oldest waiting frame
	PingEvery     time.Duration
	SilenceAtMost time.Duration
}

func (l Limits) withDefaults() Limits {
	or(&l.Connections, 2048)
	or(&l.Sockets, 1024)
	or(&l.SocketsEach, 256)
	or(&l.Rate, 500)
	or(&l.Burst, 1000)
	or(&l.HeaderTime, 5*time.Second)
	or(&l.BodyTime, 30*time.Second)
	or(&l.WriteTime, 10*time.Second)
	or(&l.FirstMessage, 64<<10)
	or(&l.Message, 72<<20)
	or(&l.LargeMessage, 1<<20)
	or(&l.LargeReads, 2)
	or(&l.MessageTime, 30*time.Second)
	or(&l.QueueBytes, 4<<20)
	or(&l.QueueAge, 5*time.Second)
	or(&l.PingEvery, 30*time.Second)
	or(&l.SilenceAtMost, 60*time.Second)
	return l
}

func or[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// bucket is a token bucket: burst at once, rate per second lasting.
type bucket struct {
	tokens float64
	at     time.Time
}

// take gives 0 and takes a token, or says how long until there is one.
func (b *bucket) take(now time.Time, rate, burst float64) time.Duration {
	if b.at.IsZero() {
		b.tokens = burst
	} else {
		b.tokens = min(burst, b.tokens+now.Sub(b.at).Seconds()*rate)
	}
	b.at = now
	if b.tokens >= 1 {
		b.tokens--
		return 0
	}
	return time.Duration(math.Ceil((1 - b.tokens) / rate * float64(time.Second)))
}

// buckets has one bucket for each credential, and one for everybody who shows none.
type buckets struct {
	rate, burst float64

	mu   sync.Mutex // guards byID
	byID map[string]*bucket
}

// maxBuckets bounds the map: beyond it, buckets that are full again are forgotten.
const maxBuckets = 1024

func newBuckets(l Limits) *buckets {
	return &buckets{rate: l.Rate, burst: l.Burst, byID: make(map[string]*bucket)}
}

func (b *buckets) take(id string, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.byID[id]
	if one == nil {
		if len(b.byID) >= maxBuckets {
			for other, full := range b.byID {
				if now.Sub(full.at).Seconds()*b.rate >= b.burst {
					delete(b.byID, other)
				}
			}
		}
		one = &bucket{}
		b.byID[id] = one
	}
	return one.take(now, b.rate, b.burst)
}
