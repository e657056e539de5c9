package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/binary"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const appicon = "../appicon.png"

func TestIconsAreThePictureInEverySizeAndTheSameEachTime(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		if err := run([]string{"icons", appicon, dir}); err != nil {
			t.Fatal(err)
		}
	}
	for size, folder := range map[int]string{16: "16x16", 48: "48x48", 512: "512x512"} {
		var made [2][]byte
		for i, dir := range dirs {
			data, err := os.ReadFile(filepath.Join(dir, "hicolor", folder, "apps", "aalis.png"))
			if err != nil {
				t.Fatal(err)
			}
			made[i] = data
		}
		if !bytes.Equal(made[0], made[1]) {
			t.Errorf("two icons of %d pixels differ", size)
		}
		picture, err := png.Decode(bytes.NewReader(made[0]))
		if err != nil {
			t.Fatal(err)
		}
		checkPicture(t, picture, size)
	}
}

// checkPicture wants something drawn in the middle and nothing in the corners, as the source has it.
func checkPicture(t *testing.T, picture image.Image, size int) {
	t.Helper()
	if b := picture.Bounds(); b.Dx() != size || b.Dy() != size {
		t.Fatalf("the icon is %v, want %d pixels", b, size)
	}
	if _, _, _, alpha := picture.At(size/2, size/2).RGBA(); alpha != 0xffff {
		t.Errorf("the middle of the icon of %d pixels is see-through", size)
	}
	if _, _, _, alpha := picture.At(0, 0).RGBA(); alpha > 0x8000 {
		t.Errorf("a corner of the icon of %d pixels is drawn", size)
	}
}

func TestIconFilesHoldTheirPicturesWhereTheirHeadersSay(t *testing.T) {
	dir := t.TempDir()
	read := func(verb string) []byte {
		file := filepath.Join(dir, "aalis."+verb)
		if err := run([]string{verb, appicon, file}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	ico := read("ico")
	for i := range int(binary.LittleEndian.Uint16(ico[4:])) {
		entry := ico[6+16*i:]
		size := int(entry[0])
		if size == 0 {
			size = 256
		}
		length, at := binary.LittleEndian.Uint32(entry[8:]), binary.LittleEndian.Uint32(entry[12:])
		picture, err := png.Decode(bytes.NewReader(ico[at : at+length]))
		if err != nil {
			t.Fatal(err)
		}
		checkPicture(t, picture, size)
	}
	icns := read("icns")
	if length := binary.BigEndian.Uint32(icns[4:]); string(icns[:4]) != "icns" || int(length) != len(icns) {
		t.Fatalf("the icns says %d bytes and has %d", length, len(icns))
	}
	largest := 0
	for rest := icns[8:]; len(rest) > 0; rest = rest[binary.BigEndian.Uint32(rest[4:]):] {
		picture, err := png.Decode(bytes.NewReader(rest[8:binary.BigEndian.Uint32(rest[4:])]))
		if err != nil {
			t.Fatal(err)
		}
		checkPicture(t, picture, picture.Bounds().Dx())
		largest = max(largest, picture.Bounds().Dx())
	}
	if largest != 1024 {
		t.Errorf("the largest picture has %d pixels, want 1024", largest)
	}
}

func TestAPictureThatIsNoIconIsRefused(t *testing.T) {
	err := run([]string{"icons", "../../app/icon.png", t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "256×256") {
		t.Errorf("a small picture gives %v", err)
	}
}

// write makes the files of a tree below dir.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// place is a tree with the licence of everything that this test's own binary is made of.
func place(t *testing.T) (from sources, binary string) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, m := range info.Deps {
		write(t, dir, map[string]string{filepath.Join("mod", escaped(m.Path)+"@"+escaped(m.Version), "LICENSE"): "terms of " + m.Path})
	}
	write(t, dir, map[string]string{
		"go/LICENSE": "terms of Go",
		"npm/package-lock.json": `{"packages": {
			"": {"version": "0.1.0", "license": "MIT"},
			"node_modules/react": {"version": "19.3.1", "license": "MIT"},
			"node_modules/a/node_modules/@scope/b": {"version": "2.0.0", "license": "ISC"},
			"node_modules/wouter": {"version": "3.13.0", "license": "Unlicense"},
			"node_modules/tailwindcss": {"version": "4.3.5", "license": "MIT", "dev": true},
			"node_modules/vite": {"version": "8.3.4", "license": "MIT", "dev": true}}}`,
		"npm/node_modules/react/LICENSE":                      "terms of react\r\n",
		"npm/node_modules/a/node_modules/@scope/b/licence.md": "terms of b",
		"npm/node_modules/wouter/package.json":                "{}",
		"npm/node_modules/tailwindcss/LICENSE":                "terms of tailwindcss",
	})
	return sources{modules: filepath.Join(dir, "mod"), goroot: filepath.Join(dir, "go"), npm: filepath.Join(dir, "npm")}, binary
}

func TestNoticesNameWhatIsInTheProgramWithItsTerms(t *testing.T) {
	from, program := place(t)
	var out strings.Builder
	if err := writeNotices(&out, from, []string{program, program}); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		"Go, its standard library go1.", "terms of Go", "github.com/spf13/cobra v", "terms of github.com/spf13/cobra\n",
		"react 19.3.1 (MIT)\n\nterms of react\n", "@scope/b 2.0.0 (ISC)\n\nterms of b", "wouter 3.13.0 (Unlicense)", "terms of tailwindcss",
	} {
		if n := strings.Count(out.String(), words); n != 1 {
			t.Errorf("the notices hold %q %d times", words, n)
		}
	}
	for _, words := range []string{"vite", "\r"} {
		if strings.Contains(out.String(), words) {
			t.Errorf("the notices hold %q", words)
		}
	}
}

func TestAPartWithoutTermsIsRefused(t *testing.T) {
	from, program := place(t)
	file := filepath.Join(from.npm, "node_modules/react/LICENSE")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	err := writeNotices(&strings.Builder{}, from, []string{program})
	if !errors.Is(err, errNoLicence) || !strings.Contains(err.Error(), filepath.Dir(file)) {
		t.Errorf("a part without a licence gives %v", err)
	}
}

func TestAModulePathIsWrittenAsTheCacheHasIt(t *testing.T) {
	if got := escaped("github.com/BurntSushi/toml"); got != "github.com/!burnt!sushi/toml" {
		t.Errorf("escaped: %s", got)
	}
}

func TestTheNewestLibcIsFoundByNumberNotByLetter(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"2.34", "2.4", 1}, {"2.2.5", "2.34", -1}, {"2.34", "2.34", 0}, {"2.34", "", 1}, {"2.3.4", "2.3", 1}} {
		if got := compareVersions(c.a, c.b); got != c.want {
			t.Errorf("%q beside %q gives %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
