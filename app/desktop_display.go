//go:build desktop || dev

package app

import (
	"context"
	"net"
	"os"
	"runtime"
	"time"
)

// displayWithin bounds how long a display may take to answer.
const displayWithin = 2 * time.Second

// displayAnswers reports whether the display is there now: after a log-out it is not, and the toolkit
// would end the process.
func displayAnswers(ctx context.Context) bool {
	if runtime.GOOS != "linux" {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, displayWithin)
	defer cancel()
	for _, at := range displayAddresses(os.Getenv("WAYLAND_DISPLAY"), os.Getenv("XDG_RUNTIME_DIR"), os.Getenv("DISPLAY")) {
		if c, err := new(net.Dialer).DialContext(ctx, at.network, at.address); err == nil {
			_ = c.Close()
			return true
		}
	}
	return false
}
