package jsonrpc

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"aalis/backend/text"
)

const defsPrefix = "#/$defs/"

// Schemas is a published contract, ready to validate with. It is safe for concurrent use.
type Schemas struct {
	methods       map[string]methodRefs
	notifications map[string]string
	shapes        map[string]*Shape
}

type methodRefs struct{ params, result string }

// LoadSchemas reads a document of backend/contract/schema. A definition is parsed when a shape that
// reaches it is first used: a start should not wait for the methods that nobody calls.
func LoadSchemas(document []byte) (*Schemas, error) {
	type ref struct {
		Ref string `json:"$ref"`
	}
	var d struct {
		Methods       map[string]struct{ Params, Result ref }
		Notifications map[string]ref
		Defs          map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("reading the contract: %w", err)
	}
	s := &Schemas{
		methods:       make(map[string]methodRefs),
		notifications: make(map[string]string),
		shapes:        make(map[string]*Shape),
	}
	for name := range d.Defs {
		s.shapes[name] = &Shape{raw: d.Defs, name: name}
	}
	def := func(r ref) string { return strings.TrimPrefix(r.Ref, defsPrefix) }
	for name, m := range d.Methods {
		s.methods[name] = methodRefs{def(m.Params), def(m.Result)}
	}
	for name, n := range d.Notifications {
		s.notifications[name] = def(n)
	}
	return s, nil
}

// Methods lists the methods the contract knows, sorted.
func (s *Schemas) Methods() []string { return slices.Sorted(maps.Keys(s.methods)) }

// Params gives the shape of a method's params, or nil when the contract does not know the method.
func (s *Schemas) Params(method string) *Shape { return s.shapes[s.methods[method].params] }

// Result gives the shape of a method's result, or nil.
func (s *Schemas) Result(method string) *Shape { return s.shapes[s.methods[method].result] }

// Notification gives the shape of a notification's params, or nil.
func (s *Schemas) Notification(name string) *Shape { return s.shapes[s.notifications[name]] }

// Shape gives a definition by its name, or nil.
func (s *Schemas) Shape(name string) *Shape { return s.shapes[name] }

// Shape is one definition of a contract.
type Shape struct {
	raw  map[string]json.RawMessage // every definition of the contract
	name string

	once     sync.Once
	defs     map[string]*jsonschema.Schema // those this shape reaches, itself included
	resolved *jsonschema.Resolved
	err      error
}

// Check says whether a JSON tree fits the shape: the zero Text when it does, and otherwise what does
// not fit, where the tree itself is called path. The error is about the schema, not about the tree.
func (s *Shape) Check(path string, tree any) (text.Text, error) {
	s.once.Do(func() {
		if s.err = s.resolve(); s.err != nil {
			s.err = fmt.Errorf("resolving the schema of %s: %w", s.name, s.err)
		}
	})
	if s.err != nil {
		return text.Text{}, s.err
	}
	if s.resolved.Validate(tree) == nil {
		return text.Text{}, nil
	}
	if found := explain(s.defs, s.defs[s.name], path, tree); !found.IsZero() {
		return found, nil
	}
	return text.New("wire.params-other", "path", path), nil
}

// resolve makes a schema of this definition and those it reaches.
func (s *Shape) resolve() error {
	s.defs = make(map[string]*jsonschema.Schema)
	root := &jsonschema.Schema{Ref: defsPrefix + s.name, Defs: s.defs}
	if err := s.reach(root); err != nil {
		return err
	}
	var err error
	s.resolved, err = root.Resolve(nil)
	return err
}

// reach parses what a schema refers to into defs.
func (s *Shape) reach(schema *jsonschema.Schema) error {
	if schema == nil {
		return nil
	}
	if name, isRef := strings.CutPrefix(schema.Ref, defsPrefix); isRef && s.defs[name] == nil {
		def := new(jsonschema.Schema)
		if err := json.Unmarshal(s.raw[name], def); err != nil {
			return fmt.Errorf("parsing %s: %w", name, err)
		}
		s.defs[name] = def
		if err := s.reach(def); err != nil {
			return err
		}
	}
	below := slices.Concat(schema.OneOf, schema.AnyOf, slices.Collect(maps.Values(schema.Properties)))
	for _, sub := range append(below, schema.Items, schema.AdditionalProperties) {
		if err := s.reach(sub); err != nil {
			return err
		}
	}
	return nil
}
