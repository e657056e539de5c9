// Package tooltest is the conformance suite every tool passes: its schema, what it does with wrong
// arguments, with paths that leave the session's folder, with a stop, with long results, and how a
// card shows it. Tests of the tool packages call Run; nothing else does.
package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"aalis/backend/tool"

	"github.com/google/go-cmp/cmp"
	google "github.com/google/jsonschema-go/jsonschema"
)

// StopLimit is how long a stopped call may take to return.
const StopLimit = 2 * time.Second

// Case is one tool and what the suite needs to know of it.
type Case struct {
	Tool tool.Definition
	// Setup fills the folder so that Good succeeds.
	Setup func(t *testing.T, root string)
	// Good are arguments that succeed in that folder.
	Good string
	// Bad are arguments the tool must refuse beyond those the suite derives from the schema.
	Bad []string
	// Paths are the parameters that name files or folders.
	Paths []string
	// Slow are arguments that keep Execute busy for more than StopLimit; empty for a tool that
	// cannot be.
	Slow string
	// Long are arguments whose result does not fit MaxResultBytes; empty for a tool that has none.
	Long string
	// Shown is what a card shows of Good before the end; nil for the generic card.
	Shown *tool.Shown
}

// Run runs the suite.
func Run(t *testing.T, c Case) {
	t.Helper()
	t.Run("schema", c.schema)
	t.Run("prepare changes nothing and states the facts", c.prepare)
	t.Run("wrong arguments are refused and nothing happens", c.wrongArguments)
	t.Run("paths that leave the folder are refused and nothing happens", c.paths)
	t.Run("runs once", c.once)
	t.Run("stop", c.stop)
	t.Run("long result", c.long)
	t.Run("display", c.display)
}

func (c Case) place(t *testing.T) tool.Place {
	t.Helper()
	root := t.TempDir()
	if c.Setup != nil {
		c.Setup(t, root)
	}
	return tool.Place{Key: "test", Root: root}
}

// Prepare prepares one call of a tool.
func Prepare(t *testing.T, def tool.Definition, place tool.Place, args string) (tool.Prepared, error) {
	t.Helper()
	return tool.NewRegistry(def).Prepare(t.Context(), def.Name, tool.Call{
		SessionID: "s", TurnID: "t", CallID: "c", Args: json.RawMessage(args), Place: place,
	})
}

// Call prepares and executes one call of a tool, as after an approval.
func Call(t *testing.T, def tool.Definition, place tool.Place, args string) (tool.Result, error) {
	t.Helper()
	prepared, err := Prepare(t, def, place, args)
	if err != nil {
		return tool.Result{}, err
	}
	return prepared.Execute(t.Context(), func(string) {})
}

func (c Case) schema(t *testing.T) {
	if !regexp.MustCompile(`^[a-z_]{1,64}$`).MatchString(c.Tool.Name) {
		t.Errorf("name %q is out of form", c.Tool.Name)
	}
	if n := len(c.Tool.Description); n == 0 || n > 1500 {
		t.Errorf("the description has %d bytes; between 1 and 1500 are a description a model reads", n)
	}
	if c.Tool.Effect != tool.Read && c.Tool.Effect != tool.Write {
		t.Errorf("effect %q", c.Tool.Effect)
	}
	var schema struct {
		Schema     string                     `json:"$schema"`
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Additional *bool                      `json:"additionalProperties"`
	}
	if err := json.Unmarshal(c.Tool.Params, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Type != "object" || schema.Additional == nil || *schema.Additional || schema.Schema != "" {
		t.Errorf("the schema is not a closed object alone: %s", c.Tool.Params)
	}
	if strings.Contains(string(c.Tool.Params), "$ref") {
		t.Errorf("the schema has references: %s", c.Tool.Params)
	}
	for name, raw := range schema.Properties {
		var p struct{ Type, Description string }
		if err := json.Unmarshal(raw, &p); err != nil || p.Type == "" || p.Description == "" {
			t.Errorf("parameter %s has no type or description: %s", name, raw)
		}
	}
	for _, name := range schema.Required {
		if _, there := schema.Properties[name]; !there {
			t.Errorf("required %s is not a parameter", name)
		}
	}
	var parsed google.Schema
	if err := json.Unmarshal(c.Tool.Params, &parsed); err != nil {
		t.Fatal(err)
	}
	resolved, err := parsed.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{string(c.Tool.Example), c.Good} {
		var v any
		if err := json.Unmarshal([]byte(args), &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); err != nil {
			t.Errorf("the schema refuses %s: %v", args, err)
		}
	}
}

func (c Case) prepare(t *testing.T) {
	place := c.place(t)
	before := Tree(t, place.Root)
	prepared, err := Prepare(t, c.Tool, place, c.Good)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, Tree(t, place.Root)); diff != "" {
		t.Errorf("preparing changed the folder:\n%s", diff)
	}
	if want := c.Tool.Effect == tool.Write; prepared.NeedsApproval != want {
		t.Errorf("needs approval: %v, want %v for effect %s", prepared.NeedsApproval, want, c.Tool.Effect)
	}
	params, err := json.Marshal(prepared.Facts.Params)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decode(t, c.Good), decode(t, string(params))); diff != "" {
		t.Errorf("facts.params are not the arguments as given:\n%s", diff)
	}
	if _, err := prepared.Execute(t.Context(), func(string) {}); err != nil {
		t.Errorf("the good arguments fail: %v", err)
	}
	if c.Tool.Effect == tool.Read {
		if diff := cmp.Diff(before, Tree(t, place.Root)); diff != "" {
			t.Errorf("a reading tool changed the folder:\n%s", diff)
		}
	}
}

