package session

import "aalis/backend/wire"

// The values that pass through unchanged, and the boolean that is absent or true.
type (
	Value  = wire.Value
	Object = wire.Object
	True   = wire.True
)

// Empty is the object with nothing to report. Extra keys are tolerated, as everywhere.
type Empty struct{}

// SessionParams names the session a method is about.
type SessionParams struct {
	SessionID string `json:"sessionId"`
}
