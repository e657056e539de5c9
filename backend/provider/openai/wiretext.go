package openai

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// rawText is a JSON string kept as the bytes the server meant. encoding/json would replace half a
// character by U+FFFD; servers that stream token by token do cut characters, as raw bytes or as one
// half of a surrogate pair, and the other half comes with the next chunk. A joiner puts them
// together. Anything but a string (null, numbers) is the empty text.
type rawText []byte

// UnmarshalJSON takes the string apart without judging its UTF-8.
func (t *rawText) UnmarshalJSON(b []byte) error {
	*t = nil
	if len(b) < 2 || b[0] != '"' {
		return nil
	}
	b = b[1 : len(b)-1]
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			out = append(out, b[i])
			continue
		}
		i++ // the scanner has checked the escapes
		switch b[i] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			n, err := strconv.ParseUint(string(b[i+1:i+5]), 16, 16)
			if err != nil {
				return fmt.Errorf("reading escape: %w", err)
			}
			i += 4
			out = appendUnit(out, rune(n))
		default:
			out = append(out, b[i])
		}
	}
	*t = out
	return nil
}

// appendUnit appends a UTF-16 unit; a surrogate becomes three bytes that are no UTF-8, for the
// joiner to pair.
func appendUnit(out []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
	}
	return utf8.AppendRune(out, r)
}

// joiner makes whole UTF-8 of the pieces of one text; the unfinished end of a piece waits for the
// next one.
type joiner struct{ carry []byte }

// add gives the longest whole text there is now; what can never become a character is U+FFFD.
func (j *joiner) add(piece []byte) string {
	b := append(j.carry, piece...)
	j.carry = nil
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r != utf8.RuneError || size > 1 {
			out, b = append(out, b[:size]...), b[size:]
			continue
		}
		high, isHigh, whole := surrogate(b, 0xA0)
		if isHigh {
			rest := b[min(3, len(b)):]
			low, isLow, lowWhole := surrogate(rest, 0xB0)
			if whole && isLow && lowWhole {
				out, b = utf8.AppendRune(out, utf16.DecodeRune(high, low)), b[6:]
				continue
			}
			if !whole || len(rest) == 0 || (isLow && !lowWhole) || string(rest) == "\xED" {
				j.carry = append([]byte(nil), b...)
				break
			}
			out, b = utf8.AppendRune(out, utf8.RuneError), b[3:]
			continue
		}
		if !utf8.FullRune(b) {
			j.carry = append([]byte(nil), b...)
			break
		}
		out, b = utf8.AppendRune(out, utf8.RuneError), b[1:]
	}
	return string(out)
}

// flush gives up on an unfinished end.
func (j *joiner) flush() string {
	if len(j.carry) == 0 {
		return ""
	}
	j.carry = nil
	return string(utf8.RuneError)
}

// surrogate reads the three-byte form of a high (second byte from 0xA0) or low (from 0xB0) half at
// the start of b. begins says that b begins like one, whole that all three bytes are there.
func surrogate(b []byte, from byte) (r rune, begins, whole bool) {
	if len(b) < 2 || b[0] != 0xED || b[1] < from || b[1] > from+0x0F {
		return 0, false, false
	}
	if len(b) < 3 {
		return 0, true, false
	}
	return rune(0xD000) | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F), true, true
}

// content is the text of a delta in any of its forms: a string, null, or a list of parts as Mistral
// streams them, of which some are thinking.
type content struct {
	text     []byte
	thinking []byte
}

// UnmarshalJSON reads either form; an unknown one is empty, so that a new kind of part does not end
// the answer.
func (c *content) UnmarshalJSON(b []byte) error {
	*c = content{}
	if len(b) == 0 || b[0] != '[' {
		return (*rawText)(&c.text).UnmarshalJSON(b)
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     rawText         `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(b, &parts) != nil {
		return nil
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			c.text = append(c.text, p.Text...)
		case "thinking":
			var inner content
			if inner.UnmarshalJSON(p.Thinking) == nil {
				c.thinking = append(c.thinking, inner.text...)
			}
		}
	}
	return nil
}
