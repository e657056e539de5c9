package attachment_test

import (
	"strings"
	"testing"

	"aalis/backend/attachment"
)

// frame is an MPEG-1 layer III frame of 128 kbit/s at 44.1 kHz: 417 bytes.
var frame = "\xff\xfb\x90\x00" + strings.Repeat("\x00", 413)

func ftyp(brand string) string { return "\x00\x00\x00\x18ftyp" + brand + "\x00\x00\x02\x00isomiso2" }

func TestDetect(t *testing.T) {
	for name, tc := range map[string]struct{ data, kind, mime string }{
		"png":            {"\x89PNG\r\n\x1a\n...", "image", "image/png"},
		"jpeg":           {"\xff\xd8\xff\xe0\x00\x10JFIF", "image", "image/jpeg"},
		"gif":            {"GIF89a\x01\x00", "image", "image/gif"},
		"webp":           {"RIFF\x24\x00\x00\x00WEBPVP8 ", "image", "image/webp"},
		"bmp":            {"BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00" + strings.Repeat("\x00", 20), "image", "image/bmp"},
		"avif":           {ftyp("avif"), "image", "image/avif"},
		"heic":           {ftyp("heic"), "image", "image/heic"},
		"wav":            {"RIFF\x24\x00\x00\x00WAVEfmt ", "audio", "audio/wav"},
		"flac":           {"fLaC\x00\x00\x00\x22", "audio", "audio/flac"},
		"ogg":            {"OggS\x00\x02" + strings.Repeat("\x00", 22) + "OpusHead", "audio", "audio/ogg"},
		"ogg film":       {"OggS\x00\x02" + strings.Repeat("\x00", 22) + "\x80theora", "video", "video/ogg"},
		"mp3 with tags":  {"ID3\x04\x00\x00", "audio", "audio/mpeg"},
		"mp3 bare":       {frame + frame, "audio", "audio/mpeg"},
		"m4a":            {ftyp("M4A "), "audio", "audio/mp4"},
		"amr":            {"#!AMR\n<", "audio", "audio/amr"},
		"mp4":            {ftyp("isom"), "video", "video/mp4"},
		"mov":            {ftyp("qt  "), "video", "video/quicktime"},
		"webm":           {"\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm", "video", "video/webm"},
		"mkv":            {"\x1a\x45\xdf\xa3\xa3\x42\x82\x88matroska", "video", "video/x-matroska"},
		"svg":            {`<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>`, "file", attachment.Unknown},
		"svg, declared":  {`<?xml version="1.0"?><svg/>`, "file", attachment.Unknown},
		"html":           {"<!doctype html><script>1</script>", "file", attachment.Unknown},
		"pdf":            {"%PDF-1.7", "file", attachment.Unknown},
		"a .ts of words": {"export const a = 1;\n", "file", attachment.Unknown},
		"words after BM": {"BMW is a maker of cars and motorcycles, and more", "file", attachment.Unknown},
		"one mp3 frame":  {frame[:300], "file", attachment.Unknown},
		"utf-16":         {"\xff\xfeh\x00i\x00", "file", attachment.Unknown},
		"zip":            {"PK\x03\x04", "file", attachment.Unknown},
		"nothing":        {"", "file", attachment.Unknown},
	} {
		t.Run("SP-TURN-07 SP-TURN-08 "+name, func(t *testing.T) {
			if kind, mime := attachment.Detect([]byte(tc.data)); kind != tc.kind || mime != tc.mime {
				t.Errorf("%s, %s", kind, mime)
			}
			for n := range tc.data { // no beginning of a file is too short
				attachment.Detect([]byte(tc.data[:n]))
			}
		})
	}
}
