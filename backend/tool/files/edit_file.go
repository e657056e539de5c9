package files

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"aalis/backend/tool"
)

//go:embed edit_file.md
var editDescription string

// maxEditBytes is the largest file edit_file takes into memory.
const maxEditBytes = 32 << 20

type editParams struct {
	Path       string `json:"path" jsonschema:"minLength=1" jsonschema_description:"The file, relative to the session's folder."`
	OldText    string `json:"old_text" jsonschema:"minLength=1" jsonschema_description:"The text to replace, exactly as it stands in the file."`
	NewText    string `json:"new_text" jsonschema_description:"The text to put in its place; empty to delete."`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema_description:"Replace every occurrence instead of exactly one. Default: false."`
}

func (f family) editFile() tool.Definition {
	return tool.Define(tool.Definition{
		Name:        "edit_file",
		Description: editDescription,
		Example:     json.RawMessage(`{"path":"src/main.go","old_text":"return nil","new_text":"return err"}`),
		Effect:      tool.Write,
		Display:     &tool.Display{Kind: tool.DisplayFileChange, Path: "path", Removed: "old_text", Added: "new_text"},
	}, f.prepareEdit)
}

func (f family) prepareEdit(ctx context.Context, call tool.Call, p editParams) (tool.Prepared, error) {
	if p.OldText == p.NewText {
		return tool.Prepared{}, tool.Refuse(tool.InvalidArgs, "old_text and new_text are the same; nothing would change")
	}
	return f.prepareChange(ctx, call.Place, p.Path, maxEditBytes, func(before state, content []byte) ([]byte, string, error) {
		switch {
		case !before.exists:
			return nil, "", errMissing
		case content == nil:
			return nil, "", tool.Refuse(tool.Failed, "%q is too large to edit: %d bytes, at most %d", p.Path, before.info.Size(), maxEditBytes)
		case tool.IsBinary(content):
			return nil, "", binary(p.Path, content[:min(len(content), 512)], before.info.Size())
		}
		done, err := replaceText(string(content), p.OldText, p.NewText, p.ReplaceAll)
		if err != nil {
			return nil, "", tool.Refuse(tool.Failed, "%q was not changed: %w", p.Path, err)
		}
		note := fmt.Sprintf("Edited %s: 1 replacement, at line %d.", p.Path, done.line)
		if done.count > 1 {
			note = fmt.Sprintf("Edited %s: %d replacements, the first at line %d.", p.Path, done.count, done.line)
		}
		return []byte(done.text), note, nil
	})
}
