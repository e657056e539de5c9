package session_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"aalis/backend/attachment"
	"aalis/backend/blob"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/store"
	"aalis/backend/wire/session"
)

const aPNG = "\x89PNG\r\n\x1a\n and so on"

// keeper opens the storage of attachments of a log.
func keeper(t *testing.T, k *kernel) *attachment.Service {
	t.Helper()
	bytes, err := blob.Open(filepath.Join(k.dir, "attachments"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bytes.Close() })
	return attachment.New(attachment.Options{Loop: k.loop, Blobs: bytes})
}

type nobodyBelow struct{}

func (nobodyBelow) StopChildren(context.Context, string) error { return nil }

// filing is a service that keeps attachments, with one connection.
type filing struct {
	*line
	t      *testing.T
	k      *kernel
	kept   *attachment.Service
	server *session.Server
	n      int
}

func files(t *testing.T, k *kernel) *filing {
	t.Helper()
	kept := keeper(t, k)
	s := serve(t, session.Options{Loop: k.loop, Services: session.Services{Agent: nobodyBelow{}, Attachments: kept}})
	f := &filing{line: dialAs(s, principal.DesktopCaller()), t: t, k: k, kept: kept, server: s, n: 100}
	t.Cleanup(f.Close)
	f.Receive(hello)
	return f
}

// call sends a request and gives its answer.
func (f *filing) call(method string, params any) string {
	f.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		f.t.Fatal(err)
	}
	f.n++
	id := strconv.Itoa(f.n)
	f.Receive(ask(id, method, string(raw)))
	return f.answer(f.t, id)
}

func (f *filing) send(sessionID, content string, attachments ...map[string]string) string {
	f.t.Helper()
	return f.call("turn/send", map[string]any{"sessionId": sessionID, "content": content, "attachments": attachments})
}

func upload(name, declared, data string) map[string]string {
	return map[string]string{"name": name, "data": "data:" + declared + ";base64," + base64.StdEncoding.EncodeToString([]byte(data))}
}

// items gives what a subscription shows, in order.
func (f *filing) items(sessionID string) []item {
	f.t.Helper()
	var got struct{ Result struct{ Items []item } }
	if err := json.Unmarshal([]byte(f.call("session/subscribe", map[string]any{"sessionId": sessionID})), &got); err != nil {
		f.t.Fatal(err)
	}
	return got.Result.Items
}

type item struct {
	Kind, ItemID, Text string
	Attachments        []map[string]string
	Attachment         map[string]string
}

// bytes reads what a file's storage address stands for.
func (f *filing) bytes(of session.File) string {
	f.t.Helper()
	hash, ours := strings.CutPrefix(of.URI, session.AttachmentRoot)
	r, err := f.kept.Open(hash)
	if err != nil || !ours {
		f.t.Fatal(of, err)
	}
	defer r.Close()
	data, _ := io.ReadAll(r)
	return string(data)
}

// inputs gives what was said in a session, as it is in the log.
func (f *filing) inputs(sessionID string) (all []event.Input) {
	f.t.Helper()
	f.k.read(func(tx *store.ReadTx) error {
		s, err := tx.Session(sessionID)
		if err != nil {
			return err
		}
		rows, err := tx.Between(s.SID, -1, 1<<32-1)
		for _, e := range rows {
			if in, ok := e.Payload.(event.Input); ok {
				all = append(all, in)
			}
		}
		return err
	})
	return all
}

// only gives the one message that was said.
func only(t *testing.T, all []item) item {
	t.Helper()
	said := slices.DeleteFunc(all, func(i item) bool { return i.Kind != "user-message" })
	if len(said) != 1 {
		t.Fatalf("%+v", said)
	}
	return said[0]
}

