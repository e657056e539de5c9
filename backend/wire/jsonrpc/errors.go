package jsonrpc

import (
	"errors"

	"aalis/backend/fault"
	"aalis/backend/text"
)

// The numbers of error.code (Spec SP-ERR-01).
const (
	ParseError       = -32700
	InvalidRequest   = -32600
	MethodNotFound   = -32601
	InvalidParams    = -32602
	InternalError    = -32603
	ApplicationError = -32000
)

// AppCode is the reason of an application error, in error.data.code.
type AppCode string

// Words lists the closed set (Spec SP-ERR-02).
func (AppCode) Words() []string {
	return []string{
		string(fault.NotFound), string(fault.Forbidden), string(fault.Conflict), string(fault.ApprovalSettled),
		string(fault.HashMismatch), string(fault.ExpectedTurnMismatch), string(fault.Unsupported),
	}
}

// Error is a failure as a frame tells it. The message is rendered only when the frame is made.
type Error struct {
	Code    int
	App     AppCode
	Message text.Text
}

// Error is for logs and tests.
func (e *Error) Error() string { return e.Message.String() }

// Refuse makes a protocol error with a sentence of the catalogues.
func Refuse(code int, key text.Key, args ...any) *Error {
	return &Error{Code: code, Message: text.New(key, args...)}
}

// ErrorOf gives the protocol's word for err: its own errors as they are, faults by their code, and
// everything else as an internal error with the fixed sentence. Expired has no word of its own in
// the protocol; what has expired is no longer there, so it is not-found.
func ErrorOf(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	f := fault.Of(err)
	e := &Error{Code: ApplicationError, App: AppCode(f.Code), Message: f.Message}
	switch f.Code {
	case fault.Invalid:
		e.Code, e.App = InvalidParams, ""
	case fault.Internal:
		e.Code, e.App = InternalError, ""
	case fault.Expired:
		e.App = AppCode(fault.NotFound)
	case fault.NotFound, fault.Forbidden, fault.Conflict, fault.ApprovalSettled, fault.HashMismatch,
		fault.ExpectedTurnMismatch, fault.Unsupported:
	}
	return e
}