func decode(t *testing.T, s string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func (c Case) wrongArguments(t *testing.T) {
	place := c.place(t)
	before := Tree(t, place.Root)
	bad := append([]string{`null`, `[]`, `"text"`, `12`, `{`, `{} {}`, `not json`, "{\"a\":\"\xff\"}"}, c.Bad...)
	bad = append(bad, c.derived(t)...)
	for _, args := range bad {
		_, err := Prepare(t, c.Tool, place, args)
		e, ok := errors.AsType[*tool.Error](err)
		switch {
		case !ok:
			t.Errorf("%s: error %v, want an *Error", args, err)
		case e.Code != tool.InvalidArgs || !e.NotExecuted:
			t.Errorf("%s: code %s, notExecuted %v: %s", args, e.Code, e.NotExecuted, e.Message)
		case len(e.Message) > 4000 || !utf8.ValidString(e.Message):
			t.Errorf("%s: a sentence of %d bytes", args, len(e.Message))
		}
	}
	if diff := cmp.Diff(before, Tree(t, place.Root)); diff != "" {
		t.Errorf("wrong arguments changed the folder:\n%s", diff)
	}
}

// derived breaks Good in every way the schema forbids.
func (c Case) derived(t *testing.T) []string {
	t.Helper()
	var schema google.Schema
	if err := json.Unmarshal(c.Tool.Params, &schema); err != nil {
		t.Fatal(err)
	}
	encode := func(v map[string]any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	with := func(name string, value any) string {
		args := decode(t, c.Good)
		args[name] = value
		return encode(args)
	}
	bad := []string{with("no_such_parameter", 1)}
	for name, p := range schema.Properties {
		wrong := map[string][]any{"string": {1, true, []any{}, map[string]any{}}, "integer": {"1", 1.5, true}, "boolean": {"true", 0}}[p.Type]
		for _, value := range wrong {
			bad = append(bad, with(name, value))
		}
		if p.Minimum != nil {
			bad = append(bad, with(name, *p.Minimum-1))
		}
		if p.Maximum != nil {
			bad = append(bad, with(name, *p.Maximum+1))
		}
		bad = append(bad, with(strings.ToUpper(name[:1])+name[1:], "case"))
		bad = append(bad, fmt.Sprintf(`{%q:"a",%q:"b"}`, name, name))
	}
	for _, name := range schema.Required {
		args := decode(t, c.Good)
		delete(args, name)
		bad = append(bad, encode(args), with(name, nil))
	}
	return bad
}

func (c Case) paths(t *testing.T) {
	if len(c.Paths) == 0 {
		t.Log("takes no paths")
	}
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	place := c.place(t)
	for link, target := range map[string]string{"leave": outside, "leave.txt": secret, "up": "..", "deep": "up/../../x"} {
		if err := os.Symlink(target, filepath.Join(place.Root, link)); err != nil {
			t.Fatal(err)
		}
	}
	leaving := []string{
		"..", "../x", "a/../../x", "/", "/etc/passwd", secret, "~", "~/x", place.Root + "x",
		"C:/x", `C:\x`, "c:", `\\host\share`, "leave/secret.txt", "leave/new.txt", "leave/new/deep.txt",
		"leave.txt", "up/x", "deep",
	}
	if os.PathSeparator == '\\' {
		leaving = leaving[:8]
	}
	leaving = append(leaving, "a\x00b")
	before, beforeOutside := Tree(t, place.Root), Tree(t, outside)
	for _, name := range c.Paths {
		for _, path := range leaving {
			args := decode(t, c.Good)
			args[name] = path
			encoded, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Prepare(t, c.Tool, place, string(encoded))
			e, ok := errors.AsType[*tool.Error](err)
			if !ok || !e.NotExecuted || e.Code != tool.OutsidePlace && e.Code != tool.InvalidArgs {
				t.Errorf("%s %q: %v, want a refusal", name, path, err)
			}
		}
	}
	if diff := cmp.Diff(before, Tree(t, place.Root)); diff != "" {
		t.Errorf("refused paths changed the folder:\n%s", diff)
	}
	if diff := cmp.Diff(beforeOutside, Tree(t, outside)); diff != "" {
		t.Errorf("refused paths changed what is outside:\n%s", diff)
	}
}

func (c Case) once(t *testing.T) {
	prepared, err := Prepare(t, c.Tool, c.place(t), c.Good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prepared.Execute(t.Context(), nil); err != nil {
		t.Errorf("without anybody listening: %v", err)
	}
	_, err = prepared.Execute(t.Context(), nil)
	if e, ok := errors.AsType[*tool.Error](err); !ok || !e.NotExecuted {
		t.Errorf("executing twice: %v, want a refusal", err)
	}
}

func (c Case) stop(t *testing.T) {
	place := c.place(t)
	before := Tree(t, place.Root)
	prepared, err := Prepare(t, c.Tool, place, c.Good)
	if err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := prepared.Execute(stopped, func(string) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped before it began: %v, want the context's error", err)
	}
	if diff := cmp.Diff(before, Tree(t, place.Root)); diff != "" {
		t.Errorf("a call stopped before it began changed the folder:\n%s", diff)
	}
	if c.Slow == "" {
		return
	}
	cause := errors.New("the owner stopped it")
	running, end := context.WithCancelCause(t.Context())
	prepared, err = Prepare(t, c.Tool, place, c.Slow)
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	var begin sync.Once
	var stoppedAt time.Time
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-begun:
		case <-time.After(5 * time.Second):
			t.Error("slow arguments give no output; the suite waits for some to know that it runs")
		}
		stoppedAt = time.Now()
		end(cause)
	})
	_, err = prepared.Execute(running, func(string) { begin.Do(func() { close(begun) }) })
	watcher.Wait()
	if !errors.Is(err, cause) {
		t.Errorf("stopped: %v, want its cause", err)
	}
	if took := time.Since(stoppedAt); took > StopLimit {
		t.Errorf("returned %v after the stop, want at most %v", took, StopLimit)
	}
}

func (c Case) long(t *testing.T) {
	if c.Long == "" {
		t.Log("has no long results")
		return
	}
	result, err := Call(t, c.Tool, c.place(t), c.Long)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Text) > tool.MaxResultBytes || !utf8.ValidString(result.Text) || !result.Truncated {
		t.Errorf("%d bytes, valid %v, truncated %v; want at most %d, valid and marked", len(result.Text), utf8.ValidString(result.Text), result.Truncated, tool.MaxResultBytes)
	}
	if !strings.Contains(result.Text, "[") {
		t.Error("nothing says that something is left out")
	}
}

func (c Case) display(t *testing.T) {
	got := tool.ResolveDisplay(c.Tool.Display, json.RawMessage(c.Good), nil)
	if diff := cmp.Diff(c.Shown, got); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}

// Tree describes everything below root, so that two moments can be compared.
func Tree(t *testing.T, root string) map[string]string {
	t.Helper()
	tree := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		said := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			said += fmt.Sprintf(" %s %q", info.ModTime(), content)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			said += " -> " + target
		}
		tree[filepath.ToSlash(rel)] = said
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
