package turn

import (
	"context"

	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/text"
)

// noticeMarker is the topic of lines that stand between what was said.
const noticeMarker = "event-marker"

// files makes of what went with inputs what an engine is told of it.
type files struct {
	read    func(hash string, most int64) ([]byte, error)
	refused map[string][]string // by hash: the models that would not be shown it
}

func (f files) of(in event.Input) []engine.File {
	var all []engine.File
	for _, a := range in.Attachments {
		file := engine.File{ID: a.Blob, Kind: a.Kind, Name: a.Name, Type: a.Type, Size: a.Size}
		if f.read != nil && a.Blob != "" {
			file.Read = func(most int64) ([]byte, error) { return f.read(a.Blob, most) }
		}
		all = append(all, file)
	}
	return all
}

// refusal takes up a notice that says which files a model would not be shown.
func (f files) refusal(n event.Notice) {
	if n.Refused == nil {
		return
	}
	for _, hash := range n.Refused.Blobs {
		f.refused[hash] = append(f.refused[hash], n.Refused.Model)
	}
}

// tellRefusals puts them to the files, once all have been read: a notice stands behind its files.
func (c *conversation) tellRefusals() {
	for _, e := range c.said {
		for i := range e.Files {
			e.Files[i].Refused = c.refused[e.Files[i].ID]
		}
	}
}

// FilesRefused writes the notice by which the owner and later turns know.
func (h *host) FilesRefused(ctx context.Context, model string, ids []string) error {
	_, err := h.do(ctx, "telling that files were refused", core.AddNotice{Turn: h.turn.id, Notice: event.Notice{
		Topic: noticeMarker, Text: text.New("attachment.refused", "model", model), Refused: &event.RefusedFiles{Model: model, Blobs: ids},
	}})
	return err
}
