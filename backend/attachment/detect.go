package attachment

import (
	"bytes"
	"io"
)

// The kinds of attachments. What is not media is a file.
const (
	Image = "image"
	Audio = "audio"
	Video = "video"
	File  = "file"
)

// Unknown is the type of what is no media.
const Unknown = "application/octet-stream"

// format is what one kind of bytes begins with. The list is closed on purpose: these are the only types
// that are ever served to be shown, so nothing that can hold a script (SVG, HTML, PDF) may come in
// (decisions I3, SEC-11).
type format struct {
	kind, mime string
	is         func(head []byte) bool
}

var formats = []format{
	{Image, "image/png", begins("\x89PNG\r\n\x1a\n")},
	{Image, "image/jpeg", begins("\xff\xd8\xff")},
	{Image, "image/gif", anyOf(begins("GIF87a"), begins("GIF89a"))},
	{Image, "image/webp", riff("WEBP")},
	{Image, "image/bmp", bitmap},
	{Image, "image/avif", brand("avif", "avis")},
	{Image, "image/heic", brand("heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1")},
	{Audio, "audio/wav", riff("WAVE")},
	{Audio, "audio/flac", begins("fLaC")},
	{Audio, "audio/amr", anyOf(begins("#!AMR\n"), begins("#!AMR-WB\n"))},
	{Audio, "audio/mp4", brand("M4A ", "M4B ", "M4P ")},
	{Video, "video/ogg", oggOf("\x80theora")},
	{Audio, "audio/ogg", begins("OggS")},
	{Audio, "audio/mpeg", anyOf(begins("ID3"), mp3Frames)},
	{Video, "video/quicktime", anyOf(brand("qt  "), atom("moov"), atom("wide"))},
	{Video, "video/webm", matroska("webm")},
	{Video, "video/x-matroska", matroska("matroska")},
	{Video, "video/mp4", brand("isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "M4V ", "M4VH", "dash", "mmp4", "3gp4", "3gp5", "3gp6", "MSNV", "f4v ")},
}

// headSize is how much of a file decides.
const headSize = 4096

// Detect tells by its first bytes what a file is: its kind, and the MIME type of its format, Unknown for
// what is no media. Names and declared types are not looked at (Spec SP-TURN-07).
func Detect(data []byte) (kind, mime string) {
	head := data[:min(len(data), headSize)]
	for _, f := range formats {
		if f.is(head) {
			return f.kind, f.mime
		}
	}
	return File, Unknown
}

func begins(with string) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(with)) }
}

func anyOf(tests ...func([]byte) bool) func([]byte) bool {
	return func(head []byte) bool {
		for _, is := range tests {
			if is(head) {
				return true
			}
		}
		return false
	}
}

// at reports whether words stand at a position.
func at(head []byte, position int, words string) bool {
	return len(head) >= position+len(words) && string(head[position:position+len(words)]) == words
}

func riff(form string) func([]byte) bool {
	return func(head []byte) bool { return at(head, 0, "RIFF") && at(head, 8, form) }
}

// bitmap wants a header of a known size behind the two letters, which begin many a text.
func bitmap(head []byte) bool {
	if !at(head, 0, "BM") || len(head) < 26 {
		return false
	}
	size := uint32(head[14]) | uint32(head[15])<<8 | uint32(head[16])<<16 | uint32(head[17])<<24
	switch size {
	case 12, 40, 52, 56, 64, 108, 124:
		return true
	}
	return false
}

// brand looks at the major brand of an ISO media file.
func brand(of ...string) func([]byte) bool {
	return func(head []byte) bool {
		if !at(head, 4, "ftyp") {
			return false
		}
		for _, b := range of {
			if at(head, 8, b) {
				return true
			}
		}
		return false
	}
}

// atom is for QuickTime files from before brands; a length stands before the name.
func atom(name string) func([]byte) bool {
	return func(head []byte) bool { return at(head, 4, name) && head[0] == 0 }
}

func oggOf(codec string) func([]byte) bool {
	return func(head []byte) bool { return at(head, 0, "OggS") && bytes.Contains(head, []byte(codec)) }
}

// matroska looks for the document's type within the first header.
func matroska(doc string) func([]byte) bool {
	return func(head []byte) bool {
		return at(head, 0, "\x1a\x45\xdf\xa3") && bytes.Contains(head[:min(len(head), 64)], []byte(doc))
	}
}

// mp3Frames wants two frames in a row: one alone is eleven bits that much else begins with.
func mp3Frames(head []byte) bool {
	n := mp3Frame(head)
	return n > 0 && len(head) >= n+4 && mp3Frame(head[n:]) > 0
}

// mp3Frame gives the length of the MPEG layer III frame that head begins with, 0 for none.
func mp3Frame(head []byte) int {
	if len(head) < 4 || head[0] != 0xff || head[1]&0xe0 != 0xe0 || head[1]&0x06 != 0x02 {
		return 0
	}
	kbits := []int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0}
	hertz := []int{44100, 48000, 32000, 0}[head[2]>>2&3]
	factor := 144
	switch head[1] >> 3 & 3 {
	case 1: // reserved
		return 0
	case 0, 2: // versions 2.5 and 2
		kbits = []int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0}
		factor, hertz = 72, hertz/2
		if head[1]>>3&3 == 0 {
			hertz /= 2
		}
	}
	rate := kbits[head[2]>>4]
	if rate == 0 || hertz == 0 {
		return 0
	}
	return factor*rate*1000/hertz + int(head[2]>>1&1)
}

// TypeOf is the MIME type of what file holds; it stands at its beginning again afterwards.
func TypeOf(file io.ReadSeeker) (string, error) {
	head, err := io.ReadAll(io.LimitReader(file, headSize))
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	_, mime := Detect(head)
	return mime, err
}
