package frontend

import (
	"embed"
	"io/fs"
	"slices"
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

//go:embed src/clients/v1/protocol.gen.ts
var v1Script []byte

// V1Script is the generated TypeScript of /v1: its types and its table of endpoints.
func V1Script() []byte { return slices.Clone(v1Script) }
