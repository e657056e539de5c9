package session

// PresenceUpdateParams says whether the person is at this connection.
type PresenceUpdateParams struct {
	Active bool `json:"active"`
}

// Decision answers an approval.
type Decision string

// The decisions.
const (
	Approve Decision = "approve"
	Deny    Decision = "deny"
)

// Words lists the closed set.
func (Decision) Words() []string { return []string{string(Approve), string(Deny)} }

// ApprovalState is where an approval stands.
type ApprovalState string

// The states of an approval.
const (
	ApprovalPending   ApprovalState = "pending"
	ApprovalApproved  ApprovalState = "approved"
	ApprovalDenied    ApprovalState = "denied"
	ApprovalExpired   ApprovalState = "expired"
	ApprovalCancelled ApprovalState = "cancelled"
)

// Words lists the closed set.
func (ApprovalState) Words() []string {
	return append([]string{string(ApprovalPending)}, SettledState("").Words()...)
}

// SettledState is how an approval was settled.
type SettledState string

// Words lists the closed set.
func (SettledState) Words() []string {
	return []string{string(ApprovalApproved), string(ApprovalDenied), string(ApprovalExpired), string(ApprovalCancelled)}
}

// SettlementSource is what settled an approval.
type SettlementSource string

// The sources of a settlement.
const (
	SettledByAnswer    SettlementSource = "answer"
	SettledByAbsence   SettlementSource = "absent"
	SettledByTimeout   SettlementSource = "timeout"
	SettledIneligible  SettlementSource = "ineligible"
	SettledByRateLimit SettlementSource = "rate-limit"
	SettledByTurnEnd   SettlementSource = "turn-ended"
	SettledByShutdown  SettlementSource = "shutdown"
)

// Words lists the closed set.
func (SettlementSource) Words() []string {
	return []string{
		string(SettledByAnswer), string(SettledByAbsence), string(SettledByTimeout), string(SettledIneligible),
		string(SettledByRateLimit), string(SettledByTurnEnd), string(SettledByShutdown),
	}
}

// OriginKind tells a turn a person opened from one that opened by itself.
type OriginKind string

// The kinds of origin.
const (
	OriginHand       OriginKind = "hand"
	OriginAutonomous OriginKind = "autonomous"
)

// Words lists the closed set.
func (OriginKind) Words() []string { return []string{string(OriginHand), string(OriginAutonomous)} }

// Approval is a tool call that waits for a person's word.
type Approval struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	TurnID    string `json:"turnId,omitzero"`
	// CallID is the itemId of the tool card.
	CallID string         `json:"callId,omitzero"`
	Origin ApprovalOrigin `json:"origin"`
	Target string         `json:"target" jsonschema:"enum=tool"`
	Tool   string         `json:"tool"`
	// Facts are the literal parameters, unrendered and unsanitised; a client cleans them before showing.
	Facts   ApprovalFacts `json:"facts"`
	Options []Decision    `json:"options"`
	// ContentHash is sent back exactly as received.
	ContentHash string `json:"contentHash"`
	// ExpiresAt is in milliseconds since the epoch.
	ExpiresAt int64         `json:"expiresAt"`
	State     ApprovalState `json:"state"`
	// Chain lists the sub-sessions below the root down to this one; absent for a root.
	Chain []SessionRef `json:"chain,omitzero"`
}

// ApprovalOrigin says whose turn asks.
type ApprovalOrigin struct {
	Kind         OriginKind `json:"kind"`
	Participants []Identity `json:"participants"`
}

// ApprovalFacts are what the person decides on.
type ApprovalFacts struct {
	Command string        `json:"command,omitzero"`
	Cwd     string        `json:"cwd,omitzero"`
	Diff    *ApprovalDiff `json:"diff,omitzero"`
	Params  Object        `json:"params"`
}

// ApprovalDiff is the change a file would get, as a unified diff.
type ApprovalDiff struct {
	Path  string `json:"path"`
	Patch string `json:"patch"`
}

// ApprovalSettlement is how an approval ended; the same shape on the card and in approval/settled.
type ApprovalSettlement struct {
	State  SettledState     `json:"state"`
	Source SettlementSource `json:"source"`
	// At is in milliseconds since the epoch.
	At int64 `json:"at"`
	// By is present exactly when source is answer.
	By *SettledBy `json:"by,omitzero"`
}

// SettledBy is who answered.
type SettledBy struct {
	Platform string `json:"platform"`
	UserID   string `json:"userId,omitzero"`
	Nickname string `json:"nickname,omitzero"`
	Owner    bool   `json:"owner"`
}

// ApprovalRequested is pushed to present connections whose identity may decide.
type ApprovalRequested struct {
	Approval Approval `json:"approval"`
}

// ApprovalSettled is pushed to the connections that received the request.
type ApprovalSettled struct {
	ApprovalID string `json:"approvalId"`
	ApprovalSettlement
}

// ApprovalRespondParams answers an approval.
type ApprovalRespondParams struct {
	ApprovalID string   `json:"approvalId"`
	Decision   Decision `json:"decision"`
	// ContentHash is the approval's, unchanged.
	ContentHash string `json:"contentHash"`
	// Note is returned to the model on a denial.
	Note string `json:"note,omitzero" jsonschema:"maxLength=2000"`
}
