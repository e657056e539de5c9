package contract

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/wire"
	"aalis/backend/wire/session"
)

type colour string

func (colour) Words() []string { return []string{"red", "green"} }

type shapeOne struct {
	Kind  string           `json:"kind" jsonschema:"enum=one"`
	Count int              `json:"count" jsonschema:"minimum=1,maximum=9"`
	Name  string           `json:"name,omitzero" jsonschema:"minLength=1,maxLength=5,pattern=^a/b$"`
	Tags  []string         `json:"tags,omitzero" jsonschema:"maxItems=3"`
	Hue   colour           `json:"hue"`
	Raw   wire.Object      `json:"raw"`
	Any   wire.Value       `json:"any,omitzero"`
	Yes   wire.True        `json:"yes,omitzero"`
	Map   map[string]int64 `json:"map,omitzero"`
	ID    either           `json:"id" jsonschema:"nullable"`
}

type shapeTwo struct {
	Kind  string   `json:"kind" jsonschema:"enum=two"`
	Ratio *float64 `json:"ratio,omitzero"`
}

type (
	either string
	shape  interface{ is() }
	holder struct {
		Shape shape `json:"shape"`
	}
	chain struct {
		Next *chain `json:"next,omitzero"`
	}
)

func protocolOf(types ...reflect.Type) wire.Protocol {
	return wire.Protocol{Name: "sample", Contract: wire.Contract{
		Types: types,
		Unions: map[reflect.Type][]any{
			reflect.TypeFor[shape]():  {shapeOne{}, shapeTwo{}},
			reflect.TypeFor[either](): {"", 0.0},
		},
	}}
}

func emit(t *testing.T, p wire.Protocol) (string, error) {
	t.Helper()
	defs, err := reflectDefs(p.Contract, comments{"aalis/backend/contract.holder": "holder holds a shape."})
	if err != nil {
		return "", err
	}
	script, err := writeTypeScript(p, defs)
	return string(script), err
}

func TestEveryConstruct(t *testing.T) {
	script, err := emit(t, protocolOf(reflect.TypeFor[holder]()))
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(script, "zod/mini';\n\n")
	body, _, _ = strings.Cut(body, "/** Params and result")
	want := `export const colourSchema = z.enum(['red', 'green']);
export type colour = z.infer<typeof colourSchema>;

export const eitherSchema = z.union([z.string(), z.number()]);
export type either = z.infer<typeof eitherSchema>;

export const shapeOneSchema = z.looseObject({
  kind: z.literal('one'),
  count: z.int().check(z.gte(1), z.lte(9)),
  name: z.optional(z.string().check(z.minLength(1), z.maxLength(5), z.regex(/^a\/b$/))),
  tags: z.optional(z.array(z.string()).check(z.maxLength(3))),
  hue: colourSchema,
  raw: z.record(z.string(), z.unknown()),
  any: z.optional(z.unknown()),
  yes: z.optional(z.literal(true)),
  map: z.optional(z.record(z.string(), z.int())),
  id: z.nullable(eitherSchema),
});
export type shapeOne = z.infer<typeof shapeOneSchema>;

export const shapeTwoSchema = z.looseObject({
  kind: z.literal('two'),
  ratio: z.optional(z.number()),
});
export type shapeTwo = z.infer<typeof shapeTwoSchema>;

export const shapeSchema = z.discriminatedUnion('kind', [shapeOneSchema, shapeTwoSchema]);
export type shape = z.infer<typeof shapeSchema>;

/** holder holds a shape. */
export const holderSchema = z.looseObject({
  shape: shapeSchema,
});
export type holder = z.infer<typeof holderSchema>;

`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestMistakesInTypes(t *testing.T) {
	tests := []struct {
		name  string
		types []reflect.Type
		want  string
	}{
		{"two types of one name", []reflect.Type{reflect.TypeFor[Empty](), reflect.TypeFor[session.Empty]()}, "two types are called Empty"},
		{"a type that holds itself", []reflect.Type{reflect.TypeFor[chain]()}, "chain refers to itself"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := emit(t, protocolOf(test.types...)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// Empty has the name of a shape of the session protocol.
type Empty struct {
	Other string `json:"other"`
}

func TestCommentsUseWireNames(t *testing.T) {
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := readComments(root)
	if err != nil {
		t.Fatal(err)
	}
	item := reflect.TypeFor[session.ItemBase]()
	if got, want := docs.of(item, "ItemID"), "itemId is opaque, unique in its session, and the same live and in history."; got != want {
		t.Errorf("%q", got)
	}
	if got, want := docs.of(item, ""), "ItemBase is what every item has beside its kind."; got != want {
		t.Errorf("%q", got)
	}
}
