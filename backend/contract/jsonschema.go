package contract

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"

	"aalis/backend/wire"
)

type document struct {
	Schema        string                        `json:"$schema"`
	Title         string                        `json:"title"`
	Version       string                        `json:"version"`
	Constants     map[string]any                `json:"constants"`
	Methods       map[string]method             `json:"methods"`
	Notifications map[string]*jsonschema.Schema `json:"notifications"`
	Defs          definitions                   `json:"$defs"`
}

type method struct {
	Params *jsonschema.Schema `json:"params"`
	Result *jsonschema.Schema `json:"result"`
}

// writeSchema gives the published JSON Schema document: the shapes under $defs, and which of them each
// method and notification uses under keywords of our own, which a validator passes over.
func writeSchema(p wire.Protocol, defs definitions) ([]byte, error) {
	d := document{
		Schema:        jsonschema.Version,
		Title:         p.Contract.Title,
		Version:       p.Contract.Version,
		Constants:     make(map[string]any),
		Methods:       make(map[string]method),
		Notifications: make(map[string]*jsonschema.Schema),
		Defs:          defs,
	}
	for _, c := range p.Contract.Constants {
		d.Constants[c.Name] = c.Value
	}
	for _, m := range p.Contract.Methods {
		d.Methods[m.Name] = method{Params: refTo(m.Params), Result: refTo(m.Result)}
	}
	for _, n := range p.Contract.Notifications {
		d.Notifications[n.Name] = refTo(n.Params)
	}
	return indented(d)
}

// indented is a document as it is checked in.
func indented(d any) ([]byte, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	// invopop escapes for HTML; the document is not for HTML.
	for escaped, plain := range map[string]string{`\u003c`: "<", `\u003e`: ">", `\u0026`: "&"} {
		raw = bytes.ReplaceAll(raw, []byte(escaped), []byte(plain))
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func refTo(t reflect.Type) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/$defs/" + t.Name()}
}
