package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	google "github.com/google/jsonschema-go/jsonschema"
	invopop "github.com/invopop/jsonschema"
)

// paramSchema checks the arguments of one tool and explains what is wrong with them.
type paramSchema struct {
	tool     string
	raw      json.RawMessage
	example  string
	resolved *google.Resolved
	props    []property // in the order of the struct's fields
}

type property struct {
	name     string
	required bool
	wanted   string                  // "a string", "an integer from 1 to 600"
	resolved func() *google.Resolved // its own part, made when a refusal needs it: most starts refuse nothing
}

// arguments are a call's arguments after they passed the schema.
type arguments struct {
	literal map[string]any  // as given, numbers as json.Number
	present json.RawMessage // without optional parameters given as null
}

const backgroundWords = "True to run it in the background: you go on at once, and are told when it has ended. Default: false."

// schemaOf makes the schema the model sees: one flat object, no $schema, no references. It panics
// on a P that gives anything else.
func schemaOf[P any](tool string, movable bool) *paramSchema {
	reflector := invopop.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true}
	made := reflector.Reflect(*new(P))
	made.Version = ""
	if movable {
		made.Properties.Set(BackgroundArg, &invopop.Schema{Type: "boolean", Description: backgroundWords})
	}
	raw, err := json.Marshal(made)
	if err != nil {
		panic("tool: schema of " + tool + ": " + err.Error())
	}
	var parsed google.Schema
	if err := json.Unmarshal(raw, &parsed); err != nil {
		panic("tool: schema of " + tool + ": " + err.Error())
	}
	if parsed.Type != "object" || parsed.AdditionalProperties == nil {
		panic("tool: the parameters of " + tool + " must be a closed object")
	}
	s := &paramSchema{tool: tool, raw: raw, resolved: resolve(tool, &parsed)}
	for pair := made.Properties.Oldest(); pair != nil; pair = pair.Next() {
		sub := parsed.Properties[pair.Key]
		if sub.Description == "" {
			panic("tool: parameter " + tool + "." + pair.Key + " has no description")
		}
		s.props = append(s.props, property{
			name:     pair.Key,
			required: slices.Contains(parsed.Required, pair.Key),
			wanted:   describe(sub),
			resolved: sync.OnceValue(func() *google.Resolved { return resolve(tool, sub.CloneSchemas()) }),
		})
	}
	return s
}

func resolve(tool string, s *google.Schema) *google.Resolved {
	resolved, err := s.Resolve(nil)
	if err != nil {
		panic("tool: schema of " + tool + ": " + err.Error())
	}
	return resolved
}

