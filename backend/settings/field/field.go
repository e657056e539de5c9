// Package field owns what a setting is: its declaration, the kinds of value, whether a value fits, and
// where its choices come from. Whatever has settings (engines, the host, rooms) declares them with it.
// It knows no layer, no storage and no protocol, so that declaring a field ties nobody to how values
// are kept; package settings does that.
package field

import (
	"encoding/json"
	"fmt"
	"regexp"

	"aalis/backend/text"
)

// Type is a kind of value.
type Type string

// The types and the JSON they take.
const (
	String      Type = "string"      // a string
	TextArea    Type = "textarea"    // a string of several lines
	Number      Type = "number"      // a number
	Boolean     Type = "boolean"     // true or false
	Select      Type = "select"      // one string, number or boolean
	MultiSelect Type = "multiselect" // a list of such
	List        Type = "list"        // a list of strings
	Map         Type = "map"         // an object of strings
	LLMRef      Type = "llm-ref"     // a model: "<provider id>/<model name>"
)

// Kind is a kind of session.
type Kind string

// The kinds.
const (
	Owner Kind = "owner"
	Room  Kind = "room"
	Task  Kind = "task"
)

// Prominence is where a setting is offered.
type Prominence string

// The prominences, the most prominent first.
const (
	Composer Prominence = "composer"
	Common   Prominence = "common"
	Advanced Prominence = "advanced"
)

// Field declares one setting. All of it but the functions and the path goes to clients.
type Field struct {
	Key            string
	Type           Type
	Label          text.Text
	Description    text.Text
	Default        json.RawMessage // nil: none
	Required       bool            // an empty value is none
	Options        []Option        // suggestions, no white list
	Min, Max       *float64
	Integer        bool
	Step           *float64 // a hint for the control
	Pattern        string   // an unanchored regular expression strings must match
	Secret         bool
	DynamicOptions string // the name of a source of choices
	AllowCustom    bool
	// Preference: for all sessions it is a preference of its own plugin, kept apart from the layers.
	Preference bool
	// Path is where in the host document the preference stands; nil is plugins.<plugin>.<key>.
	Path    []string
	Session Spec
	// Joined, of a list of strings: what all layers say counts together, the widest first, and nothing
	// that can be read is left out for what stands beside it.
	Joined bool

	// Fits refuses values the declaration alone cannot tell; nil refuses none. It must not block.
	Fits func(value json.RawMessage) bool
	// Wrong is Fits for values of which it can be said why; zero for one that fits.
	Wrong func(value json.RawMessage) text.Text
	// Actual reports what is really in use while nothing is set; nil reports nothing. It must not block.
	Actual func() (Actual, bool)
}

// Spec is what makes a field a setting of sessions.
type Spec struct {
	AppliesTo  []Kind // nil: all; empty: no session, so that only the widest layers list it
	PlaceOnly  bool   // it cannot be set at a session
	Prominence Prominence
	Order      *float64
	Group      string // of the composer; "" is the plugin's
	DependsOn  string // the key of another field, or plugin/key
	Unset      text.Text
}

// Option is one suggestion of a select.
type Option struct {
	Label text.Text
	Value json.RawMessage
}

// Actual is a value in use although nobody set it.
type Actual struct {
	Value json.RawMessage
	Label text.Text
}

// Choices are what a source of choices offers now. Values are as a field takes them.
type Choices struct {
	Choices []Choice
	// Problems say which part could not be asked.
	Problems []text.Text
}

// Choice is one of them.
type Choice struct {
	Value       string
	Label       text.Text
	Description text.Text
}

// Plugin is whatever declares fields, under an id that stands in documents and on the wire.
type Plugin struct {
	ID     string
	Fields []Field
}

// Applies reports whether the field is for sessions of a kind.
func (f Field) Applies(kind Kind) bool {
	if f.Session.AppliesTo == nil {
		return true
	}
	for _, k := range f.Session.AppliesTo {
		if k == kind {
			return true
		}
	}
	return false
}

// Raw makes a value of a declaration; what does not encode is a mistake of the program.
func Raw(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("field: a value does not encode: %v", err))
	}
	return raw
}

// idForm is what ids and keys look like: they are keys of a document people write.
var idForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

var known = map[Type]bool{
	String: true, TextArea: true, Number: true, Boolean: true, Select: true, MultiSelect: true, List: true, Map: true, LLMRef: true,
}

// Verify finds what is wrong with a declaration: a mistake of the program. A secret is refused because
// settings are sent to every connection as they are written (Spec decisions C5).
func (p Plugin) Verify() error {
	if !idForm.MatchString(p.ID) {
		return fmt.Errorf("the id %q of a plugin is out of form", p.ID)
	}
	seen := map[string]bool{}
	for _, f := range p.Fields {
		if err := f.verify(); err != nil {
			return fmt.Errorf("field %s of %s: %w", f.Key, p.ID, err)
		}
		if seen[f.Key] {
			return fmt.Errorf("field %s of %s stands twice", f.Key, p.ID)
		}
		seen[f.Key] = true
	}
	return nil
}

func (f Field) verify() error {
	switch {
	case !idForm.MatchString(f.Key):
		return fmt.Errorf("the key is out of form")
	case !known[f.Type]:
		return fmt.Errorf("there is no type %q", f.Type)
	case f.Secret:
		return fmt.Errorf("a secret cannot be a setting of sessions")
	case f.Joined && f.Type != List:
		return fmt.Errorf("only lists can be joined")
	case f.Path != nil && !f.Preference:
		return fmt.Errorf("only a preference has a place of its own")
	}
	switch f.Session.Prominence {
	case "", Composer, Common, Advanced:
	default:
		return fmt.Errorf("there is no prominence %q", f.Session.Prominence)
	}
	if _, err := regexp.Compile(f.Pattern); err != nil {
		return fmt.Errorf("its pattern: %w", err)
	}
	if f.Default != nil && f.Check(f.Default) != nil {
		return fmt.Errorf("its default %s does not fit", f.Default)
	}
	return nil
}

// Listing is Choices as clients read them: the values, and what to call them in the same order
// (Spec decisions C16).
type Listing struct {
	Models  []string `json:"models"`
	Details []Detail `json:"details,omitzero"`
	// Problems say which part could not be asked; an addition of this server.
	Problems []string `json:"problems,omitzero"`
}

// Detail is one choice in words.
type Detail struct {
	Value       string `json:"value"`
	Label       string `json:"label"`
	Description string `json:"description,omitzero"`
}

// In renders choices.
func (c Choices) In(lang text.Language) Listing {
	l := Listing{Models: []string{}}
	for _, one := range c.Choices {
		label := one.Label.In(lang)
		if label == "" {
			label = one.Value
		}
		l.Models = append(l.Models, one.Value)
		l.Details = append(l.Details, Detail{Value: one.Value, Label: label, Description: one.Description.In(lang)})
	}
	for _, p := range c.Problems {
		l.Problems = append(l.Problems, p.In(lang))
	}
	return l
}
