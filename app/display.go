package app

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"aalis/backend/text"
)

var noDisplay = text.New("run.no-display")

// hasDisplay reports whether a window could be shown. On Linux the toolkit ends the process where it
// cannot, so it is asked only where it can.
func hasDisplay() bool {
	return runtime.GOOS != "linux" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

type displayAddress struct{ network, address string }

// displayAddresses are where the displays that the environment names would answer.
func displayAddresses(wayland, runtimeDir, x string) (all []displayAddress) {
	if wayland != "" {
		if !filepath.IsAbs(wayland) {
			wayland = filepath.Join(runtimeDir, wayland)
		}
		all = append(all, displayAddress{"unix", wayland})
	}
	host, number, ok := cutLast(x, ":")
	if !ok {
		return all
	}
	number, _, _ = strings.Cut(number, ".") // of a screen
	n, err := strconv.Atoi(number)
	if err != nil {
		return all
	}
	if host == "" || host == "unix" {
		socket := "/tmp/.X11-unix/X" + number
		return append(all, displayAddress{"unix", "@" + socket}, displayAddress{"unix", socket})
	}
	if filepath.IsAbs(host) {
		return append(all, displayAddress{"unix", x}) // launchd's way
	}
	return append(all, displayAddress{"tcp", net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(6000+n))})
}

func cutLast(s, at string) (before, after string, found bool) {
	i := strings.LastIndex(s, at)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(at):], true
}

// orphanedAfter is how long a window may stay hidden without a tray: panels are restarted, and come up
// late after a log-in.
const orphanedAfter = 20 * time.Second
