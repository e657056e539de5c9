package jsonrpc

import (
	"bytes"
	"strconv"
	"strings"
)

// maxDepth bounds the nesting of a frame, so that no reader of it needs a deep stack.
const maxDepth = 64

// scan walks over valid JSON text and looks for what encoding/json lets pass: a key that stands twice
// in one object, half a surrogate pair, nesting without end. For an object it returns the raw text of
// its members, also when it finds something; of a member that stands twice, none. For any other value
// the members are nil.
func scan(text []byte) (map[string][]byte, *Error) {
	s := &scanner{text: text}
	s.space()
	if s.text[s.at] == '{' {
		s.members = make(map[string][]byte, 4)
	}
	s.value(1)
	return s.members, s.fail
}

type scanner struct {
	text    []byte // valid JSON
	at      int
	members map[string][]byte // of the outermost object
	fail    *Error            // the first thing found
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n', ',', ':':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) note(e *Error) {
	if s.fail == nil {
		s.fail = e
	}
}

// value steps over one value. Because the text is known to be valid, commas and colons are as good as
// space.
func (s *scanner) value(depth int) {
	if depth > maxDepth {
		s.note(Refuse(InvalidRequest, "wire.frame-deep", "max", maxDepth))
		s.skip()
		return
	}
	switch s.text[s.at] {
	case '{':
		s.object(depth)
	case '[':
		s.at++
		for s.space(); s.text[s.at] != ']'; s.space() {
			s.value(depth + 1)
		}
		s.at++
	case '"':
		s.string()
	default:
		for s.at < len(s.text) && bytes.IndexByte([]byte(" \t\r\n,:]}"), s.text[s.at]) < 0 {
			s.at++
		}
	}
}

func (s *scanner) object(depth int) {
	s.at++
	var seen keys
	for s.space(); s.text[s.at] != '}'; s.space() {
		key := s.key()
		twice := seen.add(key)
		if twice {
			s.note(Refuse(InvalidRequest, "wire.frame-duplicate", "key", Shorten(key)))
		}
		s.space()
		start := s.at
		s.value(depth + 1)
		if depth == 1 {
			if twice {
				delete(s.members, key)
			} else {
				s.members[key] = s.text[start:s.at]
			}
		}
	}
	s.at++
}

// skip steps over a value that is nested too deep, without recursion.
func (s *scanner) skip() {
	for open := 0; s.at < len(s.text); {
		switch s.text[s.at] {
		case '"':
			s.string()
			continue
		case '{', '[':
			open++
		case '}', ']':
			if open == 0 {
				return
			}
			open--
		case ',':
			if open == 0 {
				return
			}
		}
		s.at++
	}
}

func (s *scanner) key() string {
	start := s.at
	if !s.string() {
		return string(s.text[start+1 : s.at-1])
	}
	return unquote(s.text[start:s.at])
}

// string steps over a string and reports whether it holds escapes.
func (s *scanner) string() (escaped bool) {
	s.at++
	for {
		next := bytes.IndexAny(s.text[s.at:], `"\`)
		s.at += next
		if s.text[s.at] == '"' {
			s.at++
			return escaped
		}
		escaped = true
		if s.text[s.at+1] != 'u' {
			s.at += 2
			continue
		}
		s.surrogates()
	}
}

// surrogates steps over a \u escape, and over the second one of a pair.
func (s *scanner) surrogates() {
	unit := s.unit(s.at)
	s.at += len(`\uXXXX`)
	switch {
	case unit >= 0xDC00 && unit < 0xE000:
		s.note(Refuse(InvalidRequest, "wire.frame-surrogate"))
	case unit >= 0xD800 && unit < 0xDC00:
		if low := s.unit(s.at); low < 0xDC00 || low >= 0xE000 {
			s.note(Refuse(InvalidRequest, "wire.frame-surrogate"))
			return
		}
		s.at += len(`\uXXXX`)
	}
}

// unit is the code unit of the \u escape at position at, or 0 when none stands there.
func (s *scanner) unit(at int) uint64 {
	if at+6 > len(s.text) || s.text[at] != '\\' || s.text[at+1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(s.text[at+2:at+6]), 16, 16)
	if err != nil {
		return 0
	}
	return unit
}

// keys is the set of one object's keys: a list while they are few, which they nearly always are.
type keys struct {
	list []string
	set  map[string]struct{}
}

// add reports whether key was there already.
func (k *keys) add(key string) bool {
	if k.set != nil {
		_, twice := k.set[key]
		k.set[key] = struct{}{}
		return twice
	}
	for _, other := range k.list {
		if other == key {
			return true
		}
	}
	if k.list = append(k.list, key); len(k.list) > 16 {
		k.set = make(map[string]struct{}, 2*len(k.list))
		for _, other := range k.list {
			k.set[other] = struct{}{}
		}
	}
	return false
}

// Shorten cuts what a client sent to a length that a sentence can quote.
func Shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
