package native

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"aalis/backend/engine"
	"aalis/backend/provider"
)

func attached(kind, mime, name, data string) engine.File {
	return engine.File{ID: name, Kind: kind, Name: name, Type: mime, Size: int64(len(data)), Read: func(most int64) ([]byte, error) {
		return []byte(data[:min(int64(len(data)), most)]), nil
	}}
}

func image(name string) engine.File { return attached("image", "image/png", name, "PNG of "+name) }

func textFile(name, words string) engine.File {
	return attached("file", "application/octet-stream", name, words)
}

// put gives the words and the images of the one message that said makes.
func put(t *testing.T, s showing, said ...engine.Entry) (words string, images []string) {
	t.Helper()
	files := s.all(said)
	for _, m := range messages(said, files...) {
		words += m.Text
		for _, i := range m.Images {
			images = append(images, string(i.Data))
		}
	}
	return words, images
}

func said(text string, files ...engine.File) engine.Entry {
	return engine.Entry{Kind: engine.EntryUser, TurnID: "1", Text: text, Files: files}
}

func TestShowing(t *testing.T) {
	see := showing{model: "test/m", images: true}
	t.Run("an image goes beside its words, also without any", func(t *testing.T) {
		words, images := put(t, see, said("what is this?", image("a.png")))
		if words != "what is this?\n[attached image \"a.png\"]" || fmt.Sprint(images) != "[PNG of a.png]" {
			t.Errorf("%q %q", words, images)
		}
		if words, images = put(t, see, said("", image("a.png"))); words != `[attached image "a.png"]` || len(images) != 1 {
			t.Errorf("%q %q", words, images)
		}
	})
	t.Run("a small file of words is read to her, another is named", func(t *testing.T) {
		words, _ := put(t, see, said("read", textFile("a.md", "# héllo\n⟦not the program⟧"), textFile("b.bin", "\x00\x01"), textFile("c.txt", "\xff\xfe"), textFile("d.csv", strings.Repeat("x", maxTextFile+1))))
		want := "read\n[attached file \"a.md\", 30 bytes]\n# héllo\n[not the program]\n[end of \"a.md\"]\n" +
			"[attached file \"b.bin\", application/octet-stream, 2 bytes; its content is not shown here]\n" +
			"[attached file \"c.txt\", application/octet-stream, 2 bytes; its content is not shown here]\n" +
			"[attached file \"d.csv\", application/octet-stream, 65537 bytes; its content is not shown here]"
		if words != want {
			t.Errorf("%q\nwant %q", words, want)
		}
	})
	t.Run("what is too much is left out, the oldest first", func(t *testing.T) {
		var many []engine.File
		for i := range maxImages + 2 {
			many = append(many, image(fmt.Sprintf("%02d.png", i)))
		}
		words, images := put(t, see, said("", many...))
		if len(images) != maxImages || images[0] != "PNG of 02.png" || strings.Count(words, "left out") != 2 || !strings.Contains(words, `"01.png", image/png, 13 bytes; left out`) {
			t.Errorf("%q %q", words, images)
		}
		big := func(name string) engine.File {
			return attached("image", "image/png", name, strings.Repeat("x", maxImageBytes/2))
		}
		if _, images = put(t, see, said("", big("a"), big("b"), big("c"))); len(images) != 2 {
			t.Errorf("%d images", len(images))
		}
		var texts []engine.File
		for range 5 {
			texts = append(texts, textFile("a", strings.Repeat("y", maxTextFile)))
		}
		if words, _ = put(t, see, said("", texts...)); strings.Count(words, "[end of") != 4 || !strings.HasPrefix(words, `[attached file "a", application/octet-stream, 65536 bytes; its`) {
			t.Errorf("%d files of words", strings.Count(words, "[end of"))
		}
	})
	t.Run("what no model is shown, what this one refused, and what is gone are named and say why", func(t *testing.T) {
		refused, elsewhere, gone, unkept := image("no.png"), image("yes.png"), image("gone.png"), image("unkept.png")
		refused.Refused, elsewhere.Refused = []string{"test/m"}, []string{"test/other"}
		gone.Read = func(int64) ([]byte, error) { return nil, errors.New("no such file") }
		unkept.Read = nil
		words, images := put(t, see, said("", refused, elsewhere, gone, unkept, attached("image", "image/heic", "x.heic", "x"), attached("video", "video/mp4", "f.mp4", "x")))
		if fmt.Sprint(images) != "[PNG of yes.png]" || strings.Count(words, "does not take it") != 1 || strings.Count(words, "not here any more") != 2 ||
			!strings.Contains(words, `"x.heic", image/heic, 1 bytes; models are not shown this kind`) || !strings.Contains(words, `[attached video "f.mp4", video/mp4, 1 bytes; its`) {
			t.Errorf("%q %q", words, images)
		}
		if _, images = put(t, showing{model: "test/m"}, said("", image("a.png"))); len(images) != 0 {
			t.Error("images although none are wanted")
		}
	})
	t.Run("inputs of one turn keep their files", func(t *testing.T) {
		words, images := put(t, see, said("one", image("a.png")), said("two", image("b.png")))
		if words != "one\n[attached image \"a.png\"]\n\ntwo\n[attached image \"b.png\"]" || len(images) != 2 {
			t.Errorf("%q %q", words, images)
		}
	})
}

func TestMayBeFiles(t *testing.T) {
	for code, want := range map[provider.ErrorCode]bool{
		provider.ErrRefused: true, provider.ErrOverflow: true, provider.ErrNotFound: true, provider.ErrServer: true,
		provider.ErrAuth: false, provider.ErrRateLimit: false, provider.ErrUnreachable: false, provider.ErrTimeout: false, provider.ErrGarbage: false,
	} {
		if got := mayBeFiles(fmt.Errorf("x: %w", &provider.Error{Code: code})); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
	if mayBeFiles(&provider.Error{Code: provider.ErrServer, Status: 503}) || mayBeFiles(errors.New("x")) {
		t.Error("what has nothing to do with files")
	}
}
