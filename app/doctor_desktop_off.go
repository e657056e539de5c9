//go:build !desktop && !dev

package app

import "context"

// examineDesktop has nothing to look at in a build without a window.
func (p *program) examineDesktop(context.Context, settings, bool, bool) []finding {
	return []finding{found("window", note, p.say("doctor.window-none"))}
}
