package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"aalis/backend/event"
)

// Which bytes are named follows from the log alone; what is no hash names nothing.
func TestNamedBlobs(t *testing.T) {
	s := openTest(t, t.TempDir())
	tx := begin(t, s)
	sid := create(t, tx).SID
	said, hers, noticed := strings.Repeat("a1", 32), strings.Repeat("b2", 32), strings.Repeat("c3", 32)
	tx.must(t, sid,
		event.Draft{Actor: event.System(), Payload: event.Input{State: event.InputSwallowed, Attachments: []event.Attachment{{Blob: said}, {Blob: "no hash"}, {URL: "https://example.org"}}}},
		event.Draft{Actor: event.System(), Payload: event.Notice{Attachment: &event.Attachment{Blob: noticed}}},
		event.Draft{Actor: event.System(), Payload: event.Message{Attachments: []event.Attachment{{Blob: hers}, {Blob: said}}}},
	)
	stale := strings.Repeat("d4", 32)
	for _, sql := range []string{
		fmt.Sprintf("INSERT INTO blobs(sha256, size, created_at) VALUES (x'%s', 1, 1)", stale),
		fmt.Sprintf("INSERT INTO blob_refs(sha256, sid, event_id) VALUES (x'%s', %d, 'nothing')", stale, sid),
	} {
		if err := tx.c.script(sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tx.Commit(), s.Rebuild(1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Read(t.Context(), func(tx *ReadTx) error {
		named, err := tx.NamedBlobs()
		if got, want := slices.Sorted(maps.Keys(named)), []string{said, hers, noticed}; !slices.Equal(got, want) {
			t.Errorf("named are %v, want %v", got, want)
		}
		for hash, want := range map[string]bool{said: true, stale: false, "no hash": false, "": false} {
			if got, err := tx.BlobNamed(hash); got != want || err != nil {
				t.Errorf("%q: %v %v", hash, got, err)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
