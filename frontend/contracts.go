package frontend

import (
	"embed"
	"io/fs"
)

//go:embed src/contract/*.gen.ts
var contracts embed.FS

// Contracts are the generated TypeScript types and schemas of the protocols, one file each, for
// clients that are written elsewhere.
func Contracts() fs.FS {
	sub, err := fs.Sub(contracts, "src/contract")
	if err != nil {
		panic(err) // a valid path by construction
	}
	return sub
}
