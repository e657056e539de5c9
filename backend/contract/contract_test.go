package contract

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aalis/backend/contract/schema"
	"aalis/backend/wire/jsonrpc"
)

var update = flag.Bool("update", false, "write the contracts instead of comparing them")

// TestCurrent compares what is checked in with what the Go types give now.
func TestCurrent(t *testing.T) {
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		written, err := Write(root)
		if err != nil {
			t.Fatal(err)
		}
		t.Log("wrote", written)
		return
	}
	files, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Errorf("%v: run build/gen.sh", err)
			continue
		}
		if string(got) != string(want) {
			t.Errorf("%s is not what the Go types give now: run build/gen.sh%s", name, firstDifference(got, want))
		}
	}
}

func firstDifference(got, want []byte) string {
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "\n-" + a[i] + "\n+" + b[i]
		}
	}
	return "\none is longer"
}

// document is the published schema of the session protocol as a stranger reads it.
type published struct {
	Version       string
	Constants     map[string]any
	Methods       map[string]struct{ Params, Result map[string]string }
	Notifications map[string]map[string]string
	Defs          map[string]map[string]any `json:"$defs"`
}

func read(t *testing.T) (published, string) {
	t.Helper()
	var p published
	if err := json.Unmarshal(schema.Session, &p); err != nil {
		t.Fatal(err)
	}
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(root, "frontend/src/contract/session.gen.ts"))
	if err != nil {
		t.Fatal(err)
	}
	return p, string(script)
}

func TestSurface(t *testing.T) {
	p, script := read(t)
	t.Run("SP-PKG-01 the module imports a schema library and nothing else, and declares only constants and types", func(t *testing.T) {
		imports := regexp.MustCompile(`(?m)^import .*$`).FindAllString(script, -1)
		if len(imports) != 1 || imports[0] != "import * as z from 'zod/mini';" {
			t.Error(imports)
		}
		for line := range strings.Lines(script) {
			if top := regexp.MustCompile(`^[a-z]`).MatchString(line); top && !regexp.MustCompile(`^(import|export const|export type) `).MatchString(line) {
				t.Error(line)
			}
		}
	})
	t.Run("SP-PKG-02 the version is 0.2.0 and experimental", func(t *testing.T) {
		if p.Version != "0.2.0" || p.Constants["SESSION_PROTOCOL_VERSION"] != "0.2.0" || p.Constants["sessionProtocol"].(map[string]any)["experimental"] != true {
			t.Error(p.Version, p.Constants)
		}
	})
	t.Run("SP-PKG-03 SP-ERR-01 the six codes and the four frames", func(t *testing.T) {
		want := map[string]any{
			"parseError": -32700.0, "invalidRequest": -32600.0, "methodNotFound": -32601.0,
			"invalidParams": -32602.0, "internalError": -32603.0, "applicationError": -32000.0,
		}
		got := p.Constants["RPC_ERROR_CODES"].(map[string]any)
		if len(got) != len(want) {
			t.Error(got)
		}
		for name, code := range want {
			if got[name] != code {
				t.Errorf("%s is %v", name, got[name])
			}
		}
		exports(t, script, "RPC_ERROR_CODES", "RequestFrameSchema", "ResultFrameSchema", "ErrorFrameSchema", "NotificationFrameSchema")
	})
	t.Run("SP-PKG-07 nine kinds of items, and two kinds of attachments", func(t *testing.T) {
		var kinds []string
		for _, branch := range p.Defs["SessionItem"]["oneOf"].([]any) {
			def := p.Defs[strings.TrimPrefix(branch.(map[string]any)["$ref"].(string), "#/$defs/")]
			kinds = append(kinds, def["properties"].(map[string]any)["kind"].(map[string]any)["const"].(string))
		}
		want := []string{"user-message", "agent-message", "reasoning", "tool-call", "notice", "plan", "usage", "turn", "queue"}
		if !slices.Equal(kinds, want) {
			t.Error(kinds)
		}
		if !strings.Contains(script, "export const SessionItemSchema = z.discriminatedUnion('kind', [") {
			t.Error("not a union discriminated by kind")
		}
		exports(t, script, "ItemAttachmentSchema", "OutgoingAttachmentSchema")
	})
	t.Run("SP-PKG-08 the service descriptor", func(t *testing.T) {
		if p.Constants["sessionProtocol"].(map[string]any)["name"] != "session-protocol" {
			t.Error(p.Constants["sessionProtocol"])
		}
		exports(t, script, "sessionProtocol")
	})
	t.Run("SP-PKG-09 every type is inferred", func(t *testing.T) {
		types := regexp.MustCompile(`(?m)^export type (\w+).* = (.*);$`).FindAllStringSubmatch(script, -1)
		if len(types) < len(p.Defs) {
			t.Errorf("%d types for %d definitions", len(types), len(p.Defs))
		}
		for _, found := range types {
			if !strings.HasPrefix(found[2], "z.infer<") && !strings.HasPrefix(found[2], "keyof typeof session") {
				t.Error(found[0])
			}
		}
	})
	t.Run("SP-PKG-14 the topic of command replies", func(t *testing.T) {
		if p.Constants["COMMAND_REPLY_TOPIC"] != "command-reply" {
			t.Error(p.Constants)
		}
		exports(t, script, "COMMAND_REPLY_TOPIC")
	})
}

func exports(t *testing.T, script string, names ...string) {
	t.Helper()
	for _, name := range names {
		if !strings.Contains(script, "\nexport const "+name+" = ") {
			t.Errorf("%s is not exported", name)
		}
	}
}

