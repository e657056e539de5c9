package wire

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Raw is implemented by types that hold JSON text as it came. JSONType is the JSON type it must be
// of, or empty for any.
type Raw interface{ JSONType() string }

// Value is any JSON value, passed through unchanged: it is never rendered, reordered or shortened
// (Spec SP-I18N-07, -08, -10, -14). The zero value is absent.
type Value json.RawMessage

// JSONType says that any type will do.
func (Value) JSONType() string { return "" }

// MarshalJSON writes the value as it is.
func (v Value) MarshalJSON() ([]byte, error) { return json.RawMessage(v).MarshalJSON() }

// UnmarshalJSON keeps the value's own bytes.
func (v *Value) UnmarshalJSON(b []byte) error {
	*v = bytes.Clone(b)
	return nil
}

// Object is any JSON object, passed through unchanged. The zero value writes as {}.
type Object json.RawMessage

// JSONType says that it is an object.
func (Object) JSONType() string { return "object" }

// MarshalJSON writes the object as it is.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("{}"), nil
	}
	return o, nil
}

// UnmarshalJSON keeps the object's own bytes; anything but an object is refused.
func (o *Object) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '{' {
		return errors.New("want a JSON object")
	}
	*o = bytes.Clone(b)
	return nil
}

// True is a boolean that is either absent or true; false is refused.
type True bool

// Word is the one value.
func (True) Word() any { return true }
