package app

import (
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestWhatTheWindowRemembers(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	usual := kept{Width: usualWidth, Height: usualHeight, Zoom: 1}
	dir := t.TempDir()
	if got := loadKept(dir, log); got != usual {
		t.Errorf("at first %+v", got)
	}
	want := kept{Width: 900, Height: 700, X: -20, Y: 40, Placed: true, Zoom: 1.25, Safe: true}
	if err := want.save(dir); err != nil {
		t.Fatal(err)
	}
	if got := loadKept(dir, log); got != want {
		t.Errorf("%+v came back as %+v", want, got)
	}
	for _, broken := range []string{"", "{", `{"width":"wide"}`, `[]`} {
		if err := os.WriteFile(filepath.Join(dir, windowFile), []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := loadKept(dir, log); got != usual {
			t.Errorf("%q is %+v", broken, got)
		}
	}
	for _, c := range []struct{ in, want kept }{
		{kept{Width: 10, Height: 700}, usual},
		{kept{Width: 99999, Height: 700}, usual},
		{kept{Zoom: math.NaN()}, usual},
		{kept{Zoom: 9}, usual},
		{kept{Zoom: -1}, usual},
		{kept{X: 1 << 30, Placed: true}, kept{X: 1 << 30, Width: usualWidth, Height: usualHeight, Zoom: 1}},
	} {
		if got := c.in.sane(); got != c.want {
			t.Errorf("%+v is %+v, want %+v", c.in, got, c.want)
		}
	}
	for _, c := range []struct {
		x, y int
		on   bool
	}{{0, 0, true}, {-1200, 100, true}, {-1250, 100, false}, {1320, 0, true}, {1380, 0, false}, {0, 850, false}, {0, -5, false}} {
		if got := (kept{Width: usualWidth, Height: usualHeight, X: c.x, Y: c.y}).onScreen(1400, 900); got != c.on {
			t.Errorf("at %d, %d: %v", c.x, c.y, got)
		}
	}
}
