package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/fault"
	"aalis/backend/text"
)

// sample has a field of each kind that params may have.
type sample struct {
	Name   string   `json:"name"`
	Kind   word     `json:"kind,omitzero"`
	Limit  int      `json:"limit,omitzero"`
	Ratio  float64  `json:"ratio,omitzero"`
	On     *bool    `json:"on,omitzero"`
	Tags   []string `json:"tags,omitzero"`
	Layer  *layer   `json:"layer,omitzero"`
	Parts  []layer  `json:"parts,omitzero"`
	Code   string   `json:"code,omitzero"`
	Always bool     `json:"always,omitzero"`
	Value  any      `json:"value,omitzero"`
}

type word string

type layer struct {
	Scope string `json:"scope"`
	Key   string `json:"key,omitzero"`
}

const sampleContract = `{
  "methods": {"m": {"params": {"$ref": "#/$defs/Sample"}, "result": {"$ref": "#/$defs/Sample"}}},
  "notifications": {"n": {"$ref": "#/$defs/Sample"}},
  "$defs": {
    "Sample": {"type": "object", "required": ["name"], "properties": {
      "name": {"type": "string", "minLength": 1, "maxLength": 4},
      "kind": {"$ref": "#/$defs/Word"},
      "limit": {"type": "integer", "minimum": 1, "maximum": 200},
      "ratio": {"type": "number"},
      "on": {"type": "boolean"},
      "tags": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
      "layer": {"$ref": "#/$defs/Layer"},
      "parts": {"type": "array", "items": {"$ref": "#/$defs/Layer"}},
      "code": {"type": "string", "pattern": "^[0-9]+$"},
      "always": {"const": true},
      "value": true,
      "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
      "target": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}
    }},
    "Word": {"type": "string", "enum": ["one", "two"]},
    "Layer": {"oneOf": [{"$ref": "#/$defs/Global"}, {"$ref": "#/$defs/Place"}]},
    "Global": {"type": "object", "required": ["scope"], "properties": {"scope": {"const": "global"}}},
    "Place": {"type": "object", "required": ["scope", "key"], "properties": {"scope": {"const": "place"}, "key": {"type": "string"}}},
    "A": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}},
    "B": {"type": "object", "required": ["b"], "properties": {"b": {"type": "string"}}}
  }
}`

type peer struct{ seen *sample }

func (p *peer) take(_ context.Context, s sample) (sample, error) {
	p.seen = &s
	return s, nil
}

func call(t *testing.T, params string) (*peer, error) {
	t.Helper()
	schemas, err := LoadSchemas([]byte(sampleContract))
	if err != nil {
		t.Fatal(err)
	}
	p := new(peer)
	var raw json.RawMessage
	if params != "" {
		raw = json.RawMessage(params)
	}
	_, err = Method((*peer).take).Call(t.Context(), p, schemas.Params("m"), raw)
	return p, err
}

