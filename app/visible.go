package app

import "aalis/backend/text"

// visible and visibleLine are for what models, tools and other people wrote, before it reaches a terminal.
func visible(s string) string     { return text.Visible(s) }
func visibleLine(s string) string { return text.VisibleLine(s) }
