package openai

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// maxEventBytes bounds one event of the stream, and an answer that is not a stream. A whole tool
// call with a large file in it fits; a server gone wild does not fill the memory.
const maxEventBytes = 8 << 20

var errTooLong = errors.New("event longer than the limit")

// event is one dispatched event: its name ("" by default) and its data lines joined by newlines.
type event struct {
	name string
	data string
	cut  bool // the stream ended before the blank line
}

// sse splits a byte stream into events as the WHATWG standard says: lines end in LF, CRLF or CR,
// comments are skipped, a blank line dispatches. Unlike the standard, an event that the end of the
// stream cuts short is given out too: some servers leave out the last blank line.
type sse struct {
	in     *bufio.Reader
	skipLF bool // the last line ended in CR; an LF right after it belongs to it
}

// next gives the next event that has data, io.EOF after the last one, errTooLong, or the reader's
// own error.
func (s *sse) next() (event, error) {
	var (
		ev   event
		data strings.Builder
		has  bool
		size int
	)
	for {
		line, err := s.line()
		// A line that a broken connection cut off is not given out: half a JSON document is no event.
		if err != nil && (!errors.Is(err, io.EOF) || line == "") {
			if errors.Is(err, io.EOF) && has {
				ev.data, ev.cut = data.String(), true
				return ev, nil
			}
			return event{}, err
		}
		if line == "" {
			if has {
				ev.data = data.String()
				return ev, nil
			}
			ev = event{}
			continue
		}
		if size += len(line); size > maxEventBytes {
			return event{}, errTooLong
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			if has {
				data.WriteByte('\n')
			}
			data.WriteString(value)
			has = true
		case "event":
			ev.name = value
		}
	}
}

// line reads up to the end of a line and leaves the end out. At the end of the stream it gives what
// there is together with io.EOF.
func (s *sse) line() (string, error) {
	var line []byte
	for {
		b, err := s.in.ReadByte()
		if err != nil {
			return string(line), err
		}
		if s.skipLF {
			s.skipLF = false
			if b == '\n' {
				continue
			}
		}
		switch b {
		case '\n':
			return string(line), nil
		case '\r':
			s.skipLF = true
			return string(line), nil
		}
		if len(line) >= maxEventBytes {
			return "", errTooLong
		}
		line = append(line, b)
	}
}
