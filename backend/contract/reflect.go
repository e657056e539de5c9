package contract

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"aalis/backend/wire"
)

// module is the path under which the sources' comments are filed.
const module = "aalis"

// comments maps "package.Type" and "package.Type.Field" to doc comments.
type comments map[string]string

// readComments collects the doc comments of the wire packages below root.
func readComments(root string) (comments, error) {
	r := new(jsonschema.Reflector)
	dir := filepath.Join(root, "backend", "wire")
	if err := r.AddGoComments("", dir, jsonschema.WithFullComment()); err != nil {
		return nil, fmt.Errorf("reading doc comments: %w", err)
	}
	docs := make(comments, len(r.CommentMap))
	for key, comment := range r.CommentMap {
		key = module + strings.TrimPrefix(key, filepath.ToSlash(root))
		docs[key] = strings.Join(strings.Fields(comment), " ")
	}
	return docs, nil
}

// of gives the comment of a type, or of one of its fields. A comment that begins with the field's Go
// name begins with its wire name instead, because that is the name its readers know.
func (c comments) of(t reflect.Type, field string) string {
	key := t.PkgPath() + "." + t.Name()
	if field == "" {
		return c[key]
	}
	comment := c[key+"."+field]
	f, _ := t.FieldByName(field)
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if rest, found := strings.CutPrefix(comment, field); found && name != "" && rest != "" && strings.ContainsRune(" :", rune(rest[0])) {
		return name + rest
	}
	return comment
}

// definitions are the named shapes of one protocol.
type definitions map[string]*jsonschema.Schema

// reflector turns Go types into definitions. Structs, enums and unions become definitions of their
// own; everything else stands where it is used.
type reflector struct {
	unions map[reflect.Type][]any
	names  map[reflect.Type]string // the published name, where it is not that of the Go type
	docs   comments
	defs   definitions
	named  map[string]reflect.Type // the type behind each name, to refuse a name borne by two
	queue  []reflect.Type          // variants of unions seen and not yet reflected
	err    error                   // the first mistake in the Go types
}

// reflectDefs gives the definitions of everything a contract reaches.
func reflectDefs(c wire.Contract, docs comments) (definitions, error) {
	r := &reflector{unions: c.Unions, docs: docs, defs: make(definitions), named: make(map[string]reflect.Type)}
	r.queue = append(r.queue, c.Types...)
	for _, m := range c.Methods {
		r.queue = append(r.queue, m.Params, m.Result)
	}
	for _, n := range c.Notifications {
		r.queue = append(r.queue, n.Params)
	}
	return r.run()
}

// run defines what is queued, and what that reaches.
func (r *reflector) run() (definitions, error) {
	for len(r.queue) > 0 && r.err == nil {
		next := r.queue[0]
		r.queue = r.queue[1:]
		r.add(next)
	}
	return r.defs, r.err
}

func (r *reflector) add(t reflect.Type) {
	if _, done := r.defs[r.nameOf(t)]; done && r.named[r.nameOf(t)] == t {
		return
	}
	inner := &jsonschema.Reflector{
		Anonymous:                 true,
		AllowAdditionalProperties: true, // Spec SP-PKG-10: extra keys are accepted at every level.
		Mapper:                    r.special,
		LookupComment:             r.docs.of,
		Namer: func(t reflect.Type) string {
			r.name(t)
			return r.nameOf(t)
		},
	}
	for name, def := range inner.ReflectFromType(t).Definitions {
		normalise(def)
		r.defs[name] = def
	}
}

// name notes which type bears a name; two types of one name would silently become one shape.
func (r *reflector) name(t reflect.Type) {
	name := r.nameOf(t)
	if name == "" || t.PkgPath() == "" {
		return
	}
	if other, taken := r.named[name]; taken && other != t && r.err == nil {
		r.err = fmt.Errorf("two types are called %s: %s and %s", name, other, t)
	}
	r.named[name] = t
}

func (r *reflector) nameOf(t reflect.Type) string {
	if name, ok := r.names[t]; ok {
		return name
	}
	return t.Name()
}

// special gives the schema of the types whose Go form does not say what they are on the wire: enums,
// literals, raw JSON and unions. It returns nil for all others.
func (r *reflector) special(t reflect.Type) *jsonschema.Schema {
	if variants, ok := r.unions[t]; ok {
		return r.define(t, func() *jsonschema.Schema { return r.union(t, variants) })
	}
	if t.Kind() == reflect.Interface {
		return nil
	}
	switch v := reflect.Zero(t).Interface().(type) {
	case wire.Raw:
		return &jsonschema.Schema{Type: v.JSONType()}
	case wire.Literal:
		return &jsonschema.Schema{Const: v.Word()}
	case wire.Enum:
		return r.define(t, func() *jsonschema.Schema {
			def := &jsonschema.Schema{Type: "string", Description: r.docs.of(t, "")}
			for _, word := range v.Words() {
				def.Enum = append(def.Enum, word)
			}
			return def
		})
	}
	return nil
}

func (r *reflector) define(t reflect.Type, build func() *jsonschema.Schema) *jsonschema.Schema {
	r.name(t)
	name := r.nameOf(t)
	if _, done := r.defs[name]; !done {
		def := build()
		normalise(def)
		r.defs[name] = def
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + name}
}

// union defines t as one of its variants: oneOf where a constant tells them apart, so that exactly one
// can fit; anyOf where only their keys do.
func (r *reflector) union(t reflect.Type, variants []any) *jsonschema.Schema {
	var branches []*jsonschema.Schema
	for _, variant := range variants {
		vt := reflect.TypeOf(variant)
		switch vt.Kind() {
		case reflect.Struct:
			r.queue = append(r.queue, vt)
			branches = append(branches, &jsonschema.Schema{Ref: "#/$defs/" + vt.Name()})
		case reflect.String:
			branches = append(branches, &jsonschema.Schema{Type: "string"})
		case reflect.Float64:
			branches = append(branches, &jsonschema.Schema{Type: "number"})
		default:
			r.err = fmt.Errorf("union %s: no variant of kind %s is known", t, vt.Kind())
		}
	}
	def := &jsonschema.Schema{Description: r.docs.of(t, "")}
	if discriminator(variants) != "" {
		def.OneOf = branches
	} else {
		def.AnyOf = branches
	}
	return def
}

// discriminator is the wire name of the field that holds another constant in each variant, or "".
func discriminator(variants []any) string {
	first := reflect.TypeOf(variants[0])
	if first.Kind() != reflect.Struct {
		return ""
	}
	for i := range first.NumField() {
		field := first.Field(i)
		var words []string
		for _, variant := range variants {
			f, ok := reflect.TypeOf(variant).FieldByName(field.Name)
			word, isConst := strings.CutPrefix(f.Tag.Get("jsonschema"), "enum=")
			if !ok || !isConst || slices.Contains(words, word) {
				break
			}
			words = append(words, word)
		}
		if len(words) == len(variants) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			return name
		}
	}
	return ""
}

// normalise writes an enum of one word as the constant it is.
func normalise(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Enum) == 1 {
		s.Const, s.Enum, s.Type = s.Enum[0], nil, ""
	}
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			normalise(p.Value)
		}
	}
	normalise(s.Items)
}
