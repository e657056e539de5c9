// Package schema embeds the published JSON Schema documents, which are generated beside it. It holds
// nothing else and imports nothing, so that the protocols can validate with the very documents that
// are published.
package schema

import "embed"

// Session is the session protocol's document.
//
//go:embed session.json
var Session []byte

// V1 holds the documents of /v1: v1/openapi.json, and v1/<name>.json for every shape.
//
//go:embed v1/*.json
var V1 embed.FS
