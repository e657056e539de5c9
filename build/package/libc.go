package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"strconv"
	"strings"
)

// newestLibc gives the oldest GNU C library that the binary runs with, such as 2.34: it depends on the
// machine that it was built on.
func newestLibc(binary string) (string, error) {
	f, err := elf.Open(binary)
	if err != nil {
		return "", fmt.Errorf("reading what %s needs: %w", binary, err)
	}
	defer f.Close()
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return "", fmt.Errorf("reading what %s needs: %w", binary, err)
	}
	newest := ""
	for _, s := range symbols {
		if version, ok := strings.CutPrefix(s.Version, "GLIBC_"); ok && compareVersions(version, newest) > 0 {
			newest = version
		}
	}
	if newest == "" {
		return "", fmt.Errorf("%s needs no GNU C library: its packages would depend on nothing", binary)
	}
	return newest, nil
}

// compareVersions compares numbers with dots between; the empty one is the oldest.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, _ := strconv.Atoi(as[i]) // the library's versions are numbers; "" is none
		y, _ := strconv.Atoi(bs[i])
		if x != y {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(as), len(bs))
}
