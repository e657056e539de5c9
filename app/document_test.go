package app

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheDocumentOfSettings(t *testing.T) {
	t.Run("settings and plugins may stand in config.yaml", func(t *testing.T) {
		dir := english(t)
		configure(t, dir, "settings: {global: {aalis: {toolLimit: 5}}, platforms: {webui: {aalis: {Thinking: x}}}, types: {}}\nplugins: {host: {x: 1}}\n")
		if _, problem := load(t, globals{}); problem != "" {
			t.Error(problem)
		}
	})
	t.Run("what is out of shape in them is said, all at once", func(t *testing.T) {
		dir := english(t)
		configure(t, dir, "settings: {globla: {}, platforms: {webui: 5}}\nplugins: 7\nsetings: 5\n")
		_, problem := load(t, globals{})
		for _, want := range []string{`no key "globla"`, "settings.platforms.webui must be a map", "plugins must be a map", "setings", `"settings"`} {
			if !strings.Contains(problem, strings.Trim(want, `"`)) {
				t.Errorf("%s is not in:\n%s", want, problem)
			}
		}
	})
	t.Run("they are no variables", func(t *testing.T) {
		english(t)
		t.Setenv("AALIS_SETTINGS", "{}")
		if _, problem := load(t, globals{}); !strings.Contains(problem, "AALIS_SETTINGS") {
			t.Error(problem)
		}
	})
	t.Run("variables of what the program writes, too, are handed on", func(t *testing.T) {
		dir := english(t)
		configure(t, dir, "language: en\nname: Mira\n")
		t.Setenv("AALIS_LANGUAGE", "zh-CN")
		t.Setenv("AALIS_NAME", "")
		got, problem := load(t, globals{})
		if diff := cmp.Diff(map[string]any{"language": "zh-CN"}, got.fixed); diff != "" || problem != "" {
			t.Error(diff, problem)
		}
	})
}

func TestOptionsOfTheWindow(t *testing.T) {
	b := newBridge(nil, nil)
	if _, err := b.Options("llm", ""); !errors.Is(err, errBridgeClosed) {
		t.Errorf("without a program: %v", err)
	}
	b.options = func(ctx context.Context, source, dependency string) (string, error) {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("a page may wait for ever")
		}
		return source + " of " + dependency, nil
	}
	if got, err := b.Options("llm-thinking", "a/b"); got != "llm-thinking of a/b" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}
