package shell

import (
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"aalis/backend/tool"
)

// pump turns the bytes of a command into text: for the stream as they come, for the result as a
// terminal would have left them. Its methods are called by one goroutine at a time: copy, then
// finish, then text.
type pump struct {
	out     tool.Output
	excerpt *tool.Excerpt
	partial []byte // the beginning of a rune whose rest is not here yet
	hider   hider
	line    overwriter
}

// noteRoom is kept free in the result for the lines that say how the command ended.
const noteRoom = 512

func newPump(out tool.Output, secrets []string) *pump {
	p := &pump{out: out, excerpt: tool.NewExcerpt(tool.MaxResultBytes - noteRoom), hider: hider{secrets: secrets}}
	p.line.emit = p.excerpt.Add
	return p
}

// copy reads until the end, or until the reader is closed or its deadline passes.
func (p *pump) copy(reader *os.File) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := reader.Read(buffer)
		if n > 0 {
			p.add(buffer[:n])
		}
		if err != nil {
			return // io.EOF, or the call gave up on whoever still holds the pipe
		}
	}
}

func (p *pump) add(b []byte) {
	b = append(p.partial, b...)
	whole := wholeRunes(b)
	p.partial = append([]byte(nil), b[whole:]...)
	p.emit(p.hider.add(tool.Text(b[:whole])))
}

func (p *pump) finish() {
	rest := p.hider.add(tool.Text(p.partial))
	p.partial = nil
	p.emit(rest + p.hider.flush())
	p.line.flush()
}

func (p *pump) emit(s string) {
	if s == "" {
		return
	}
	p.out(s)
	p.line.add(s)
}

func (p *pump) text() string    { return p.excerpt.String() }
func (p *pump) truncated() bool { return p.excerpt.Truncated() }

// wholeRunes is how much of b can be decoded now: all but an unfinished rune at its end.
func wholeRunes(b []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		c := b[len(b)-back]
		if !utf8.RuneStart(c) {
			continue
		}
		if !utf8.FullRune(b[len(b)-back:]) {
			return len(b) - back
		}
		break
	}
	return len(b)
}

// redacted stands where a known secret stood.
const redacted = "[redacted]"

// hider replaces known secrets in a stream, also where a piece ends inside one.
type hider struct {
	secrets []string // longest first
	held    string   // the possible beginning of a secret
}

// minSecret: a shorter value would hide ordinary text all over.
const minSecret = 6

// worthHiding sorts secrets longest first, so that one that contains another goes whole.
func worthHiding(secrets []string) []string {
	kept := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		if secret = strings.TrimSpace(secret); len(secret) >= minSecret {
			kept = append(kept, secret)
		}
	}
	slices.SortFunc(kept, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(kept)
}

func (h *hider) add(s string) string {
	if len(h.secrets) == 0 {
		return s
	}
	s = h.held + s
	cut := len(s)
	for _, secret := range h.secrets {
		for n := min(len(secret)-1, len(s)); n > len(s)-cut; n-- {
			if strings.HasSuffix(s, secret[:n]) {
				cut = len(s) - n
				break
			}
		}
	}
	for moved := true; moved; { // no secret may lie across the cut
		moved = false
		for _, secret := range h.secrets {
			from := max(0, cut-len(secret)+1)
			if at := strings.Index(s[from:min(len(s), cut+len(secret)-1)], secret); at >= 0 && from+at < cut {
				cut, moved = from+at, true
			}
		}
	}
	h.held = s[cut:]
	return h.replace(s[:cut])
}

func (h *hider) flush() string {
	held := h.held
	h.held = ""
	return h.replace(held)
}

func (h *hider) replace(s string) string {
	for _, secret := range h.secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	return s
}

// overwriter drops what a carriage return overwrote, as progress bars do, so that the model reads
// the last state of a line and not each of its states.
type overwriter struct {
	emit    func(string)
	line    strings.Builder // since the last line end
	pending bool            // a carriage return came last: a line end, or an overwrite
	flushed bool            // a part of this line went out already, too long to be held
}

// maxHeldLine is how much of a line without an end is held back.
const maxHeldLine = 16 << 10

func (o *overwriter) add(s string) {
	for s != "" {
		at := strings.IndexAny(s, "\r\n")
		text := s
		if at >= 0 {
			text = s[:at]
		}
		if text != "" {
			o.text(text)
		}
		if at < 0 {
			return
		}
		if s[at] == '\r' {
			o.pending = true
		} else {
			o.pending = false
			o.line.WriteByte('\n')
			o.send()
			o.flushed = false
		}
		s = s[at+1:]
	}
}

func (o *overwriter) text(s string) {
	if o.pending {
		o.pending = false
		if o.flushed {
			o.line.WriteByte('\n')
		} else {
			o.line.Reset()
		}
	}
	o.line.WriteString(s)
	if o.line.Len() > maxHeldLine {
		o.send()
		o.flushed = true
	}
}

func (o *overwriter) flush() { o.send() }

func (o *overwriter) send() {
	o.emit(o.line.String())
	o.line.Reset()
}
