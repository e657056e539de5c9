package jsonrpc

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"aalis/backend/text"
)

// explain finds the first thing about tree that does not fit the schema and says so for people. It
// follows the few keywords our contracts use; the validator has already decided that something is
// wrong, so a keyword unknown here costs a less exact sentence and nothing else.
func explain(defs map[string]*jsonschema.Schema, s *jsonschema.Schema, path string, tree any) text.Text {
	if name, isRef := strings.CutPrefix(s.Ref, defsPrefix); isRef {
		return explain(defs, defs[name], path, tree)
	}
	if choices := words(s); len(choices) > 0 {
		if slices.Contains(choices, tree) {
			return text.Text{}
		}
		return choose(path, choices)
	}
	if branches := slices.Concat(s.OneOf, s.AnyOf); len(branches) > 0 {
		return explainUnion(defs, branches, path, tree)
	}
	switch s.Type {
	case "object":
		if object, ok := tree.(map[string]any); ok {
			return explainObject(defs, s, path, object)
		}
	case "array":
		if entries, ok := tree.([]any); ok {
			return explainArray(defs, s, path, entries)
		}
	case "string":
		if str, ok := tree.(string); ok {
			return explainString(s, path, str)
		}
	case "number", "integer":
		if n, ok := tree.(float64); ok && (s.Type == "number" || n == math.Trunc(n)) {
			return explainNumber(s, path, n)
		}
	case "boolean":
		if _, ok := tree.(bool); ok {
			return text.Text{}
		}
	default:
		return text.Text{}
	}
	return text.New("wire.params-type", "path", path, "want", text.New(text.Key("wire.type-"+s.Type)))
}

func explainObject(defs map[string]*jsonschema.Schema, s *jsonschema.Schema, path string, object map[string]any) text.Text {
	for _, key := range s.Required {
		if _, given := object[key]; !given {
			return text.New("wire.params-missing", "path", path+"."+key)
		}
	}
	for _, key := range sortedKeys(s.Properties) {
		if value, given := object[key]; given {
			if found := explain(defs, s.Properties[key], path+"."+key, value); !found.IsZero() {
				return found
			}
		}
	}
	if s.AdditionalProperties == nil {
		return text.Text{}
	}
	for _, key := range sortedKeys(object) {
		if s.Properties[key] == nil {
			if found := explain(defs, s.AdditionalProperties, path+"."+Shorten(key), object[key]); !found.IsZero() {
				return found
			}
		}
	}
	return text.Text{}
}

func explainArray(defs map[string]*jsonschema.Schema, s *jsonschema.Schema, path string, entries []any) text.Text {
	if s.MaxItems != nil && len(entries) > *s.MaxItems {
		return text.New("wire.params-many", "path", path, "max", *s.MaxItems, "n", len(entries))
	}
	for i, entry := range entries {
		if found := explain(defs, s.Items, fmt.Sprintf("%s[%d]", path, i), entry); !found.IsZero() {
			return found
		}
	}
	return text.Text{}
}

func explainString(s *jsonschema.Schema, path, str string) text.Text {
	n := utf8.RuneCountInString(str)
	switch {
	case s.MinLength != nil && n < *s.MinLength:
		return text.New("wire.params-short", "path", path, "min", *s.MinLength)
	case s.MaxLength != nil && n > *s.MaxLength:
		return text.New("wire.params-long", "path", path, "max", *s.MaxLength, "n", n)
	case s.Pattern != "":
		// Everything else about the string fits, so this is what does not.
		return text.New("wire.params-form", "path", path, "form", s.Pattern)
	}
	return text.Text{}
}

func explainNumber(s *jsonschema.Schema, path string, n float64) text.Text {
	switch {
	case s.Minimum != nil && n < *s.Minimum:
		return text.New("wire.params-least", "path", path, "min", *s.Minimum)
	case s.Maximum != nil && n > *s.Maximum:
		return text.New("wire.params-most", "path", path, "max", *s.Maximum)
	}
	return text.Text{}
}

// explainUnion looks into the branch whose constants the tree has; without one it lists the constants
// there are.
func explainUnion(defs map[string]*jsonschema.Schema, branches []*jsonschema.Schema, path string, tree any) text.Text {
	object, ok := tree.(map[string]any)
	if !ok {
		return text.New("wire.params-variant", "path", path)
	}
	var by string
	var choices []any
	for _, branch := range branches {
		def := branch
		if name, isRef := strings.CutPrefix(branch.Ref, defsPrefix); isRef {
			def = defs[name]
		}
		for key, property := range def.Properties {
			if property.Const == nil {
				continue
			}
			if object[key] == *property.Const {
				return explain(defs, def, path, tree)
			}
			by, choices = key, append(choices, *property.Const)
		}
	}
	if by == "" {
		return text.New("wire.params-variant", "path", path)
	}
	return choose(path+"."+by, choices)
}

func choose(path string, choices []any) text.Text {
	if len(choices) == 1 {
		return text.New("wire.params-only", "path", path, "value", choices[0])
	}
	return text.New("wire.params-choice", "path", path, "choices", list(choices))
}

// words are the values a schema lists, if it lists any.
func words(s *jsonschema.Schema) []any {
	if s.Const != nil {
		return []any{*s.Const}
	}
	return s.Enum
}

func list(choices []any) string {
	all := make([]string, len(choices))
	for i, choice := range choices {
		all[i] = fmt.Sprint(choice)
	}
	return strings.Join(all, ", ")
}

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