func TestAttachments(t *testing.T) {
	bubble(t, "SP-ATT-01 SP-ATT-02 SP-ATT-03 SP-UMSG-03 SP-TURN-04 SP-TURN-08 media has its address, another file a handle, and both their kind by their bytes", func(t *testing.T) {
		f := files(t, startKernel(t, t.TempDir()))
		id := f.k.session("one")
		if got := f.send(id, " \n", upload("film.mp4", "video/mp4", aPNG), upload("a.png", "image/png", "words"), upload("x.wav", "", "RIFF    WAVE")); !strings.Contains(got, `"result":{}`) {
			t.Fatal(got)
		}
		got := only(t, f.items(id))
		if got.Text != "" || len(got.Attachments) != 3 {
			t.Fatalf("%+v", got)
		}
		for i, want := range []struct{ kind, src string }{{"image", `^attachments:/[0-9a-f]{64}$`}, {"file", `^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`}, {"audio", `^attachments:/`}} {
			a := got.Attachments[i]
			if a["kind"] != want.kind || !regexp.MustCompile(want.src).MatchString(a["src"]) || a["name"] != []string{"film.mp4", "a.png", "x.wav"}[i] || len(a) != 3 {
				t.Errorf("%v, want %+v", a, want)
			}
		}
	})
	bubble(t, "SP-TURN-05 SP-TURN-09 what a client says of a file beside its bytes and name is seen nowhere", func(t *testing.T) {
		f := files(t, startKernel(t, t.TempDir()))
		id := f.k.session("one")
		sent := upload("a.ts", "video/mp2t", "export {}")
		sent["mimeType"], sent["kind"], sent["sourceId"] = "video/mp2t", "video", "7"
		f.send(id, "look", sent)
		var log []string
		for _, in := range f.inputs(id) {
			raw, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			log = append(log, string(raw))
			if a := in.Attachments[0]; a.Kind != "file" || a.Type != attachment.Unknown || a.Name != "a.ts" || a.Size != 9 {
				t.Errorf("%+v", a)
			}
		}
		if len(log) != 1 {
			t.Error(log)
		}
		if shown := strings.Join(append(f.sent(), log...), ""); strings.Contains(shown, "mp2t") || strings.Contains(shown, "mimeType") || strings.Contains(shown, "sourceId") {
			t.Error(shown)
		}
	})
	bubble(t, "SP-TURN-06 what is no base64 data URL, is empty or is too large is invalidParams, and nothing is sent", func(t *testing.T) {
		f := files(t, startKernel(t, t.TempDir()))
		id := f.k.session("one")
		for _, data := range []string{
			"attachments:/0011", "https://example.org/a.png", "/etc/passwd", "data:image/png,abc", "data:;base64,%%%", "data:;base64,QUJD\nREVG", "data:;base64,", "base64,QUJD", "",
		} {
			if got := f.send(id, "look", upload("good", "", "x"), map[string]string{"name": "bad.png", "data": data}); !strings.Contains(got, `"code":-32602`) || !strings.Contains(got, "bad.png") {
				t.Errorf("%q: %s", data, got)
			}
		}
		if got := f.send(id, "look", upload("film.mp4", "", string(make([]byte, attachment.MaxFile+1)))); !strings.Contains(got, `"code":-32602`) || !strings.Contains(got, "at most 20 MiB") {
			t.Error(got)
		}
		if got := f.send(id, "look", make([]map[string]string, 21)...); !strings.Contains(got, `"code":-32602`) {
			t.Error(got)
		}
		if got := f.items(id); len(got) != 0 {
			t.Errorf("%+v", got)
		}
		for _, data := range []string{"data:;base64,QUI=", "DATA:text/plain;charset=utf-8;BASE64,QUI"} { // padding may be left out
			if got := f.send(id, "look", map[string]string{"name": "good", "data": data}); !strings.Contains(got, `"result":{}`) {
				t.Errorf("%q: %s", data, got)
			}
		}
	})
	bubble(t, "SP-QUEUE-02 what waits says how many files it has, and needs no words beside them", func(t *testing.T) {
		f := files(t, startKernel(t, t.TempDir()))
		id := f.k.session("one")
		f.k.turn(id)
		f.call("session/subscribe", map[string]any{"sessionId": id})
		f.send(id, "look", upload("a", "", "x"), upload("b", "", "y"))
		var queue struct {
			Params struct {
				Item struct {
					Entries []struct {
						Attachments int
						Text        string
						Ext         struct {
							InputID string
							Files   []string
						}
					}
				}
			}
		}
		waits := func() string {
			for _, frame := range f.sent() {
				if strings.Contains(frame, `"kind":"queue"`) {
					if err := json.Unmarshal([]byte(frame), &queue); err != nil {
						t.Fatal(err)
					}
				}
			}
			return queue.Params.Item.Entries[0].Text
		}
		synctest.Wait()
		if waits() != "look" || queue.Params.Item.Entries[0].Attachments != 2 || !slices.Equal(queue.Params.Item.Entries[0].Ext.Files, []string{"a", "b"}) {
			t.Errorf("%+v", queue)
		}
		edit := map[string]any{"sessionId": id, "inputId": queue.Params.Item.Entries[0].Ext.InputID, "content": " "}
		if got := f.call("ext/queue/edit", edit); !strings.Contains(got, `"result":{}`) {
			t.Error(got)
		}
		synctest.Wait()
		if waits() != "" || queue.Params.Item.Entries[0].Attachments != 2 {
			t.Errorf("%+v", queue)
		}
	})
	bubble(t, "the same message again is one message with its files", func(t *testing.T) {
		f := files(t, startKernel(t, t.TempDir()))
		id := f.k.session("one")
		for range 2 {
			got := f.call("turn/send", map[string]any{"sessionId": id, "content": "look", "attachments": []any{upload("a", "", "x")}, "ext": map[string]string{"clientId": "c"}})
			if !strings.Contains(got, `"result":{}`) {
				t.Error(got)
			}
		}
		if got := only(t, f.items(id)); len(got.Attachments) != 1 {
			t.Errorf("%+v", got)
		}
	})
	bubble(t, "SP-AMSG-01 SP-NOTICE-10 SP-FILE-07 her files and notices' are shown alike; what lies elsewhere has its name only, or its web address", func(t *testing.T) {
		f := files(t, startKernel(t, t.TempDir()))
		id := f.k.session("one")
		f.send(id, "go", upload("a.png", "", aPNG))
		turn := f.k.running(id)
		hash := f.inputs(id)[0].Attachments[0].Blob
		message := f.k.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
		f.k.do(core.EndMessage{Turn: turn, Last: true, Message: event.Message{MessageID: message, Attachments: []event.Attachment{
			{Kind: "image", Name: "hers.png", Blob: hash},
			{Kind: "file", Name: "token", URL: "data:/tokens.json"},
			{Kind: "file", Name: "passwd", URL: "file:///etc/passwd"},
			{Kind: "image", Name: "state.png", URL: "pluginData:/x/state.png"},
			{Kind: "file", Name: "page", URL: "https://example.org/page"},
		}}})
		f.k.do(core.AddNotice{Session: id, Notice: event.Notice{Topic: session.TopicEventMarker, Attachment: &event.Attachment{Kind: "image", Name: "n.png", Blob: hash}}})
		all := f.items(id)
		var hers, notice item
		for _, i := range all {
			switch i.Kind {
			case "agent-message":
				hers = i
			case "notice":
				notice = i
			}
		}
		var src []string
		for _, a := range hers.Attachments {
			src = append(src, a["src"])
		}
		if want := []string{session.AttachmentRoot + hash, "", "", "", "https://example.org/page"}; strings.Join(src, "|") != strings.Join(want, "|") || hers.Text != "" {
			t.Errorf("%q", src)
		}
		if notice.Attachment["src"] != session.AttachmentRoot+hash || notice.Text != "" {
			t.Errorf("%+v", notice)
		}
		for _, itemID := range []string{hers.ItemID, notice.ItemID} {
			if file, ok := f.server.ResolveMedia(t.Context(), id, itemID, 0); !ok || f.bytes(file) != aPNG {
				t.Error(itemID, file, ok)
			}
		}
		if file, ok := f.server.ResolveMedia(t.Context(), id, hers.ItemID, 4); ok {
			t.Error(file)
		}
	})
}

