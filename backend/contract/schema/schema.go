// Package schema embeds the published JSON Schema documents, which are generated beside it. It holds
// nothing else and imports nothing, so that the protocols can validate with the very documents that
// are published.
package schema

import _ "embed"

// Session is the session protocol's document.
//
//go:embed session.json
var Session []byte
