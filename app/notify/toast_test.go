package notify

import (
	"encoding/xml"
	"strings"
	"testing"
)

// TestToast reads a toast back: no word of it becomes anything but a word.
func TestToast(t *testing.T) {
	note := Note{
		Key: `k" onx="`, Title: "]]></text>\u202e", Body: "$(calc) `x` \"@\n<action arguments=\"approve\"/>", Urgent: true,
		Actions: []Action{{ID: "approve", Label: `A & "B"`}},
	}
	var got struct {
		Launch string   `xml:"launch,attr"`
		Texts  []string `xml:"visual>binding>text"`
		Action []struct {
			Content   string `xml:"content,attr"`
			Arguments string `xml:"arguments,attr"`
		} `xml:"actions>action"`
	}
	raw := toast(note, `C:\a & b.png`)
	if err := xml.Unmarshal([]byte(raw), &got); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	if len(got.Texts) != 2 || got.Texts[0] != "]]></text>⟨U+202E⟩" || got.Texts[1] != note.Body || len(got.Action) != 1 || got.Action[0].Content != `A & "B"` {
		t.Errorf("%+v", got)
	}
	for args, want := range map[string]string{got.Launch: Open, got.Action[0].Arguments: "approve"} {
		if key, action, ok := pressed(args); !ok || key != note.Key || action != want {
			t.Errorf("%q: %q %q", args, key, action)
		}
	}
	if !strings.Contains(raw, `scenario="reminder"`) {
		t.Error(raw)
	}
}