func TestHandles(t *testing.T) {
	bubble(t, "SP-FILE-01 SP-FILE-05 SP-FILE-08 a handle stands for its file in its session, and for nothing when it is altered", func(t *testing.T) {
		f := files(t, startKernel(t, t.TempDir()))
		one, other := f.k.session("one"), f.k.session("other")
		f.send(one, "a", upload("a.txt", "", "of one"))
		f.send(other, "b", upload("b.txt", "", "of the other"))
		handle := only(t, f.items(one)).Attachments[0]["src"]
		strange := only(t, f.items(other)).Attachments[0]["src"]
		if !regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`).MatchString(handle) {
			t.Error(handle)
		}
		got, ok := f.server.ResolveFile(t.Context(), one, handle)
		if !ok || got.Name != "a.txt" || f.bytes(got) != "of one" {
			t.Fatal(got, ok)
		}
		left, right, _ := strings.Cut(handle, ".")
		strangeLeft, strangeRight, _ := strings.Cut(strange, ".")
		flip := func(s string) string {
			if s[0] == 'A' {
				return "B" + s[1:]
			}
			return "A" + s[1:]
		}
		for what, bad := range map[string]string{
			"": "", "no sum": left, "an empty sum": left + ".", "another payload": strangeLeft + "." + right, "another sum": left + "." + strangeRight, "an altered payload": flip(left) + "." + right,
			"an altered sum": left + "." + flip(right), "a longer one": handle + ".x", "a storage address": got.URI, "of another session": strange, "another end": left + "." + right[:len(right)-1],
		} {
			if got, ok := f.server.ResolveFile(t.Context(), one, bad); ok {
				t.Errorf("%s stands for %v", what, got)
			}
		}
		for _, id := range []string{other, "nobody", ""} {
			if got, ok := f.server.ResolveFile(t.Context(), id, handle); ok {
				t.Errorf("in session %q it stands for %v", id, got)
			}
		}
		f.k.do(core.DeleteSession{Actor: console, Session: one})
		if got, ok := f.server.ResolveFile(t.Context(), one, handle); ok {
			t.Errorf("of a deleted session it stands for %v", got)
		}
	})
	bubble(t, "SP-FILE-06 after a restart a handle is refused, and a new subscription gives another", func(t *testing.T) {
		dir := t.TempDir()
		k := startKernel(t, dir)
		f := files(t, k)
		id := k.session("one")
		f.send(id, "a", upload("a.txt", "", "words"))
		before := only(t, f.items(id)).Attachments[0]["src"]
		f.Close()
		k.stop()
		again := files(t, startKernel(t, dir))
		if got, ok := again.server.ResolveFile(t.Context(), id, before); ok {
			t.Error(got)
		}
		for _, i := range again.items(id) {
			if i.Kind != "user-message" {
				continue
			}
			after := i.Attachments[0]["src"]
			if got, ok := again.server.ResolveFile(t.Context(), id, after); !ok || after == before || again.bytes(got) != "words" {
				t.Error(after, got, ok)
			}
		}
	})
	bubble(t, "SP-FILE-10 media is had by the item that shows it, of its session, and no other file so", func(t *testing.T) {
		f := files(t, startKernel(t, t.TempDir()))
		one, other := f.k.session("one"), f.k.session("other")
		f.send(one, "a", upload("a.txt", "", "words"), upload("a.png", "", aPNG))
		shown := only(t, f.items(one))
		if got, ok := f.server.ResolveMedia(t.Context(), one, shown.ItemID, 1); !ok || f.bytes(got) != aPNG || got.Name != "a.png" {
			t.Fatal(got, ok)
		}
		for _, bad := range []struct {
			session, item string
			n             int
		}{{one, shown.ItemID, 0}, {one, shown.ItemID, 2}, {one, shown.ItemID, -1}, {other, shown.ItemID, 1}, {one, shown.Attachments[1]["src"], 0}, {"nobody", shown.ItemID, 1}} {
			if got, ok := f.server.ResolveMedia(t.Context(), bad.session, bad.item, bad.n); ok {
				t.Errorf("%+v gives %v", bad, got)
			}
		}
	})
}