// check validates raw. Missing arguments count as an empty object.
func (s *paramSchema) check(raw json.RawMessage) (arguments, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	if err := wellFormed(raw); err != nil {
		return arguments{}, s.refuse(err.Error())
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var literal map[string]any
	if err := decoder.Decode(&literal); err != nil || literal == nil {
		return arguments{}, s.refuse("they must be one JSON object, got " + short(string(raw)))
	}

	var present map[string]any // the validator does not take a json.Number for a number
	if err := json.Unmarshal(raw, &present); err != nil {
		return arguments{}, s.refuse(err.Error()) // a number beyond every float
	}
	exact := make(map[string]any, len(literal))
	for name, value := range literal {
		if value == nil && !s.required(name) {
			delete(present, name)
			continue
		}
		exact[name] = value
	}
	for name := range present {
		if !s.known(name) { // the validator would say so too, without a suggestion
			return arguments{}, s.refuse(s.problems(present)...)
		}
	}
	if err := s.resolved.Validate(present); err != nil {
		problems := s.problems(present)
		if len(problems) == 0 {
			problems = []string{err.Error()}
		}
		return arguments{}, s.refuse(problems...)
	}
	encoded, err := json.Marshal(exact)
	if err != nil {
		return arguments{}, s.refuse(err.Error())
	}
	return arguments{literal: literal, present: encoded}, nil
}

func (s *paramSchema) known(name string) bool {
	return slices.ContainsFunc(s.props, func(p property) bool { return p.name == name })
}

func (s *paramSchema) required(name string) bool {
	return slices.ContainsFunc(s.props, func(p property) bool { return p.name == name && p.required })
}

// problems names everything that is wrong at once, so that one more try is enough.
func (s *paramSchema) problems(given map[string]any) []string {
	var found []string
	names := make([]string, 0, len(s.props))
	for _, p := range s.props {
		names = append(names, p.name)
		value, there := given[p.name]
		switch {
		case !there && p.required:
			found = append(found, fmt.Sprintf("%q is missing; it must be %s", p.name, p.wanted))
		case there && p.resolved().Validate(value) != nil:
			found = append(found, fmt.Sprintf("%q must be %s, got %s", p.name, p.wanted, literal(value)))
		}
	}
	unknown := make([]string, 0, len(given))
	for name := range given {
		if !s.known(name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		problem := fmt.Sprintf("%s is not a parameter", quoteShort(name))
		if near := nearest(name, names); near != "" {
			problem += fmt.Sprintf(", did you mean %q?", near)
		}
		found = append(found, problem)
	}
	return found
}

func (s *paramSchema) refuse(problems ...string) *Error {
	var b strings.Builder
	fmt.Fprintf(&b, "the arguments of %s are wrong: %s. Parameters: ", s.tool, strings.Join(problems, "; "))
	for i, p := range s.props {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.name + " (" + p.wanted)
		if !p.required {
			b.WriteString(", optional")
		}
		b.WriteString(")")
	}
	b.WriteString(".")
	if s.example != "" {
		b.WriteString(" Example: " + s.example)
	}
	return &Error{Code: InvalidArgs, Message: b.String(), NotExecuted: true}
}

// describe says in words what a value must be.
func describe(s *google.Schema) string {
	if len(s.Enum) > 0 {
		options := make([]string, len(s.Enum))
		for i, option := range s.Enum {
			options[i] = literal(option)
		}
		return "one of " + strings.Join(options, ", ")
	}
	words := map[string]string{"string": "a string", "integer": "an integer", "number": "a number", "boolean": "true or false", "array": "a list", "object": "an object"}
	wanted, known := words[s.Type]
	if !known {
		wanted = "a value"
	}
	number := func(f *float64) string { return strconv.FormatFloat(*f, 'f', -1, 64) }
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		wanted += " from " + number(s.Minimum) + " to " + number(s.Maximum)
	case s.Minimum != nil:
		wanted += " of at least " + number(s.Minimum)
	case s.Maximum != nil:
		wanted += " of at most " + number(s.Maximum)
	}
	if s.MinLength != nil && *s.MinLength > 0 {
		wanted += " that is not empty"
	}
	return wanted
}

// wellFormed refuses what encoding/json would quietly mend: text that is not UTF-8, a name that
// stands twice (of which the owner would be shown one), and anything after the value.
func wellFormed(raw []byte) error {
	if !utf8.Valid(raw) {
		return fmt.Errorf("they are not valid UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := uniqueNames(decoder, 0); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("they must be one JSON object and nothing after it")
	}
	return nil
}

// maxDepth bounds nesting in arguments; no tool's schema comes near it.
const maxDepth = 64

func uniqueNames(decoder *json.Decoder, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("they are nested deeper than %d levels", maxDepth)
	}
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("they are not JSON: %v", err)
	}
	open, isDelim := token.(json.Delim)
	if !isDelim {
		return nil
	}
	seen := make(map[string]bool)
	for decoder.More() {
		if open == '{' {
			token, err := decoder.Token()
			if err != nil {
				return fmt.Errorf("they are not JSON: %v", err)
			}
			name, _ := token.(string)
			if seen[name] {
				return fmt.Errorf("%s stands twice", quoteShort(name))
			}
			seen[name] = true
		}
		if err := uniqueNames(decoder, depth+1); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("they are not JSON: %v", err)
	}
	return nil
}

// literal is a value as JSON, short enough for a sentence.
func literal(v any) string {
	encoded, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("a %T", v)
	}
	return short(string(encoded))
}

// short cuts s for a sentence, between runes.
func short(s string) string {
	const limit = 60
	if len(s) <= limit {
		return s
	}
	return s[:floorRune(s, limit)] + "…"
}

func quoteShort(s string) string { return strconv.Quote(short(s)) }

// nearest gives the option that name is most likely a slip of, "" when none is close: equal but
// for case and separators, or within a third of its length in edits.
func nearest(name string, options []string) string {
	if len(name) > 100 {
		return ""
	}
	plain := func(s string) string {
		return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(s))
	}
	best, fewest := "", max(1, len(name)/3)+1
	for _, option := range options {
		if plain(option) == plain(name) {
			return option
		}
		if n := edits(plain(name), plain(option)); n < fewest {
			best, fewest = option, n
		}
	}
	return best
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
