package backend_test

import (
	"encoding/base64"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aalis/backend"
	"aalis/backend/provider"
	"aalis/backend/provider/scripted"
	"aalis/backend/text"
)

const aPNG = "\x89PNG\r\n\x1a\n and so on"

func TestAttachmentsThroughTheProgram(t *testing.T) {
	dir := t.TempDir()
	model := scripted.New(scripted.MustParse("call\ntool save_attachment {\"name\":\"a.png\",\"path\":\"in/a.png\"}\ncall\ntext done")...)
	b, call, pushed := windowWith(t, backend.Config{
		DataDir: dir, Language: text.English, Kinds: map[string]provider.Kind{"scripted": model.Kind()},
		Provider: provider.Config{Providers: []provider.ProviderConfig{{ID: "test", Type: "scripted", Models: []provider.ModelConfig{{Name: "m"}}}}},
	})
	call("initialize", hello)
	call("presence/update", `{"active":true}`)
	id := field(t, call("session/create", `{}`), "id")
	call("session/subscribe", `{"sessionId":"`+id+`"}`)
	encode := base64.StdEncoding.EncodeToString
	if got := call("turn/send", `{"sessionId":"`+id+`","content":"save it","attachments":[{"name":"a.png","data":"data:;base64,`+encode([]byte(aPNG))+`"},{"name":"b.bin","data":"data:;base64,AAEC"}]}`); !strings.Contains(got, `"result":{}`) {
		t.Fatal(got)
	}
	said := push(t, pushed, `"kind":"user-message"`)

	t.Run("she saves what was attached after the owner said yes, and is shown the picture", func(t *testing.T) {
		asked := push(t, pushed, `"method":"approval/requested"`)
		if got := call("approval/respond", `{"approvalId":"`+field(t, asked, "id")+`","decision":"approve","contentHash":"`+field(t, asked, "contentHash")+`"}`); !strings.Contains(got, `"result":{}`) {
			t.Fatal(got)
		}
		push(t, pushed, `"kind":"turn"`, `"outcome":"replied"`)
		if got, err := os.ReadFile(filepath.Join(dir, "workspace", "in", "a.png")); string(got) != aPNG || err != nil {
			t.Errorf("%q %v", got, err)
		}
		if sent := model.Requests()[0].Messages[0].Images; len(sent) != 1 || string(sent[0].Data) != aPNG {
			t.Errorf("%d images", len(sent))
		}
	})
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		b.Files().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		return w.Code, w.Body.String()
	}
	_, rest, _ := strings.Cut(said, `"name":"a.png"},`)
	file := "/api/session-file?sessionId=" + id + "&handle=" + field(t, rest, "src")
	media := "/api/session-media?sessionId=" + id + "&n=0&itemId=" + field(t, said, "itemId")
	t.Run("SP-FILE-03 SEC-11 the page of the window has both by their addresses", func(t *testing.T) {
		if code, body := get(media); code != 200 || body != aPNG {
			t.Errorf("%d %q", code, body)
		}
		if code, body := get(file); code != 200 || body != "\x00\x01\x02" {
			t.Errorf("%d %q", code, body)
		}
	})
	t.Run("SP-SESS-14 with the session its files go, and the addresses with them", func(t *testing.T) {
		if got := call("session/delete", `{"sessionId":"`+id+`"}`); !strings.Contains(got, `"result":{}`) {
			t.Fatal(got)
		}
		for _, address := range []string{media, file} {
			if code, _ := get(address); code != 404 {
				t.Errorf("%s: %d", address, code)
			}
		}
		kept := func() (n int) {
			_ = filepath.WalkDir(filepath.Join(dir, "attachments"), func(_ string, d fs.DirEntry, _ error) error {
				if d != nil && !d.IsDir() {
					n++
				}
				return nil
			})
			return n
		}
		for end := time.Now().Add(10 * time.Second); kept() > 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d files are still kept", kept())
			}
		}
	})
}
