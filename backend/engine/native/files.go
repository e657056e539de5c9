package native

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"aalis/backend/engine"
	"aalis/backend/provider"
)

// How much of what went with the words one call of the model is given, the newest first. What does not
// fit is named. Servers take twenty megabytes or more; images in base64 are a third larger.
const (
	maxImages     = 20
	maxImageBytes = 20 << 20
	maxTextFile   = 64 << 10
	maxTextBytes  = 256 << 10
)

// imageTokens stands for the tokens of an image where a server reports none: what common models count
// for a picture of a screen.
const imageTokens = 1000

// shown is how a file is put to the model: words, and an image beside them.
type shown struct {
	words string
	image *provider.Image
}

// showing decides for every file of a conversation, in order, how it is put to a model. Without images
// each is named instead.
type showing struct {
	model  string // entry id
	images bool

	pictures, pictureBytes, textBytes int
	sent                              []string // ids of the images that go
}

func (s *showing) all(said []engine.Entry) []shown {
	var out []shown // newest first, turned round below
	for _, e := range slices.Backward(said) {
		for _, f := range slices.Backward(e.Files) {
			out = append(out, s.one(f))
		}
	}
	slices.Reverse(out)
	return out
}

func (s *showing) one(f engine.File) shown {
	switch {
	case f.Kind == "image":
		return s.picture(f)
	case f.Kind == "file" && f.Size <= maxTextFile && s.textBytes+int(f.Size) <= maxTextBytes && f.Read != nil:
		if words, ok := s.text(f); ok {
			return shown{words: words}
		}
	}
	return named(f, "its content is not shown here")
}

// named tells of a file what a person sees of it.
func named(f engine.File, why string) shown {
	return shown{words: fmt.Sprintf("[attached %s %q, %s, %d bytes; %s]", f.Kind, f.Name, f.Type, f.Size, why)}
}

func (s *showing) picture(f engine.File) shown {
	switch f.Type {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return named(f, "models are not shown this kind of image")
	}
	switch {
	case !s.images, slices.Contains(f.Refused, s.model):
		return named(f, "this model does not take it, so you cannot see it")
	case s.pictures == maxImages, s.pictureBytes+int(f.Size) > maxImageBytes:
		return named(f, "left out, because there are too many images")
	case f.Read == nil:
		return named(f, "it is not here any more")
	}
	data, err := f.Read(f.Size)
	if err != nil || len(data) == 0 {
		return named(f, "it is not here any more")
	}
	s.pictures, s.pictureBytes, s.sent = s.pictures+1, s.pictureBytes+len(data), append(s.sent, f.ID)
	return shown{words: fmt.Sprintf("[attached image %q]", f.Name), image: &provider.Image{Type: f.Type, Data: data}}
}

// text gives a file of words whole; false for any other.
func (s *showing) text(f engine.File) (string, bool) {
	data, err := f.Read(f.Size)
	if err != nil || !utf8.Valid(data) || bytes.ContainsFunc(data, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\r\f", r) }) {
		return "", false
	}
	s.textBytes += len(data)
	return fmt.Sprintf("[attached file %q, %d bytes]\n%s\n[end of %q]", f.Name, len(data), data, f.Name), true
}

// attach puts a message's files to its words.
func (b *builder) attach(files []engine.File, words string) (string, []provider.Image) {
	var images []provider.Image
	lines := []string{words}
	if words == "" {
		lines = nil
	}
	for _, f := range files {
		one := named(f, "its content is not shown here")
		if len(b.files) > 0 {
			one, b.files = b.files[0], b.files[1:]
		}
		lines = append(lines, one.words)
		if one.image != nil {
			images = append(images, *one.image)
		}
	}
	return strings.Join(lines, "\n"), images
}

// mayBeFiles reports whether a call that failed may go well without its images: servers say no to what
// their model cannot see in many ways, as a bad request, a model that is not found, a conversation that is
// too long, or an error of their own.
func mayBeFiles(err error) bool {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return false
	}
	switch e.Code {
	case provider.ErrRefused, provider.ErrOverflow, provider.ErrNotFound, provider.ErrServer:
		return e.Status < 502 // those are of what stands before the server
	}
	return false
}

// remember keeps which files a model would not be shown, for the rest of the turn.
func (r *run) remember(model string, ids []string) {
	for _, e := range r.said {
		for i, f := range e.Files {
			if slices.Contains(ids, f.ID) {
				e.Files[i].Refused = append(slices.Clone(f.Refused), model)
			}
		}
	}
}
