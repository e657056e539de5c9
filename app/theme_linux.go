//go:build desktop || dev

package app

import (
	"context"
	"os"
	"time"

	"github.com/godbus/dbus/v5"
)

// themeWithin bounds the question; a desktop without a portal answers at once that it has none.
const themeWithin = 200 * time.Millisecond

// prefersDark asks the desktop's portal which appearance is wanted, so that the window does not flash
// in the other one before the page has painted.
func prefersDark() bool {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" { // the library would start a bus of its own
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), themeWithin)
	defer cancel()
	bus, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
	if err != nil {
		return false
	}
	defer bus.Close()
	var answer dbus.Variant
	err = bus.Object("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop").
		CallWithContext(ctx, "org.freedesktop.portal.Settings.Read", 0, "org.freedesktop.appearance", "color-scheme").Store(&answer)
	if err != nil {
		return false
	}
	value := answer.Value()
	if inner, nested := value.(dbus.Variant); nested { // Read wraps its answer twice
		value = inner.Value()
	}
	scheme, _ := value.(uint32)
	return scheme == 1
}
