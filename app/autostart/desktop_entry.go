package autostart

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// desktopEntry is the format of freedesktop.org's autostart and desktop entry specifications.
type desktopEntry struct{}

// trayFirst are the seconds after which the desktops that obey it start the program, so that the panel
// which shows its icon is there.
const trayFirst = 3

const (
	keyHidden = "Hidden"                    // the specification's: as if the file were not there
	keyGNOME  = "X-GNOME-Autostart-enabled" // what GNOME's and MATE's settings write
)

// through starts a program with a percent sign in its path: GLib, and GNOME with it, does not undouble
// the one in the first word, and finds no such program.
const through = "env"

func (desktopEntry) render(e Entry) ([]byte, error) {
	var exec []string
	if strings.Contains(e.Program, "%") {
		exec = append(exec, through)
	}
	for _, arg := range e.command() {
		if !utf8.ValidString(arg) || strings.ContainsRune(arg, 0) {
			return nil, fmt.Errorf("%q is no text, which the entry must be", arg)
		}
		exec = append(exec, quoteExec(arg))
	}
	// Whatever stands before the first = of a program's name is taken for a variable by some.
	if strings.Contains(e.Program, "=") {
		return nil, fmt.Errorf("%s has a = in its path, which the desktops do not start", e.Program)
	}
	var b bytes.Buffer
	b.WriteString("[Desktop Entry]\nType=Application\n")
	for _, line := range [][2]string{
		{"Name", e.Name},
		{"Comment", e.Comment},
		{"Exec", strings.Join(exec, " ")},
		{"TryExec", e.Program},
		{"Icon", "aalis"},
	} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s=%s\n", line[0], escapeValue(line[1]))
		}
	}
	fmt.Fprintf(&b, "Terminal=false\nStartupNotify=false\nX-GNOME-Autostart-Delay=%d\nX-KDE-autostart-after=panel\n", trayFirst)
	return b.Bytes(), nil
}

// execPlain are the characters that need no quotes in Exec; the others are reserved, or may be one day.
func execPlain(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/-_.,:+@", r)
}

// quoteExec makes one argument of Exec: quotes where they are needed, and a percent sign doubled, which
// otherwise begins a field code.
func quoteExec(arg string) string {
	doubled := strings.ReplaceAll(arg, "%", "%%")
	if arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return !execPlain(r) && r != '%' }) {
		return doubled
	}
	return `"` + strings.NewReplacer(`"`, `\"`, "`", "\\`", `$`, `\$`, `\`, `\\`).Replace(doubled) + `"`
}

// escapeValue writes a value of the type string. Values begin after blanks, so a first one is escaped.
func escapeValue(s string) string {
	s = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(s)
	if strings.HasPrefix(s, " ") {
		s = `\s` + s[1:]
	}
	return s
}

func unescapeValue(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 's':
			b.WriteByte(' ')
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case '\\':
			b.WriteByte('\\')
		default: // unknown ones stand for themselves
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String()
}

// value gives a key of the main group as it is written.
func (desktopEntry) value(content []byte, key string) (value string, there bool) {
	inside := false
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "[") {
			inside = line == "[Desktop Entry]"
			continue
		}
		name, v, pair := strings.Cut(line, "=")
		if inside && pair && strings.TrimSpace(name) == key {
			return strings.TrimLeft(v, " \t"), true
		}
	}
	return "", false
}

func (d desktopEntry) read(content []byte) (c command, off bool, err error) {
	exec, there := d.value(content, "Exec")
	if !there {
		err = fmt.Errorf("it has no Exec")
	} else {
		c, err = splitExec(unescapeValue(exec))
		if len(c) > 1 && c[0] == through && strings.Contains(c[1], "%") {
			c = c[1:]
		}
	}
	hidden, _ := d.value(content, keyHidden)
	enabled, said := d.value(content, keyGNOME)
	return c, strings.TrimSpace(hidden) == "true" || said && strings.TrimSpace(enabled) == "false", err
}

// splitExec takes an Exec apart as the specification says: quoted arguments, backslashes within them,
// and field codes, which are dropped: at log-in nothing is given to them.
func splitExec(exec string) (c command, err error) {
	var arg strings.Builder
	open, quoted := false, false
	end := func() {
		if open {
			c = append(c, arg.String())
		}
		arg.Reset()
		open = false
	}
	runes := []rune(exec)
	for i := 0; i < len(runes); i++ {
		next := func() (rune, bool) {
			if i+1 == len(runes) {
				return 0, false
			}
			i++
			return runes[i], true
		}
		switch r := runes[i]; {
		case r == '"':
			quoted, open = !quoted, true
		case r == '\\':
			escaped, there := next()
			if !there {
				return nil, fmt.Errorf("its Exec ends in a backslash")
			}
			arg.WriteRune(escaped)
			open = true
		case r == '%':
			if code, there := next(); there && code == '%' {
				arg.WriteRune('%')
				open = true
			}
		case (r == ' ' || r == '\t' || r == '\n') && !quoted:
			end()
		default:
			arg.WriteRune(r)
			open = true
		}
	}
	if quoted {
		return nil, fmt.Errorf("its Exec has a quote that does not end")
	}
	end()
	return c, nil
}

func (d desktopEntry) name(content []byte) (name, comment string) {
	name, _ = d.value(content, "Name")
	comment, _ = d.value(content, "Comment")
	return unescapeValue(name), unescapeValue(comment)
}

// turn takes out what switches the entry off, and puts it in.
func (desktopEntry) turn(content []byte, on bool) []byte {
	var b bytes.Buffer
	inside := false
	for line := range bytes.Lines(content) {
		bare := bytes.TrimRight(line, "\r\n")
		if bytes.HasPrefix(bare, []byte("[")) {
			inside = string(bare) == "[Desktop Entry]"
		}
		name, _, pair := bytes.Cut(bare, []byte("="))
		key := string(bytes.TrimSpace(name))
		if inside && pair && (key == keyHidden || key == keyGNOME) {
			continue
		}
		b.Write(line)
		if inside && !on && bytes.HasPrefix(bare, []byte("[")) {
			if !bytes.HasSuffix(line, []byte("\n")) {
				b.WriteByte('\n')
			}
			b.WriteString(keyHidden + "=true\n")
		}
	}
	return b.Bytes()
}