func TestCallFillsParams(t *testing.T) {
	on := true
	p, err := call(t, `{"name":"a","kind":"two","limit":2.0,"ratio":0.5,"on":true,"tags":["x"],
		"layer":{"scope":"place","key":"k"},"parts":[{"scope":"global","more":1}],"code":"7","always":true,"value":{"b":[1]},"extra":{}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := &sample{
		Name: "a", Kind: "two", Limit: 2, Ratio: 0.5, On: &on, Tags: []string{"x"}, Layer: &layer{"place", "k"},
		Parts: []layer{{Scope: "global"}}, Code: "7", Always: true, Value: map[string]any{"b": []any{1.0}},
	}
	if diff := cmp.Diff(want, p.seen); diff != "" {
		t.Error(diff)
	}
}

func TestCallKeepsAbsentApart(t *testing.T) {
	p, err := call(t, `{"name":"a","on":false,"value":null}`)
	if err != nil {
		t.Fatal(err)
	}
	if p.seen.On == nil || *p.seen.On || p.seen.Tags != nil || p.seen.Layer != nil || p.seen.Value != nil {
		t.Errorf("%+v", p.seen)
	}
}

func TestCallRefusesParams(t *testing.T) {
	tests := []struct{ params, en string }{
		{``, "params.name is missing."},
		{`{}`, "params.name is missing."},
		{`{"NAME":"a"}`, "params.name is missing."},
		{`{"name":null}`, "params.name must be a string."},
		{`{"name":5}`, "params.name must be a string."},
		{`{"name":""}`, "params.name is too short; the least length is 1."},
		{`{"name":"äöüß€"}`, "params.name may have at most 4 characters; this one has 5."},
		{`{"name":"a","kind":"three"}`, "params.kind must be one of one, two."},
		{`{"name":"a","limit":0}`, "params.limit must be at least 1."},
		{`{"name":"a","limit":201}`, "params.limit must be at most 200."},
		{`{"name":"a","limit":1.5}`, "params.limit must be a whole number."},
		{`{"name":"a","limit":"5"}`, "params.limit must be a whole number."},
		{`{"name":"a","ratio":"x"}`, "params.ratio must be a number."},
		{`{"name":"a","ratio":1e999}`, "params does not fit the published schema."},
		{`{"name":"a","on":1}`, "params.on must be true or false."},
		{`{"name":"a","tags":{}}`, "params.tags must be a list."},
		{`{"name":"a","tags":["a",1]}`, "params.tags[1] must be a string."},
		{`{"name":"a","tags":["a","b","c"]}`, "params.tags may have at most 2 entries; this one has 3."},
		{`{"name":"a","layer":"global"}`, "params.layer has none of the forms that are allowed here."},
		{`{"name":"a","layer":{"scope":"session"}}`, "params.layer.scope must be one of global, place."},
		{`{"name":"a","layer":{"scope":"place"}}`, "params.layer.key is missing."},
		{`{"name":"a","parts":[{"scope":"global"},{}]}`, "params.parts[1].scope must be one of global, place."},
		{`{"name":"a","code":"x"}`, "params.code does not have the form that is asked for: ^[0-9]+$."},
		{`{"name":"a","always":false}`, "params.always can only be true."},
		{`{"name":"a","counts":{"x":1,"y":"z"}}`, "params.counts.y must be a whole number."},
		{`{"name":"a","target":{}}`, "params.target has none of the forms that are allowed here."},
	}
	for _, test := range tests {
		t.Run("SP-FRAME-16 SP-PKG-11 "+test.params, func(t *testing.T) {
			p, err := call(t, test.params)
			e := ErrorOf(err)
			if err == nil || e.Code != InvalidParams || p.seen != nil {
				t.Fatalf("err %v, handler saw %+v", err, p.seen)
			}
			if got := e.Message.In(text.English); got != test.en {
				t.Errorf("%q, want %q", got, test.en)
			}
			if zh := e.Message.In(text.Chinese); zh == test.en || strings.Contains(zh, "{") && !strings.Contains(test.params, "{}") {
				t.Errorf("in Chinese: %q", zh)
			}
		})
	}
}

func TestCallRefusesNumbersBeyondADouble(t *testing.T) {
	type p struct {
		N int64 `json:"n"`
	}
	schemas, err := LoadSchemas([]byte(`{"methods":{"m":{"params":{"$ref":"#/$defs/P"},"result":{"$ref":"#/$defs/P"}}},
		"$defs":{"P":{"type":"object","properties":{"n":{"type":"integer"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	handler := func(_ *peer, _ context.Context, got p) (p, error) { return got, nil }
	for n, ok := range map[string]bool{"9007199254740991": true, "9007199254740993": false, "1e300": false, "-9007199254740991": true} {
		_, err := Method(handler).Call(t.Context(), nil, schemas.Params("m"), json.RawMessage(`{"n":`+n+`}`))
		if (err == nil) != ok {
			t.Errorf("%s: %v", n, err)
		}
	}
}

func TestCallCatchesPanics(t *testing.T) {
	schemas, err := LoadSchemas([]byte(sampleContract))
	if err != nil {
		t.Fatal(err)
	}
	entry := Method(func(*peer, context.Context, sample) (sample, error) { panic("secret") })
	_, err = entry.Call(t.Context(), nil, schemas.Params("m"), json.RawMessage(`{"name":"a"}`))
	p, ok := errors.AsType[*Panic](err)
	if !ok || p.Value != "secret" || !strings.Contains(string(p.Stack), "TestCallCatchesPanics") {
		t.Fatalf("%v", err)
	}
	if e := ErrorOf(err); e.Code != InternalError || strings.Contains(e.Message.In(text.English), "secret") {
		t.Errorf("%+v", e)
	}
}

func TestMethodRefusesTypesItCannotFill(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Method(func(*peer, context.Context, struct {
		M map[string]int `json:"m"`
	},
	) (sample, error) {
		return sample{}, nil
	})
}

func TestErrorOfEveryCode(t *testing.T) {
	want := map[fault.Code]*Error{
		fault.NotFound:             {Code: ApplicationError, App: "not-found"},
		fault.Forbidden:            {Code: ApplicationError, App: "forbidden"},
		fault.Conflict:             {Code: ApplicationError, App: "conflict"},
		fault.ApprovalSettled:      {Code: ApplicationError, App: "approval-settled"},
		fault.HashMismatch:         {Code: ApplicationError, App: "hash-mismatch"},
		fault.ExpectedTurnMismatch: {Code: ApplicationError, App: "expected-turn-mismatch"},
		fault.Unsupported:          {Code: ApplicationError, App: "unsupported"},
		fault.Expired:              {Code: ApplicationError, App: "not-found"},
		fault.Invalid:              {Code: InvalidParams},
		fault.Internal:             {Code: InternalError},
	}
	published := AppCode("").Words()
	for _, code := range fault.Codes() {
		t.Run("SP-ERR-02 SP-ERR-10 "+string(code), func(t *testing.T) {
			got := ErrorOf(fmt.Errorf("doing it: %w", fault.New(code, text.Plain("why"))))
			if want[code] == nil {
				t.Fatal("no word for this code")
			}
			if got.Code != want[code].Code || got.App != want[code].App || got.Message.String() != "why" {
				t.Errorf("%+v", got)
			}
			if frame := Failure("1", got, text.English); (got.Code == ApplicationError) != strings.Contains(frame, `"data":{"code":"`+string(got.App)+`"}`) {
				t.Errorf("SP-ERR-11: data belongs to application errors only: %s", frame)
			}
			if got.App != "" && !strings.Contains(strings.Join(published, " "), string(got.App)) {
				t.Errorf("%s is not published", got.App)
			}
		})
	}
	t.Run("an error that is no fault shows the fixed sentence", func(t *testing.T) {
		got := ErrorOf(errors.New("disk on fire"))
		if got.Code != InternalError || got.Message.In(text.English) != text.New("internal").In(text.English) {
			t.Errorf("%+v", got)
		}
	})
}

func TestFrames(t *testing.T) {
	t.Run("SP-FRAME-03 a result is an object", func(t *testing.T) {
		if _, err := Result("1", []int{1}); err == nil {
			t.Error("a list went out as a result")
		}
		if _, err := Result("1", nil); err == nil {
			t.Error("null went out as a result")
		}
	})
	t.Run("SP-FRAME-04 the id of an unreadable request is null", func(t *testing.T) {
		got := Failure("", Refuse(ParseError, "wire.parse"), text.English)
		if want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"This frame is not JSON text in UTF-8."}}`; got != want {
			t.Errorf("%s", got)
		}
	})
	t.Run("SP-FRAME-05 SP-FRAME-19 a notification has params and no id", func(t *testing.T) {
		got, err := Notification("session/config/changed", struct{}{})
		if want := `{"jsonrpc":"2.0","method":"session/config/changed","params":{}}`; err != nil || got != want {
			t.Errorf("%s %v", got, err)
		}
	})
	t.Run("SP-I18N-13 SP-I18N-05 an error is told in the reader's language", func(t *testing.T) {
		got := Failure("1", Refuse(MethodNotFound, "wire.method-unknown", "method", "x/<y>"), text.Chinese)
		if want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"没有方法 x/<y>。"}}`; got != want {
			t.Errorf("%s", got)
		}
	})
}
