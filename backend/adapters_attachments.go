package backend

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"aalis/backend/attachment"
	"aalis/backend/event"
	"aalis/backend/server"
	"aalis/backend/store"
	"aalis/backend/tool"
	"aalis/backend/wire/session"
)

// stored gives the door what went with messages: the protocol says which file is meant, the service has
// its bytes.
type stored struct {
	sessions *session.Server
	kept     *attachment.Service
}

func (b *Backend) files() stored { return stored{b.sessions, b.attachments} }

// Files serves the files of messages to the desktop window.
func (b *Backend) Files() http.Handler { return server.FilesHandler(b.files()) }

func (s stored) File(ctx context.Context, sessionID, handle string) (server.Stored, bool) {
	file, ok := s.sessions.ResolveFile(ctx, sessionID, handle)
	if !ok {
		return server.Stored{}, false
	}
	return s.open(file)
}

func (s stored) Media(ctx context.Context, sessionID, itemID string, n int) (server.Stored, bool) {
	file, ok := s.sessions.ResolveMedia(ctx, sessionID, itemID, n)
	if !ok {
		return server.Stored{}, false
	}
	return s.open(file)
}

// open reads a storage address, of the one root that can be read so, and looks at the bytes again: what
// is served to be shown is judged by what is on the disk now.
func (s stored) open(f session.File) (server.Stored, bool) {
	hash, ours := strings.CutPrefix(f.URI, session.AttachmentRoot)
	if !ours {
		return server.Stored{}, false
	}
	file, err := s.kept.Open(hash)
	if err != nil {
		return server.Stored{}, false
	}
	mime, err := attachment.TypeOf(file)
	if err != nil {
		_ = file.Close()
		return server.Stored{}, false
	}
	return server.Stored{Name: f.Name, Type: mime, Content: file}, true
}

// attached lets her tool read what went with the messages of its session: the newest file of a name, of
// those the conversation still has.
func (b *Backend) attached(ctx context.Context, call tool.Call, name string) ([]byte, error) {
	hash := ""
	if err := b.loop.Read(ctx, func(tx *store.ReadTx) error {
		s, err := tx.Session(call.SessionID)
		if err != nil {
			return err
		}
		head, err := tx.Head(s.SID)
		if err != nil {
			return err
		}
		all := store.Timeline{SID: s.SID, Above: head.ClearedSeq, Below: 1 << 32, Kinds: []event.Kind{event.UserMessage}}
		return tx.Timeline(all, func(e event.Event) (more bool, err error) {
			in, _ := e.Payload.(event.Input)
			for _, a := range in.Attachments {
				if a.Name == name && a.Blob != "" {
					hash = a.Blob
				}
			}
			return hash == "", nil
		})
	}); err != nil {
		return nil, fmt.Errorf("looking for an attachment: %w", err)
	}
	if hash == "" {
		return nil, fs.ErrNotExist
	}
	return b.attachments.Read(hash, attachment.MaxFile)
}

// sweepAttachments removes files that no session names any more.
func (b *Backend) sweepAttachments(ctx context.Context) {
	if err := b.attachments.Sweep(ctx); err != nil && ctx.Err() == nil {
		b.log.Error("attachments cannot be swept", "error", err)
	}
}
