// Package fault owns the application error: a code out of a closed set, a message for people, and
// the cause for the log. Decisions and handlers return faults; every protocol maps the codes to its
// own errors in one function. Whatever is not a Fault is internal: it is logged once at the edge
// and its text is never shown. The package never logs and knows no protocol.
package fault

import (
	"errors"

	"aalis/backend/text"
)

// Code says what kind of failure it is. The set is closed: every protocol has a word for each.
type Code string

// The codes.
const (
	NotFound             Code = "not-found"
	Forbidden            Code = "forbidden"
	Conflict             Code = "conflict"
	Invalid              Code = "invalid"
	ApprovalSettled      Code = "approval-settled"
	HashMismatch         Code = "hash-mismatch"
	ExpectedTurnMismatch Code = "expected-turn-mismatch"
	Unsupported          Code = "unsupported"
	Expired              Code = "expired"
	Internal             Code = "internal"
)

// Codes lists every code, for the tables that must have a word for each.
func Codes() []Code {
	return []Code{NotFound, Forbidden, Conflict, Invalid, ApprovalSettled, HashMismatch, ExpectedTurnMismatch, Unsupported, Expired, Internal}
}

// Fault is an error a person can act on.
type Fault struct {
	Code    Code
	Message text.Text
	cause   error
}

// New makes a fault with a sentence for people.
func New(code Code, message text.Text) *Fault { return &Fault{Code: code, Message: message} }

// Wrap makes a fault that keeps its cause for the log.
func Wrap(code Code, message text.Text, cause error) *Fault {
	return &Fault{Code: code, Message: message, cause: cause}
}

// Error is for logs and tests; people are shown Message.
func (f *Fault) Error() string {
	s := string(f.Code) + ": " + f.Message.String()
	if f.cause != nil {
		s += ": " + f.cause.Error()
	}
	return s
}

// Unwrap gives the cause.
func (f *Fault) Unwrap() error { return f.cause }

// Of gives err's fault; an error that carries none is internal, with the fixed sentence.
func Of(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return &Fault{Code: Internal, Message: text.New("internal"), cause: err}
}

// Is reports whether err is a fault with this code.
func Is(err error, code Code) bool {
	f, ok := errors.AsType[*Fault](err)
	return ok && f.Code == code
}
