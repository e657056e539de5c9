package files

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"aalis/backend/tool"
)

//go:embed save_attachment.md
var saveDescription string

// Attached gives the bytes of the newest file of that name that went with a message of the call's session;
// fs.ErrNotExist when there is none.
type Attached func(ctx context.Context, call tool.Call, name string) ([]byte, error)

type saveParams struct {
	Name string `json:"name" jsonschema:"minLength=1" jsonschema_description:"The attachment's name, exactly as the message names it."`
	Path string `json:"path" jsonschema:"minLength=1" jsonschema_description:"Where to write it, relative to the session's folder."`
}

// SaveAttachment is the tool that brings what was attached into the session's folder. closed is that of
// All.
func SaveAttachment(attached Attached, closed ...string) tool.Definition {
	f := family{closed: closed}
	return tool.Define(tool.Definition{
		Name:        "save_attachment",
		Description: saveDescription,
		Example:     json.RawMessage(`{"name":"report.pdf","path":"incoming/report.pdf"}`),
		Effect:      tool.Write,
		Display:     &tool.Display{Kind: tool.DisplayFileChange, Path: "path"},
	}, func(ctx context.Context, call tool.Call, p saveParams) (tool.Prepared, error) {
		data, err := attached(ctx, call, p.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return tool.Prepared{}, tool.Refuse(tool.NotFoundErr, "no file named %q went with a message of this conversation", p.Name)
		case err != nil:
			return tool.Prepared{}, tool.Refuse(tool.Failed, "%q cannot be read: %w", p.Name, err)
		}
		return f.prepareChange(ctx, call.Place, p.Path, tool.MaxDiffBytes, func(state, []byte) ([]byte, string, error) {
			return data, fmt.Sprintf("Wrote %s: %d bytes.", p.Path, len(data)), nil
		})
	})
}
