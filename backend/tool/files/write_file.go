package files

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"aalis/backend/tool"
)

//go:embed write_file.md
var writeDescription string

type writeParams struct {
	Path    string `json:"path" jsonschema:"minLength=1" jsonschema_description:"The file, relative to the session's folder."`
	Content string `json:"content" jsonschema_description:"The whole content of the file, written exactly as given."`
}

func (f family) writeFile() tool.Definition {
	return tool.Define(tool.Definition{
		Name:        "write_file",
		Description: writeDescription,
		Example:     json.RawMessage(`{"path":"notes/todo.md","content":"- buy milk\n"}`),
		Effect:      tool.Write,
		Display:     &tool.Display{Kind: tool.DisplayFileChange, Path: "path", Added: "content"},
	}, func(ctx context.Context, call tool.Call, p writeParams) (tool.Prepared, error) {
		return f.prepareChange(ctx, call.Place, p.Path, tool.MaxDiffBytes, func(before state, _ []byte) ([]byte, string, error) {
			verb := "Created"
			if before.exists {
				verb = "Replaced"
			}
			note := fmt.Sprintf("%s %s: %d bytes, %d lines.", verb, p.Path, len(p.Content), countLines(p.Content))
			return []byte(p.Content), note, nil
		})
	})
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
