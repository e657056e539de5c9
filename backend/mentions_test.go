package backend_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNamingFilesOfThePlace(t *testing.T) {
	s := speak(t, "language: en\n", nil)
	folder := t.TempDir()
	for path, in := range map[string]string{"boat.txt": folder, "secret-boat.txt": filepath.Dir(folder), "boat-of-the-workspace.txt": filepath.Join(s.dir, "workspace")} {
		if err := os.WriteFile(filepath.Join(in, path), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	added := s.call("ext/places/add", `{"path":"`+folder+`"}`)
	key := field(t, added, "key")
	id := field(t, s.call("session/create", `{"ext":{"place":"`+key+`"}}`), "id")
	t.Run("a session's files are those of its place, and nothing outside", func(t *testing.T) {
		got := s.call("ext/places/files", `{"sessionId":"`+id+`","query":"boat"}`)
		lacks(t, "the answer", got, `"files":["boat.txt"]`)
		lacks(t, "the answer", s.call("ext/places/files", `{"sessionId":"`+id+`","query":"../"}`), `"files":[]`)
	})
	t.Run("before there is a session, those of the place that is chosen", func(t *testing.T) {
		lacks(t, "the answer", s.call("ext/places/files", `{"place":"`+key+`","query":"BOAT"}`), `"files":["boat.txt"]`)
		lacks(t, "the answer", s.call("ext/places/files", `{"query":"boat"}`), `"files":["boat-of-the-workspace.txt"]`)
	})
	t.Run("what is not there is said", func(t *testing.T) {
		lacks(t, "the answer", s.call("ext/places/files", `{"sessionId":"nobody","query":"a"}`), `"not-found"`)
		lacks(t, "the answer", s.call("ext/places/files", `{"place":"elsewhere","query":"a"}`), `"not-found"`, "no place elsewhere")
		lacks(t, "the answer", s.call("ext/places/files", `{"query":"`+strings.Repeat("a", 401)+`"}`), `-32602`)
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		lacks(t, "the answer", s.call("ext/places/files", `{"sessionId":"`+id+`","query":"a"}`), `"not-found"`, "not a folder that is there")
	})
}
