package files

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"aalis/backend/tool"
)

//go:embed read_file.md
var readDescription string

const (
	defaultLines = 2000
	// readRoom is how much of a result is the file's; the rest is for the closing line.
	readRoom = tool.MaxResultBytes - 512
	// maxCount bounds how far a large file is read only to count its lines.
	maxCount = 64 << 20
)

type readParams struct {
	Path   string `json:"path" jsonschema:"minLength=1" jsonschema_description:"The file, relative to the session's folder."`
	Offset int    `json:"offset,omitempty" jsonschema:"minimum=1" jsonschema_description:"First line to read, counted from 1. Default: 1."`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1" jsonschema_description:"How many lines to read at most. Default: 2000."`
}

func (f family) readFile() tool.Definition {
	return tool.Define(tool.Definition{
		Name:        "read_file",
		Description: readDescription,
		Example:     json.RawMessage(`{"path":"src/main.go","offset":200,"limit":100}`),
		Effect:      tool.Read,
	}, func(_ context.Context, call tool.Call, p readParams) (tool.Prepared, error) {
		folder, target, err := f.at(call.Place, p.Path)
		if err != nil {
			return tool.Prepared{}, err
		}
		defer folder.Close()
		if target.Info == nil {
			return tool.Prepared{}, folder.Missing(p.Path, target)
		}
		return tool.Prepared{Execute: func(ctx context.Context, _ tool.Output) (tool.Result, error) {
			return f.read(ctx, call.Place, p)
		}}, nil
	})
}

func (f family) read(ctx context.Context, place tool.Place, p readParams) (tool.Result, error) {
	folder, target, err := f.at(place, p.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer folder.Close()
	file, info, err := folder.OpenFile(p.Path, target)
	if err != nil {
		return tool.Result{}, err
	}
	defer file.Close()

	input := bufio.NewReaderSize(file, 64<<10)
	head, err := input.Peek(8 << 10)
	if err != nil && err != io.EOF {
		return tool.Result{}, folder.Explain(p.Path, err)
	}
	if tool.IsBinary(head) || bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return tool.Result{}, binary(p.Path, head, info.Size())
	}
	limit := defaultLines
	if p.Limit > 0 {
		limit = p.Limit
	}
	s := selection{first: max(p.Offset, 1), limit: limit}
	if err := s.read(ctx, input); err != nil {
		return tool.Result{}, folder.Explain(p.Path, err)
	}
	return s.result(p.Path, info.Size())
}

// selection collects a range of lines within readRoom bytes while the file goes by.
type selection struct {
	first, limit int
	text         []byte
	lines        int  // taken
	cut          bool // the only line taken is longer than fits
	full         bool // nothing more is taken
	total        int  // lines of the file, as far as it was read
	uncounted    bool // the file goes on
}

func (s *selection) read(ctx context.Context, input *bufio.Reader) error {
	scanned := 0
	for inside := false; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece, err := input.ReadSlice('\n')
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if len(piece) > 0 {
			if !inside {
				s.total++
			}
			s.take(piece, inside)
			inside = piece[len(piece)-1] != '\n'
		}
		if err == io.EOF {
			return nil
		}
		if scanned += len(piece); scanned > maxCount && s.past() {
			s.uncounted = true
			return nil
		}
	}
}

// past reports whether no line to come can be wanted.
func (s *selection) past() bool { return s.full || s.total >= s.first+s.limit }

func (s *selection) take(piece []byte, continued bool) {
	if s.full || s.total < s.first || s.total >= s.first+s.limit {
		return
	}
	if !continued {
		s.lines++
	}
	if room := readRoom - len(s.text); len(piece) > room {
		s.full = true
		if s.lines > 1 { // the line that does not fit comes whole with the next part
			s.text = s.text[:bytes.LastIndexByte(s.text[:len(s.text)], '\n')+1]
			s.lines--
			return
		}
		for room > 0 && !utf8.RuneStart(piece[room]) {
			room--
		}
		s.text, s.cut = append(s.text, piece[:room]...), true
		return
	}
	s.text = append(s.text, piece...)
}

func (s *selection) result(path string, size int64) (tool.Result, error) {
	if s.total == 0 {
		return tool.Result{Text: "[empty file]"}, nil
	}
	if s.lines == 0 {
		return tool.Result{}, tool.Refuse(tool.InvalidArgs, "%q has only %d lines; offset %d is behind its end", path, s.total, s.first)
	}
	var notes []string
	last := s.first + s.lines - 1
	if s.cut {
		notes = append(notes, fmt.Sprintf("[line %d is too long: only its first %d bytes are shown]", s.first, len(s.text)))
	}
	if s.first > 1 || last < s.total || s.uncounted {
		total := fmt.Sprint(s.total)
		if s.uncounted {
			total = fmt.Sprintf("more than %d (%d bytes)", s.total, size)
		}
		note := fmt.Sprintf("[lines %d to %d of %s", s.first, last, total)
		if last < s.total || s.uncounted {
			note += fmt.Sprintf("; go on with offset %d", last+1)
		}
		notes = append(notes, note+"]")
	}
	if lossy(s.text) {
		notes = append(notes, "[bytes that are not UTF-8 text are shown as U+FFFD]")
	}
	text := tool.Text(s.text)
	if len(notes) > 0 {
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += strings.Join(notes, "\n")
	}
	text, truncated := tool.Truncate(text) // replaced bytes can be longer than what they replace
	return tool.Result{Text: text, Truncated: truncated || s.full}, nil
}
