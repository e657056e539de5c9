package command

import (
	"context"
	"testing"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
)

func TestWhatIsACommand(t *testing.T) {
	for message, want := range map[string]struct{ word, rest string }{
		"/help":             {"help", ""},
		"  /Model  a/b \n":  {"model", "a/b"},
		"/model\nsomething": {"model", "something"},
		"/model　模型":         {"model", "模型"},
		"/helpme":           {},
		"/ help":            {},
		"//help":            {},
		"help":              {},
		"/etc/hosts":        {},
		"/":                 {},
		"":                  {},
	} {
		found, rest := parse(message)
		word := ""
		if found != nil {
			word = found.word
		}
		if word != want.word || rest != want.rest {
			t.Errorf("%q is %q %q", message, word, rest)
		}
	}
	with := core.SendInput{Input: event.Input{Text: "/help", Attachments: []event.Attachment{{Name: "a"}}}}
	if known, err := New(Options{}).Take(t.Context(), Call{Send: with}); known || err != nil {
		t.Errorf("a message with a file: %v, %v", known, err)
	}
}

func TestChoosingAModel(t *testing.T) {
	all := []string{"one/big", "one/small", "two/small", "two/deep/model"}
	for word, want := range map[string]string{
		"one/big": "one/big", "BIG": "one/big", "deep/model": "two/deep/model", "two/unlisted": "two/unlisted",
		"small": "", "three/big": "", "one/": "", "nothing": "",
	} {
		if id, ok := choose(all, word); ok != (want != "") || ok && id != want {
			t.Errorf("%q is %q, %v", word, id, ok)
		}
	}
}

func TestWhoMayNotManageSetsNoModel(t *testing.T) {
	c := call{rest: "m", Commands: New(Options{
		Model: func(context.Context, string, string) (string, []string, error) { return "p/m", []string{"p/m"}, nil },
		SetModel: func(context.Context, string, string, string) error {
			t.Error("it was set")
			return nil
		},
	})}
	if _, err := model(t.Context(), c); !fault.Is(err, fault.Forbidden) {
		t.Error(err)
	}
}
