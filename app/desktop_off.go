//go:build !desktop && !dev

package app

import (
	"context"
	"log/slog"

	"aalis/backend/fault"
)

// hasWindow says that this build can show a window.
const hasWindow = false

// window is the desktop window, which this build does not have.
type window struct{}

func newWindow(settings, start, *slog.Logger) *window { return &window{} }

func (*window) activate(string) bool { return false }

func (*window) run(context.Context, instance) (end, error) {
	return end{}, fault.New(fault.Unsupported, noDisplay)
}
