// Package event owns the vocabulary of the log: the kinds of events, their payloads, and how both
// are written and read again. Everything a client can ever see was first one of these. The table of
// kinds is append-only: a kind or a field that was once written can be read for ever. The package
// knows neither SQL nor commands nor any protocol.
package event

import (
	"encoding/json"
	"fmt"
)

// Event is one row of the log.
type Event struct {
	ID       string // UUIDv7, or the caller's own id
	Session  string // session id
	SID      int64  // internal number of the session, never on a wire
	Seq      int64  // dense per session over events and deltas; 0 is the genesis
	Tick     int64  // order over all sessions of one start; 0 when read from rows
	Kind     Kind
	Turn     string // turn id, "" outside a turn
	Parent   string // event id that guards hang on
	Actor    Actor
	Payload  Payload // nil once erased; Opaque for kinds this build does not know
	IdemKey  string
	ChatSeq  int64 // dense number of the chat API, 0 when invisible there
	At       int64 // ms since 1970
	Repeated bool  // Append found it by its key instead of writing it
}

// Actor says who caused an event and by which way in.
type Actor struct {
	Kind      string `json:"kind"` // owner, user, app, environment, system, agent
	Principal string `json:"principalId,omitempty"`
	Platform  string `json:"platform,omitempty"`
	UserID    string `json:"userId,omitempty"`
	Nickname  string `json:"nickname,omitempty"`
	Owner     bool   `json:"owner,omitempty"`
	Via       string `json:"via,omitempty"`     // session, v1, chat, managed, cli, tray, kernel
	Surface   string `json:"surface,omitempty"` // of the connection it came by, as its transport registered it
}

// OwnerID is the principal of the one person this installation belongs to.
const OwnerID = "owner"

// System is the actor of what the program does by itself.
func System() Actor { return Actor{Kind: "system", Via: "kernel"} }

// Agent is the actor of what she says and does.
func Agent() Actor { return Actor{Kind: "agent", Via: "kernel"} }

// Draft is an event that is about to be appended.
type Draft struct {
	ID      string // "" for a new one
	Turn    string
	Parent  string
	Actor   Actor
	Payload Payload
	IdemKey string

	// RejectIfParentHas refuses the batch when Parent already has a child of one of these kinds.
	RejectIfParentHas []Kind
	// RejectIfHas refuses the batch when a named event already has a child of one of the kinds.
	RejectIfHas []Guard
}

// Guard names an event and the kinds of children it must not have.
type Guard struct {
	Event string
	Kinds []Kind
}

// Payload is what an event says. Every implementation is in the table of kinds.
type Payload interface{ EventKind() Kind }

// Opaque is the payload of a kind this build does not know, or that is stored for a caller.
type Opaque struct {
	Kind Kind
	JSON json.RawMessage
}

// EventKind gives the stored kind.
func (o Opaque) EventKind() Kind { return o.Kind }

// Encode gives the JSON text that is stored.
func Encode(p Payload) ([]byte, error) {
	if o, ok := p.(Opaque); ok {
		if !json.Valid(o.JSON) {
			return nil, fmt.Errorf("encoding %s: the payload is not JSON", o.Kind)
		}
		return o.JSON, nil
	}
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", p.EventKind(), err)
	}
	return b, nil
}

// Decode reads a stored payload. Unknown kinds come back as Opaque; an empty text is an erased
// payload and gives nil.
func Decode(kind Kind, stored []byte) (Payload, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	spec, known := byKind[kind]
	if !known || spec.decode == nil {
		return Opaque{Kind: kind, JSON: json.RawMessage(stored)}, nil
	}
	p, err := spec.decode(stored)
	if err != nil {
		return nil, fmt.Errorf("decoding %s: %w", kind, err)
	}
	return p, nil
}

func as[P Payload](stored []byte) (Payload, error) {
	var p P
	err := json.Unmarshal(stored, &p)
	return p, err
}

// DeltaKind says which streamed text a row of deltas holds.
type DeltaKind int

// The kinds of streamed text. Only TextDelta is seen by /v1 and /api.
const (
	TextDelta      DeltaKind = 1 // her words
	ReasoningDelta DeltaKind = 2
	OutputDelta    DeltaKind = 3 // a tool's output
)
