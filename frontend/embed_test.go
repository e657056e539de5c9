package frontend

import (
	"io/fs"
	"testing"
)

func TestDist(t *testing.T) {
	entries, err := fs.ReadDir(Dist(), ".")
	if err != nil {
		t.Fatal(err)
	}
	var found bool
	for _, entry := range entries {
		found = found || entry.Name() == "index.html"
	}
	if found != Built() {
		t.Errorf("Built() = %v, but index.html present = %v", Built(), found)
	}
}
