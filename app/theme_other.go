//go:build (desktop || dev) && !linux

package app

// prefersDark is for the moment before the page has painted; these systems draw the frame themselves.
func prefersDark() bool { return false }
