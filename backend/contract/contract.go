// Package contract publishes the protocols' shapes. It reflects the Go types that the protocols in
// wire list, doc comments included, into JSON Schema 2020-12 (backend/contract/schema), into TypeScript
// with zod (frontend/src/contract) and, for /v1, into OpenAPI 3.1 and plain TypeScript for its client;
// its tests prove that the checked-in files are what it would write now. It owns no shape, takes part in no request, and is never imported by the
// running program: build/gen.sh calls it through gen, and a test compares.
//
// Package schema, below it, embeds the checked-in JSON Schema for the protocols to validate with. So
// a change of a Go type takes effect at the gate only after build/gen.sh, and the drift test is what
// keeps the two from parting.
package contract

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aalis/backend/wire"
	"aalis/backend/wire/session"
)

// Protocols lists the protocols that are published.
var Protocols = []wire.Protocol{session.Protocol}

// Root gives the folder of the module that dir lies in.
func Root(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("finding the module: no go.mod here or above")
		}
		dir = parent
	}
}

// Files generates everything that is published, by path relative to root. The doc comments are read
// from the source below root.
func Files(root string) (map[string][]byte, error) {
	docs, err := readComments(root)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for _, p := range Protocols {
		defs, err := reflectDefs(p.Contract, docs)
		if err != nil {
			return nil, fmt.Errorf("reflecting %s: %w", p.Name, err)
		}
		schema, err := writeSchema(p, defs)
		if err != nil {
			return nil, fmt.Errorf("writing the schema of %s: %w", p.Name, err)
		}
		files["backend/contract/schema/"+p.Name+".json"] = schema
		script, err := writeTypeScript(p, defs)
		if err != nil {
			return nil, fmt.Errorf("writing the TypeScript of %s: %w", p.Name, err)
		}
		files["frontend/src/contract/"+p.Name+".gen.ts"] = script
	}
	if err := addV1(files, docs); err != nil {
		return nil, err
	}
	return files, nil
}

// Write generates everything and writes what differs. It returns the paths it wrote.
func Write(root string) ([]string, error) {
	files, err := Files(root)
	if err != nil {
		return nil, err
	}
	var written []string
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if old, err := os.ReadFile(path); err == nil && string(old) == string(content) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return written, fmt.Errorf("writing %s: %w", name, err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return written, fmt.Errorf("writing %s: %w", name, err)
		}
		written = append(written, name)
	}
	return written, nil
}