func TestMethods(t *testing.T) {
	p, script := read(t)
	methods := []string{
		"initialize", "sessions/list", "sessions/watch", "session/create", "session/rename", "session/archive",
		"session/unarchive", "session/delete", "session/batch", "session/config/get", "session/config/update",
		"session/config/layers", "session/config/layer/get", "session/config/layer/update", "session/config/overrides",
		"session/markSeen", "session/subscribe", "session/unsubscribe", "session/history", "turn/send", "turn/continue",
		"turn/abort", "session/compress", "turn/rewind", "plan/clear", "background/list", "background/watch",
		"background/output", "background/stop", "background/stopAll", "presence/update", "approval/respond",
	}
	notifications := []string{
		"features/changed", "sessions/changed", "session/config/changed", "item/started", "item/delta", "item/completed",
		"session/resync", "background/changed", "approval/requested", "approval/settled",
	}
	t.Run("SP-PKG-06 exactly the 32 methods and the 10 notifications", func(t *testing.T) {
		for _, name := range methods {
			if _, known := p.Methods[name]; !known {
				t.Errorf("no method %s", name)
			}
		}
		for _, name := range notifications {
			if _, known := p.Notifications[name]; !known {
				t.Errorf("no notification %s", name)
			}
		}
		own := 0
		for name := range p.Methods {
			if strings.HasPrefix(name, "ext/") {
				own++
			}
		}
		if len(p.Methods)-own != len(methods) || len(p.Notifications) != len(notifications) {
			t.Errorf("%d methods, %d of them ours, and %d notifications", len(p.Methods), own, len(p.Notifications))
		}
	})
	t.Run("SP-PKG-04 SP-PKG-05 the maps from names to schemas", func(t *testing.T) {
		for name, m := range p.Methods {
			line := "  '" + name + "': { params: " + def(m.Params) + "Schema, result: " + def(m.Result) + "Schema },\n"
			if !strings.Contains(script, line) {
				t.Errorf("sessionMethods lacks %s", line)
			}
		}
		for name, n := range p.Notifications {
			if line := "  '" + name + "': " + def(n) + "Schema,\n"; !strings.Contains(script, line) {
				t.Errorf("sessionNotifications lacks %s", line)
			}
		}
		exports(t, script, "sessionMethods", "sessionNotifications")
	})
}

func def(ref map[string]string) string { return strings.TrimPrefix(ref["$ref"], "#/$defs/") }

// TestEveryShape builds an instance of every published shape, bare and full, and then adds keys that
// nobody knows wherever an object stands.
func TestEveryShape(t *testing.T) {
	p, _ := read(t)
	schemas, err := jsonrpc.LoadSchemas(schema.Session)
	if err != nil {
		t.Fatal(err)
	}
	for name := range p.Defs {
		for _, full := range []bool{false, true} {
			instance := build(p.Defs, p.Defs[name], full)
			if misfit, err := schemas.Shape(name).Check(name, instance); err != nil || !misfit.IsZero() {
				t.Errorf("%s, full %v: %v %v", name, full, misfit, err)
				continue
			}
			t.Run("SP-PKG-10 extra keys in "+name, func(t *testing.T) {
				if misfit, err := schemas.Shape(name).Check(name, extend(instance)); err != nil || !misfit.IsZero() {
					t.Errorf("full %v: %v %v", full, misfit, err)
				}
			})
		}
	}
}

// build makes an instance of a schema, with or without what is optional.
func build(defs map[string]map[string]any, s map[string]any, full bool) any {
	if ref, ok := s["$ref"].(string); ok {
		return build(defs, defs[strings.TrimPrefix(ref, "#/$defs/")], full)
	}
	if word, ok := s["const"]; ok {
		return word
	}
	if words, ok := s["enum"].([]any); ok {
		return words[len(words)-1]
	}
	for _, union := range []string{"oneOf", "anyOf"} {
		if branches, ok := s[union].([]any); ok {
			return build(defs, branches[0].(map[string]any), full)
		}
	}
	switch s["type"] {
	case "object":
		return buildObject(defs, s, full)
	case "array":
		if !full {
			return []any{}
		}
		return []any{build(defs, s["items"].(map[string]any), full)}
	case "string":
		if s["pattern"] != nil {
			return "0.2.0"
		}
		return "x"
	case "integer":
		return 1.0
	case "number":
		return 0.5
	case "boolean":
		return false
	}
	return []any{nil, "anything"}
}

func buildObject(defs map[string]map[string]any, s map[string]any, full bool) any {
	object := make(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for key, property := range properties {
		if full || slices.Contains(required, any(key)) {
			schema, _ := property.(map[string]any) // true: anything
			object[key] = build(defs, schema, full)
		}
	}
	if values, ok := s["additionalProperties"].(map[string]any); ok && full {
		object["x"] = build(defs, values, full)
	}
	return object
}

// extend adds a key to every object, except to records of numbers, whose keys are data.
func extend(instance any) any {
	switch v := instance.(type) {
	case map[string]any:
		more := make(map[string]any)
		for key, value := range v {
			more[key] = extend(value)
		}
		if _, isRecord := v["x"].(float64); !isRecord {
			more["zzUnknown"] = map[string]any{"later": []any{1.0, nil}}
		}
		return more
	case []any:
		more := make([]any, len(v))
		for i, value := range v {
			more[i] = extend(value)
		}
		return more
	}
	return instance
}
