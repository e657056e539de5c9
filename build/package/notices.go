package main

import (
	"bufio"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// sources say where the licences of what was built in lie.
type sources struct {
	modules string // the module cache
	goroot  string
	npm     string // the folder of package-lock.json and node_modules
}

// part is something that others wrote and the program holds.
type part struct {
	name, version, licence string
	words                  []string // its licence files
}

// stylesheet is a tool at build time of which a part, its base styles, is in the pages.
const stylesheet = modulesFolder + "tailwindcss"

const modulesFolder = "node_modules/"

// writeNotices writes who wrote what the binaries hold, and under which terms. A part whose terms
// cannot be found is an error: it must not be given away without them.
func writeNotices(w io.Writer, from sources, binaries []string) error {
	parts, err := goParts(from, binaries)
	if err != nil {
		return err
	}
	scripts, err := npmParts(from.npm)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "Aalis holds parts that others wrote. These are their names and terms.")
	for _, p := range append(parts, scripts...) {
		fmt.Fprintf(out, "\n%s\n%s %s", strings.Repeat("=", 78), p.name, p.version)
		if p.licence != "" {
			fmt.Fprintf(out, " (%s)", p.licence)
		}
		fmt.Fprintln(out)
		for _, words := range p.words {
			fmt.Fprintf(out, "\n%s\n", words)
		}
	}
	return out.Flush()
}

// goParts are the modules that the linker put into the binaries, and the standard library.
func goParts(from sources, binaries []string) ([]part, error) {
	words, err := licences(from.goroot)
	if err != nil {
		return nil, err
	}
	seen := map[string]part{}
	for _, file := range binaries {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading what %s was built from: %w", file, err)
		}
		seen["Go"] = part{name: "Go, its standard library", version: info.GoVersion, words: words}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			words, err := licences(filepath.Join(from.modules, escaped(m.Path)+"@"+escaped(m.Version)))
			if err != nil {
				return nil, err
			}
			seen[m.Path] = part{name: m.Path, version: m.Version, words: words}
		}
	}
	return sorted(seen), nil
}

// escaped is how the module cache writes a path: file systems that fold case must not mix two up.
func escaped(path string) string {
	var b strings.Builder
	for _, c := range path {
		if unicode.IsUpper(c) {
			b.WriteByte('!')
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	return b.String()
}

// npmParts are what the pages depend on, more than ends up in them: telling which lines were left out
// is not worth a notice that is missing.
func npmParts(dir string) ([]part, error) {
	data, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return nil, fmt.Errorf("reading what the pages depend on: %w", err)
	}
	var lock struct {
		Packages map[string]struct {
			Version, License string
			Dev              bool
		}
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, fmt.Errorf("reading what the pages depend on: %w", err)
	}
	seen := map[string]part{}
	for place, p := range lock.Packages {
		if place == "" || p.Dev && place != stylesheet {
			continue // ourselves, or a tool
		}
		name := place[strings.LastIndex(place, modulesFolder)+len(modulesFolder):]
		words, err := licences(filepath.Join(dir, place))
		if errors.Is(err, errNoLicence) && ownFree[p.License] {
			err = nil
		}
		if err != nil {
			return nil, err
		}
		seen[place] = part{name: name, version: p.Version, licence: p.License, words: words}
	}
	return sorted(seen), nil
}

// ownFree are the licences that ask for no notice.
var ownFree = map[string]bool{"Unlicense": true, "CC0-1.0": true, "0BSD": true}

var errNoLicence = errors.New("it has no licence file; find its terms before giving it away")

// licences are the texts of the files of a folder that hold terms.
func licences(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for a licence: %w", err)
	}
	var words []string
	for _, f := range files {
		name := strings.ToLower(f.Name())
		known := slices.ContainsFunc([]string{"licen[cs]e*", "copying*", "notice*"}, func(pattern string) bool {
			match, _ := path.Match(pattern, name) // the patterns are good
			return match
		})
		if !known || f.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading a licence: %w", err)
		}
		words = append(words, strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n")))
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, errNoLicence)
	}
	return words, nil
}

func sorted(seen map[string]part) []part {
	parts := make([]part, 0, len(seen))
	for _, p := range seen {
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.version, b.version))
	})
	return parts
}
