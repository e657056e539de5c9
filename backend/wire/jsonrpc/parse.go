package jsonrpc

import (
	"encoding/json"
	"unicode/utf8"
)

// Request is a frame that is one: what is left to check is whether its method exists and its params
// fit.
type Request struct {
	ID     ID
	Method string
	// Params is the JSON object as it came, or nil when it was left out.
	Params json.RawMessage
}

// Parse reads a whole text frame. When it is no request, the error says why and Request.ID is the id to
// answer with, null where none could be recognised. The frame's bytes are not kept, except by Params.
//
// Spec SP-FRAME-09 to -14: not JSON is -32700; everything else that is no request is -32600.
func Parse(frame []byte) (Request, *Error) {
	if !utf8.Valid(frame) || !json.Valid(frame) {
		return Request{}, Refuse(ParseError, "wire.parse")
	}
	members, fail := scan(frame)
	var req Request
	if id := members["id"]; isID(id) {
		req.ID = ID(id)
	}
	switch {
	case fail != nil:
		return req, fail
	case members == nil:
		return req, Refuse(InvalidRequest, "wire.frame-object")
	case string(members["jsonrpc"]) != `"2.0"` && unquote(members["jsonrpc"]) != string(V2):
		return req, Refuse(InvalidRequest, "wire.frame-version")
	case req.ID == "":
		return req, Refuse(InvalidRequest, "wire.frame-id")
	case len(members["method"]) == 0 || members["method"][0] != '"':
		return req, Refuse(InvalidRequest, "wire.frame-method")
	}
	if params, given := members["params"]; given {
		if params[0] != '{' {
			return req, Refuse(InvalidRequest, "wire.frame-params")
		}
		req.Params = params
	}
	req.Method = unquote(members["method"])
	return req, nil
}

// unquote gives the string that JSON text b spells, or "" when b is no string.
func unquote(b []byte) string {
	var s string
	if json.Unmarshal(b, &s) != nil {
		return ""
	}
	return s
}
