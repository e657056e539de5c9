//go:build (desktop && (!linux || !production)) || (dev && !linux)

package app

// canZoom says that setZoom does something here.
const canZoom = false

func setZoom(float64) {}

// watchWebView does nothing: here a page is given what is dropped on it and pasted into it.
func watchWebView(func(uris []string)) {}
