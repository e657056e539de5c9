package event

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// NewID makes a UUIDv7 from the time and the random source of the process, with no state of its
// own, so that tests with a fixed clock and random source get the same ids.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[6:]) // never fails (crypto/rand)
	ms := uint64(time.Now().UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (8 * (5 - i)))
	}
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return format(b)
}

func format(b [16]byte) string {
	var s [36]byte
	hex.Encode(s[:8], b[:4])
	s[8] = '-'
	hex.Encode(s[9:13], b[4:6])
	s[13] = '-'
	hex.Encode(s[14:18], b[6:8])
	s[18] = '-'
	hex.Encode(s[19:23], b[8:10])
	s[23] = '-'
	hex.Encode(s[24:], b[10:])
	return string(s[:])
}
