package jsonrpc

import (
	"errors"

	"aalis/backend/wire"
)

// Version is the word every frame carries in jsonrpc.
type Version string

// V2 is the only version.
const V2 Version = "2.0"

// Words lists the closed set.
func (Version) Words() []string { return []string{string(V2)} }

// ID is a request's id as the client wrote it, a JSON string or number; a reply echoes its bytes, so
// neither type nor notation changes (Spec SP-FRAME-08). The zero value is null: the id of a request
// whose own could not be recognised.
type ID string

// MarshalJSON writes the id as it came.
func (id ID) MarshalJSON() ([]byte, error) {
	if id == "" {
		return []byte("null"), nil
	}
	return []byte(id), nil
}

// UnmarshalJSON keeps the id's own bytes; anything but a string, a number or null is refused.
func (id *ID) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*id = ""
		return nil
	}
	if !isID(b) {
		return errors.New("want a string or a number as id")
	}
	*id = ID(b)
	return nil
}

// isID reports whether valid JSON text b is a string or a number.
func isID(b []byte) bool {
	return len(b) > 0 && (b[0] == '"' || b[0] == '-' || b[0] >= '0' && b[0] <= '9')
}

// RequestFrame is what a client sends.
type RequestFrame struct {
	JSONRPC Version `json:"jsonrpc"`
	ID      ID      `json:"id"`
	Method  string  `json:"method"`
	// Params may be absent; null, arrays and scalars are refused.
	Params wire.Object `json:"params,omitzero"`
}

// ResultFrame answers a request.
type ResultFrame struct {
	JSONRPC Version     `json:"jsonrpc"`
	ID      ID          `json:"id"`
	Result  wire.Object `json:"result"`
}

// ErrorFrame answers a request that failed.
type ErrorFrame struct {
	JSONRPC Version `json:"jsonrpc"`
	// ID is null when the request's own could not be recognised.
	ID    ID        `json:"id" jsonschema:"nullable"`
	Error ErrorBody `json:"error"`
}

// ErrorBody is what went wrong.
type ErrorBody struct {
	// Code is one of the protocol's six numbers.
	Code int `json:"code"`
	// Message is a sentence for people.
	Message string `json:"message"`
	// Data is present when code is -32000 and only then.
	Data *ErrorData `json:"data,omitzero"`
}

// ErrorData is the reason of an application error.
type ErrorData struct {
	Code AppCode `json:"code"`
}

// NotificationFrame is pushed by the server. It has no id and is not answered.
type NotificationFrame struct {
	JSONRPC Version     `json:"jsonrpc"`
	Method  string      `json:"method"`
	Params  wire.Object `json:"params"`
}
