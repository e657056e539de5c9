package app

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"aalis/backend/contract/schema"
	"aalis/frontend"
)

func (p *program) schemaCommand() *cobra.Command {
	var out string
	cmd := p.command("schema", "command.schema", "  aalis schema --out contracts")
	cmd.Flags().StringVar(&out, "out", ".", p.say("command.flag-out"))
	cmd.RunE = func(*cobra.Command, []string) error {
		files, err := contracts()
		if err != nil {
			return err
		}
		var written []string
		for _, f := range files {
			path := filepath.Join(out, f.name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return fmt.Errorf("making the folder: %w", err)
			}
			if err := os.WriteFile(path, f.data, 0o644); err != nil {
				return fmt.Errorf("writing a contract: %w", err)
			}
			written = append(written, path)
		}
		if p.flags.json {
			return p.printJSON(map[string][]string{"files": written})
		}
		for _, path := range written {
			fmt.Fprintln(p.out, path)
		}
		return nil
	}
	return cmd
}

type contractFile struct {
	name string
	data []byte
}

// contracts are the published documents that this build validates with, and the TypeScript beside them.
func contracts() ([]contractFile, error) {
	files := []contractFile{{"session.json", schema.Session}}
	scripts, err := fs.Glob(frontend.Contracts(), "*.gen.ts")
	if err != nil {
		return nil, fmt.Errorf("listing the contracts: %w", err)
	}
	for _, name := range scripts {
		data, err := fs.ReadFile(frontend.Contracts(), name)
		if err != nil {
			return nil, fmt.Errorf("reading a contract: %w", err)
		}
		files = append(files, contractFile{name, data})
	}
	documents, err := fs.Glob(schema.V1, "v1/*.json")
	if err != nil {
		return nil, fmt.Errorf("listing the contracts of v1: %w", err)
	}
	for _, name := range documents {
		data, err := schema.V1.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading a contract: %w", err)
		}
		files = append(files, contractFile{name, data})
	}
	return append(files, contractFile{"v1/protocol.gen.ts", frontend.V1Script()}), nil
}
