package backend_test

import (
	"strings"
	"testing"

	"aalis/backend"
)

// The window is a surface of its own with a tab's identity, so that who answered can be told and settings
// resolve alike.
func TestTheWindow(t *testing.T) {
	b, err := backend.Open(t.Context(), backend.Config{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	frames := make(chan string, 8)
	c := b.Connect(func(string) {}, func(frame string) { frames <- frame })
	t.Cleanup(c.Close)
	c.Receive(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"0.2.0","client":{"name":"window","version":"1"}}}`)
	got := <-frames
	for _, want := range []string{`"surface":"desktop"`, `"identity":{"platform":"webui","userId":"console"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}
