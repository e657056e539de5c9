package search

import (
	"fmt"
	"regexp"
	"strings"
)

// compileGlob gives the expression that matches whole slash-separated paths: * and ? stay within a
// name, ** as a whole component stands for any number of folders, [...] is a class, \ takes the
// next character literally, and {a,b} is a choice when braces is set. ? and classes take a rune,
// where git takes a byte. Matching takes time linear in the path, whatever the pattern.
func compileGlob(pattern string, braces bool) (*regexp.Regexp, error) {
	t := translator{rest: pattern, braces: braces}
	t.out.WriteString(`(?s)\A`)
	for t.rest != "" {
		if err := t.next(); err != nil {
			return nil, fmt.Errorf("%w in the pattern %q", err, pattern)
		}
	}
	if t.depth > 0 {
		return nil, fmt.Errorf("a { without } in the pattern %q", pattern)
	}
	t.out.WriteString(`\z`)
	compiled, err := regexp.Compile(t.out.String())
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be used: %w", pattern, err)
	}
	return compiled, nil
}

type translator struct {
	out    strings.Builder
	rest   string
	done   string // what was read
	braces bool
	depth  int
}

func (t *translator) take(n int) string {
	taken := t.rest[:n]
	t.done, t.rest = t.done+taken, t.rest[n:]
	return taken
}

func (t *translator) next() error {
	atStart := t.done == "" || strings.HasSuffix(t.done, "/")
	stars := len(t.rest) - len(strings.TrimLeft(t.rest, "*"))
	switch c := t.rest[0]; {
	case atStart && stars > 1 && strings.HasPrefix(t.rest[stars:], "/"):
		t.take(stars + 1)
		t.out.WriteString(`(?:.*/)?`)
	case atStart && stars > 1 && stars == len(t.rest):
		t.take(stars)
		t.out.WriteString(`.+`)
	case stars > 0:
		t.take(stars)
		t.out.WriteString(`[^/]*`)
	case c == '?':
		t.take(1)
		t.out.WriteString(`[^/]`)
	case c == '[':
		return t.class()
	case c == '\\':
		if len(t.rest) == 1 {
			return fmt.Errorf("a \\ at the end")
		}
		t.take(1)
		t.literal()
	case t.braces && c == '{':
		t.take(1)
		t.depth++
		t.out.WriteString(`(?:`)
	case t.braces && c == '}' && t.depth > 0:
		t.take(1)
		t.depth--
		t.out.WriteString(`)`)
	case t.braces && c == ',' && t.depth > 0:
		t.take(1)
		t.out.WriteString(`|`)
	default:
		t.literal()
	}
	return nil
}

func (t *translator) literal() {
	n := 1
	for n < len(t.rest) && t.rest[n]&0xC0 == 0x80 { // the rest of a rune
		n++
	}
	t.out.WriteString(regexp.QuoteMeta(t.take(n)))
}

// class translates [a-z], [!a-z], [^a-z]; a class never matches a slash.
func (t *translator) class() error {
	body := t.rest[1:]
	negated := strings.HasPrefix(body, "!") || strings.HasPrefix(body, "^")
	if negated {
		body = body[1:]
	}
	var class strings.Builder
	for i := 0; ; i++ {
		if i >= len(body) {
			return fmt.Errorf("a [ without ]")
		}
		c := body[i]
		if c == ']' && i > 0 {
			t.take(len(t.rest) - len(body) + i + 1)
			break
		}
		switch {
		case c == '[' && strings.HasPrefix(body[i:], "[:") && strings.Contains(body[i+2:], ":]"):
			end := i + 2 + strings.Index(body[i+2:], ":]") + 2
			class.WriteString(body[i:end])
			i = end - 1
		case c == '\\' && i+1 < len(body):
			i++
			if body[i] < 0x80 && !isWordByte(body[i]) { // \d and the like are plain letters here
				class.WriteByte('\\')
			}
			class.WriteByte(body[i])
		case c == '[' || c == ']' || c == '^' || c == '&' || c == '~':
			class.WriteString(`\` + string(c))
		case c == '\\':
			class.WriteString(`\\`)
		default:
			class.WriteByte(c)
		}
	}
	if negated {
		t.out.WriteString("[^/" + class.String() + "]")
		return nil
	}
	t.out.WriteString("[" + class.String() + "]")
	return nil
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}
