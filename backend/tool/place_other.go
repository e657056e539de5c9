//go:build !unix

package tool

// openNonblock has no meaning here: names of pipes live outside every folder.
const openNonblock = 0
