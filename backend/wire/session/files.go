package session

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/url"
	"strings"

	"aalis/backend/event"
	"aalis/backend/store"
)

// File is a stored file that a handle stands for (Spec SP-CONN-01). URI is its storage address.
type File struct{ URI, Name string }

// AttachmentRoot is the storage root of the files that went with messages.
const AttachmentRoot = "attachments:/"

// handles gives out names for files. A handle is the file in base64 and a sum over it and its session
// with the key of this start, so nothing is kept, none can be made up, and the next start takes none
// (Spec SP-FILE-01, -05, -06; decisions I6).
type handles struct{ key [32]byte }

func newHandles() handles {
	var h handles
	_, _ = rand.Read(h.key[:]) // never fails
	return h
}

func (h handles) issue(sid int64, f File) (string, error) {
	payload, err := json.Marshal(f)
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode(payload) + "." + encode(h.sum(sid, payload)), nil
}

func (h handles) sum(sid int64, payload []byte) []byte {
	mac := hmac.New(sha256.New, h.key[:])
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(sid)))
	mac.Write(payload)
	return mac.Sum(nil)
}

func (h handles) read(sid int64, handle string) (f File, ok bool) {
	left, right, _ := strings.Cut(handle, ".")
	payload, err := base64.RawURLEncoding.Strict().DecodeString(left)
	if err != nil {
		return File{}, false
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(right)
	if err != nil || !hmac.Equal(sum, h.sum(sid, payload)) {
		return File{}, false
	}
	return f, json.Unmarshal(payload, &f) == nil
}

// ResolveFile gives the file behind a handle of this start and this session; ok is false for any
// other, and for a session that is no longer there (Spec SP-FILE-08).
func (s *Server) ResolveFile(ctx context.Context, sessionID, handle string) (file File, ok bool) {
	if s.o.Loop == nil {
		return File{}, false
	}
	err := s.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		session, err := tx.Session(sessionID)
		if err == nil {
			file, ok = s.handles.read(session.SID, handle)
		}
		return err
	})
	return file, ok && err == nil
}

// ResolveMedia gives the n-th attachment, from 0, of an item of a session if it is a stored image, audio
// or video; ok is false for anything else. Storage addresses are not taken, so only what a conversation
// shows can be had (Spec README 10).
func (s *Server) ResolveMedia(ctx context.Context, sessionID, itemID string, n int) (file File, ok bool) {
	if s.o.Loop == nil {
		return File{}, false
	}
	err := s.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		session, err := tx.Session(sessionID)
		if err != nil {
			return err
		}
		all, err := attachedTo(tx, session.SID, itemID)
		if err != nil || n < 0 || n >= len(all) {
			return err
		}
		a := all[n]
		file, ok = stored(a), a.Blob != "" && AttachmentKind(a.Kind) != AttachmentFile
		return nil
	})
	return file, ok && err == nil
}

// attachedTo gives the attachments of a user-message, an agent-message or a notice.
func attachedTo(tx *store.ReadTx, sid int64, itemID string) ([]event.Attachment, error) {
	e, found, err := tx.Event(itemID)
	if err != nil || !found || e.SID != sid {
		return nil, err
	}
	if e.Kind == event.MessageStarted {
		if e, found, err = tx.Child(sid, e.ID, event.AgentMessage); err != nil || !found {
			return nil, err
		}
	}
	switch p := e.Payload.(type) {
	case event.Input:
		return p.Attachments, nil
	case event.Message:
		return p.Attachments, nil
	case event.Notice:
		if p.Attachment != nil {
			return []event.Attachment{*p.Attachment}, nil
		}
	}
	return nil, nil
}

func stored(a event.Attachment) File { return File{URI: AttachmentRoot + a.Blob, Name: a.Name} }

// attachments draws files. Media have their storage address, which /api/session-media serves by the item;
// other files have a handle; a file of elsewhere has its URL. What has none of these has its name only,
// and so has what lies in any other place of the program (Spec SP-ATT-02 to -04, SP-FILE-07).
func (d *drawing) attachments(all []event.Attachment) []ItemAttachment {
	var out []ItemAttachment
	for _, a := range all {
		item := ItemAttachment{Kind: AttachmentKind(a.Kind), Name: a.Name}
		switch {
		case a.Blob == "":
			item.Src = onWeb(a.URL)
		case item.Kind != AttachmentFile:
			item.Src = stored(a).URI
		default:
			// A file of strings always encodes.
			item.Src, _ = d.handles.issue(d.sid, stored(a))
		}
		out = append(out, item)
	}
	return out
}

func names(all []event.Attachment) (names []string) {
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names
}

// onWeb gives back an address of the web, "" for any other.
func onWeb(address string) string {
	if u, err := url.Parse(address); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return address
	}
	return ""
}
