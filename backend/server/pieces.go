package server

import "strings"

const (
	firstPiece = 1 << 10
	mostPiece  = 1 << 20
)

// pieces gathers a frame of unknown length. Growing one array instead would copy a large frame
// several times over and leave as much garbage.
type pieces struct {
	parts [][]byte
	size  int64
}

// space gives where to read next, never empty.
func (p *pieces) space() []byte {
	if n := len(p.parts); n > 0 {
		if last := p.parts[n-1]; len(last) < cap(last) {
			return last[len(last):cap(last)]
		}
	}
	next := make([]byte, 0, min(max(p.size, firstPiece), mostPiece))
	p.parts = append(p.parts, next)
	return next[:cap(next)]
}

// took says how much of space was filled.
func (p *pieces) took(n int) {
	last := &p.parts[len(p.parts)-1]
	*last = (*last)[:len(*last)+n]
	p.size += int64(n)
}

// join gives the whole, once.
func (p *pieces) join() string {
	var whole strings.Builder
	whole.Grow(int(p.size))
	for i, part := range p.parts {
		whole.Write(part)
		p.parts[i] = nil
	}
	return whole.String()
}
