package demo

import "testing"

func TestFilesAsTheyAreNamed(t *testing.T) {
	for words, want := range map[string]string{
		"notes.txt": "notes.txt", "@notes.txt": "notes.txt", `@"my notes.txt"`: "my notes.txt", `"quoted".txt`: `"quoted".txt`,
	} {
		name, args := directives("read: " + words)[0].call()
		if got, _ := args.(map[string]string); name != "read_file" || got["path"] != want {
			t.Errorf("%s: %s %v", words, name, args)
		}
	}
}
