// Package attachment keeps the files that go with messages. It owns the folder attachments/ of the data
// folder: what may come in and under which name, what kind a file is by its first bytes, and that bytes
// are on the disk before a command names them. It never decides who may read them, and never what a
// model is shown. Protocols and rooms hand files in; the door and the turns read them.
//
//	Service.Keep      check → bytes to disk → the caller's command; what it did not name goes again
//	Service.Open      reads
//	Service.Sweep     removes what no session names: after a crash between bytes and command, and when
//	                  the last session that named them has been erased
package attachment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"aalis/backend/blob"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// What may go with one message (decisions I1).
const (
	MaxFiles   = 20
	MaxFile    = 20 << 20
	MaxMessage = 50 << 20
)

// maxName bounds a name, in bytes (decisions I4).
const maxName = 255

// Upload is a file that comes in.
type Upload struct {
	Name string
	Data []byte
}

// Options of a service. Loop and Blobs are required.
type Options struct {
	Loop  *core.Loop
	Blobs *blob.Store
	Log   *slog.Logger // nil discards
}

// Service keeps and gives files. It is safe for concurrent use.
type Service struct {
	o Options
	// naming is held for reading while bytes are there that no command has named yet, and for writing
	// while those that nobody names are removed.
	naming sync.RWMutex
}

// New makes a service.
func New(o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{o: o}
}

// Keep puts files to disk and then has commit write the event that names them. Faults say what is wrong
// with a file; then nothing has been kept and commit was not called. When commit fails, what it would
// have named is removed again.
func (s *Service) Keep(ctx context.Context, files []Upload, commit func([]event.Attachment) error) error {
	if err := check(files); err != nil {
		return err
	}
	s.naming.RLock()
	kept, err := s.put(files)
	if err == nil {
		err = commit(kept)
	}
	s.naming.RUnlock()
	if err != nil {
		s.giveUp(context.WithoutCancel(ctx), kept)
	}
	return err
}

func check(files []Upload) error {
	if len(files) > MaxFiles {
		return fault.New(fault.Invalid, text.New("attachment.many", "max", MaxFiles, "n", len(files)))
	}
	total := 0
	for _, f := range files {
		switch total += len(f.Data); {
		case len(f.Data) == 0:
			return fault.New(fault.Invalid, text.New("attachment.empty", "name", cleanName(f.Name)))
		case len(f.Data) > MaxFile:
			return fault.New(fault.Invalid, text.New("attachment.large", "name", cleanName(f.Name), "max", MaxFile>>20, "n", mebibytes(len(f.Data))))
		}
	}
	if total > MaxMessage {
		return fault.New(fault.Invalid, text.New("attachment.together", "max", MaxMessage>>20, "n", mebibytes(total)))
	}
	return nil
}

// mebibytes gives a size with one digit behind the point, rounded up: what is too large must not look
// as if it were not.
func mebibytes(n int) string {
	tenths := (n*10 + 1<<20 - 1) >> 20
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

// put writes bytes; what it gives beside an error is what was written before it.
func (s *Service) put(files []Upload) ([]event.Attachment, error) {
	kept := make([]event.Attachment, 0, len(files))
	for _, f := range files {
		name := cleanName(f.Name)
		h, n, err := s.o.Blobs.Put(bytes.NewReader(f.Data), MaxFile)
		if err == nil {
			err = s.o.Blobs.Settle(h)
		}
		if err != nil {
			return kept, fault.Wrap(fault.Internal, text.New("attachment.unkept", "name", name), err)
		}
		kind, mime := Detect(f.Data)
		kept = append(kept, event.Attachment{Kind: kind, Name: name, Blob: string(h), Type: mime, Size: n})
	}
	return kept, nil
}

// giveUp removes what was kept for nothing. What it cannot remove goes at the next Sweep.
func (s *Service) giveUp(ctx context.Context, kept []event.Attachment) {
	s.naming.Lock()
	defer s.naming.Unlock()
	for _, a := range kept {
		named := true
		err := s.o.Loop.Read(ctx, func(tx *store.ReadTx) (err error) {
			named, err = tx.BlobNamed(a.Blob)
			return err
		})
		if err == nil && !named {
			err = s.o.Blobs.Remove(blob.Hash(a.Blob))
		}
		if err != nil {
			s.o.Log.Warn("an attachment that belongs to nothing stays until the next sweep", "error", err)
		}
	}
}

// Open gives the bytes behind a hash of the log; fs.ErrNotExist when they are not here. The caller closes.
func (s *Service) Open(hash string) (*os.File, error) { return s.o.Blobs.Open(blob.Hash(hash)) }

// Read gives bytes whole; at most most of them, fs.ErrNotExist when they are not here.
func (s *Service) Read(hash string, most int64) ([]byte, error) {
	file, err := s.Open(hash)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return nil, fmt.Errorf("reading an attachment: %w", err)
	}
	return data, nil
}

// Sweep removes the bytes that no session names.
func (s *Service) Sweep(ctx context.Context) error {
	s.naming.Lock()
	defer s.naming.Unlock()
	var named map[string]bool
	if err := s.o.Loop.Read(ctx, func(tx *store.ReadTx) (err error) {
		named, err = tx.NamedBlobs()
		return err
	}); err != nil {
		return fmt.Errorf("reading which attachments are named: %w", err)
	}
	var lost []blob.Hash
	if err := s.o.Blobs.Each(func(h blob.Hash, _ int64) error {
		if !named[string(h)] {
			lost = append(lost, h)
		}
		return nil
	}); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for attachments that nobody names: %w", err)
	}
	for _, h := range lost {
		if err := s.o.Blobs.Remove(h); err != nil {
			return err
		}
	}
	if len(lost) > 0 {
		s.o.Log.Info("attachments that no session names are removed", "count", len(lost))
	}
	return nil
}

// cleanName gives the last part of a name without what cannot be seen; "file" where nothing is left
// (decisions I4).
func cleanName(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return -1
		}
		return r
	}, name))
	if len(name) > maxName {
		name = shorten(name)
	}
	if strings.Trim(name, ".") == "" {
		return "file"
	}
	return name
}

// shorten keeps the ending, by which people and programs tell what a file is.
func shorten(name string) string {
	ending := ""
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && len(name)-dot <= 20 {
		ending = name[dot:]
	}
	cut := maxName - len(ending)
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + ending
}
