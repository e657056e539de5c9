// Package frontend holds the built interface as files. It owns nothing but those bytes: it serves
// nothing and knows no protocol. The server and the desktop window hand them out.
//
// dist/.gitkeep is committed, and the build copies it back from public/, so that the package
// compiles before the interface has ever been built; Built tells the two states apart.
package frontend

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var files embed.FS

// Dist is the built interface with index.html at its root.
func Dist() fs.FS {
	sub, err := fs.Sub(files, "dist")
	if err != nil {
		panic(err) // "dist" is a valid path by construction.
	}
	return sub
}

// Built reports whether the interface was built before this binary was.
func Built() bool {
	_, err := fs.Stat(Dist(), "index.html")
	return err == nil
}
