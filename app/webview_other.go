//go:build (desktop && (!linux || !production)) || (dev && !linux)

package app

// canZoom says that setZoom does something here.
const canZoom = false

func setZoom(float64) {}

// watchDrops does nothing: here a page is given what is dropped on it.
func watchDrops(func(uris []string)) {}
