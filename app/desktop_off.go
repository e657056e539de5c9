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

func newWindow(settings, *slog.Logger) *window { return &window{} }

func (*window) raise() bool { return false }

func (*window) show(context.Context, instance) error { return fault.New(fault.Unsupported, noDisplay) }
