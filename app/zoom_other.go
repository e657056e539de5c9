//go:build (desktop && (!linux || !production)) || (dev && !linux)

package app

// canZoom says that setZoom does something here.
const canZoom = false

func setZoom(float64) {}
