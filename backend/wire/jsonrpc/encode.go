package jsonrpc

import (
	"encoding/json"
	"fmt"
	"strings"

	"aalis/backend/text"
)

// Result makes the frame that answers a request. The error is about result, which did not encode as an
// object.
func Result(id ID, result any) (string, error) {
	frame := struct {
		JSONRPC Version `json:"jsonrpc"`
		ID      ID      `json:"id"`
		Result  any     `json:"result"`
	}{V2, id, result}
	return encode(frame, result)
}

// Notification makes the frame of a push. The error is about params, which did not encode as an object.
func Notification(method string, params any) (string, error) {
	frame := struct {
		JSONRPC Version `json:"jsonrpc"`
		Method  string  `json:"method"`
		Params  any     `json:"params"`
	}{V2, method, params}
	return encode(frame, params)
}

// Failure makes the frame that answers a request that failed, with the sentence in the reader's
// language.
func Failure(id ID, e *Error, lang text.Language) string {
	frame := ErrorFrame{JSONRPC: V2, ID: id, Error: ErrorBody{Code: e.Code, Message: e.Message.In(lang)}}
	if e.App != "" {
		frame.Error.Data = &ErrorData{Code: e.App}
	}
	out, err := encode(frame, frame.Error)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return out
}

// encode writes a frame whose last member is an object.
func encode(frame, object any) (string, error) {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(frame); err != nil {
		return "", fmt.Errorf("encoding a frame: %w", err)
	}
	out := strings.TrimSuffix(b.String(), "\n")
	if !strings.HasSuffix(out, "}}") {
		return "", fmt.Errorf("encoding a frame: %T is no object", object)
	}
	return out, nil
}
