package contract

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"aalis/backend/wire/v1"
)

// Where the documents of /v1 lie.
const (
	v1Schemas = "backend/contract/schema/v1/"
	v1Script  = "frontend/src/clients/v1/protocol.gen.ts"
)

// addV1 generates what is published about /v1: a schema a shape, the OpenAPI document, and the
// TypeScript that the client is written with.
func addV1(files map[string][]byte, docs comments) error {
	endpoints := v1.Endpoints()
	defs, err := v1Defs(docs)
	if err == nil {
		err = v1Complete(endpoints, defs)
	}
	if err != nil {
		return fmt.Errorf("reflecting v1: %w", err)
	}
	for name := range defs {
		if files[v1Schemas+name+".json"], err = indented(alone(name, defs)); err != nil {
			return fmt.Errorf("writing the schema of %s: %w", name, err)
		}
	}
	if files[v1Schemas+"openapi.json"], err = indented(openAPI(endpoints, defs)); err != nil {
		return fmt.Errorf("writing the OpenAPI document: %w", err)
	}
	if files[v1Script], err = writeV1Script(endpoints, defs); err != nil {
		return fmt.Errorf("writing the TypeScript of v1: %w", err)
	}
	return nil
}

// v1Defs gives the definitions of every shape of /v1, by published name.
func v1Defs(docs comments) (definitions, error) {
	r := &reflector{names: make(map[reflect.Type]string), docs: docs, defs: make(definitions), named: make(map[string]reflect.Type)}
	shapes := v1.Shapes()
	for _, e := range v1.Data() {
		shapes = append(shapes, e.Data)
	}
	for _, s := range shapes {
		if other, taken := r.names[s.Type]; taken && other != s.Name {
			return nil, fmt.Errorf("%s is published as %s and as %s: it needs one name", s.Type, other, s.Name)
		}
		r.names[s.Type] = s.Name
	}
	for _, s := range shapes {
		if s.Type.Kind() == reflect.Struct {
			r.queue = append(r.queue, s.Type)
		} else {
			r.special(s.Type)
		}
	}
	envelope := reflect.TypeFor[v1.Event]()
	r.names[envelope] = envelopeName
	r.queue = append(r.queue, envelope)
	defs, err := r.run()
	if err != nil {
		return nil, err
	}
	for t, name := range r.names { // readers know a shape by its published name
		if rest, found := strings.CutPrefix(defs[name].Description, t.Name()+" "); found {
			defs[name].Description = name + " " + rest
		}
	}
	addEvents(defs)
	return defs, nil
}

const envelopeName = "EventEnvelope"

// addEvents makes of the envelope one definition a type, and their union. The bare envelope stays
// published: it is what an event of a type that nobody knows yet looks like.
func addEvents(defs definitions) {
	envelope := defs[envelopeName]
	union := &jsonschema.Schema{Description: "V1Event is one event of the stream, told apart by its type."}
	for _, e := range v1.Data() {
		name := eventName(e)
		properties := jsonschema.NewProperties()
		for p := envelope.Properties.Oldest(); p != nil; p = p.Next() {
			value := p.Value
			switch p.Key {
			case "seq":
				least := *value
				if least.Minimum = "1"; e.Type == v1.Heartbeat {
					least.Minimum = "0"
				}
				value = &least
			case "type":
				value = &jsonschema.Schema{Const: string(e.Type)}
			case "data":
				value = &jsonschema.Schema{Ref: "#/$defs/" + e.Data.Name}
			}
			properties.Set(p.Key, value)
		}
		one := *envelope
		one.Properties, one.Description = properties, "An event of type "+string(e.Type)+"."
		defs[name] = &one
		union.OneOf = append(union.OneOf, &jsonschema.Schema{Ref: "#/$defs/" + name})
	}
	open, _ := envelope.Properties.Get("type")
	*open = jsonschema.Schema{Type: "string", Description: "one of EventType, or a later one"}
	defs[v1.EventName] = union
}

// eventName is MessageUserEvent for message.user.
func eventName(e v1.EventData) string {
	var name []byte
	up := true
	for _, c := range []byte(e.Type) {
		switch {
		case c == '.':
			up = true
			continue
		case up:
			c -= 'a' - 'A'
		}
		up = false
		name = append(name, c)
	}
	return string(name) + "Event"
}

// v1Complete says which shape the table of endpoints names and nobody has defined.
func v1Complete(endpoints []v1.Endpoint, defs definitions) error {
	for _, e := range endpoints {
		for part, name := range map[string]string{"request": e.Request, "response": e.Response} {
			if _, known := defs[name]; !known && name != "" {
				return fmt.Errorf("%s %s names %s as its %s, and no such shape is defined: list it in Shapes (backend/wire/v1/contract.go)", e.Method, e.Path, name, part)
			}
		}
	}
	return nil
}

// alone is a definition as a document of its own, with what it reaches.
func alone(name string, defs definitions) *jsonschema.Schema {
	one := *defs[name]
	one.Version, one.ID, one.Title = jsonschema.Version, jsonschema.ID("urn:aalis:v1:"+name), name
	one.Definitions = make(jsonschema.Definitions)
	for queue := refs(&one); len(queue) > 0; queue = queue[1:] {
		if _, done := one.Definitions[queue[0]]; !done {
			one.Definitions[queue[0]] = defs[queue[0]]
			queue = append(queue, refs(defs[queue[0]])...)
		}
	}
	return &one
}

func sorted(defs definitions) []string { return slices.Sorted(maps.Keys(defs)) }
