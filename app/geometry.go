package app

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"aalis/backend/principal"
)

// kept is what the window remembers from one start to the next: <data>/window.json. Losing it costs
// nothing but a place on the screen.
type kept struct {
	Width     int     `json:"width,omitempty"`
	Height    int     `json:"height,omitempty"`
	X         int     `json:"x,omitempty"`
	Y         int     `json:"y,omitempty"`
	Placed    bool    `json:"placed,omitempty"` // X and Y count
	Maximised bool    `json:"maximised,omitempty"`
	Zoom      float64 `json:"zoom,omitempty"`
	Safe      bool    `json:"safe,omitempty"`   // the safe renderer was chosen
	Hidden    bool    `json:"hidden,omitempty"` // the owner was told that closing hides
}

const (
	windowFile              = "window.json"
	usualWidth, usualHeight = 1280, 800
	leastWidth, leastHeight = 480, 360
	mostSide                = 16384
	leastZoom, mostZoom     = 0.5, 3.0
	leastShown              = 80 // pixels of a window that must be on a screen for a person to get hold of it
)

// loadKept reads what was remembered; what cannot be is as if it had never been.
func loadKept(dataDir string, log *slog.Logger) kept {
	k := kept{}
	data, err := os.ReadFile(filepath.Join(dataDir, windowFile))
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			log.Warn("the window's place was not read", "error", err)
		}
		k = kept{}
	}
	return k.sane()
}

// sane brings values that no window had into bounds.
func (k kept) sane() kept {
	if k.Width < leastWidth || k.Height < leastHeight || k.Width > mostSide || k.Height > mostSide {
		k.Width, k.Height = usualWidth, usualHeight
	}
	if k.X < -mostSide || k.X > mostSide || k.Y < -mostSide || k.Y > mostSide {
		k.Placed = false
	}
	if !(k.Zoom >= leastZoom && k.Zoom <= mostZoom) { // NaN is neither
		k.Zoom = 1
	}
	return k
}

// onScreen reports whether enough of the window is on a screen of that size, whose corner is 0, 0.
func (k kept) onScreen(width, height int) bool {
	return k.X+k.Width >= leastShown && k.X <= width-leastShown && k.Y >= 0 && k.Y <= height-leastShown
}

func (k kept) save(dataDir string) error {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return principal.WritePrivate(filepath.Join(dataDir, windowFile), append(data, '\n'))
}
