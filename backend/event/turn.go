package event

import (
	"encoding/json"

	"aalis/backend/text"
)

// How a turn can end.
const (
	Replied = "replied"
	Silent  = "silent"
	Aborted = "aborted"
	Errored = "error"
)

// CauseInterrupted marks a turn that the end of the process cut off: an error to /v1 and /api,
// shown as aborted by the session protocol (decisions B25, kernel 9).
const CauseInterrupted = "interrupted"

// TurnStart opens a turn.
type TurnStart struct {
	TurnID  string   `json:"turnId"`
	Trigger string   `json:"triggerEventId,omitempty"`
	Source  string   `json:"source,omitempty"` // what opened it when no person did
	Resume  bool     `json:"continue,omitempty"`
	Harness string   `json:"harness"`
	Model   string   `json:"model,omitempty"`
	Epoch   string   `json:"epoch"`
	Input   *Waiting `json:"input,omitempty"` // the trigger, when it had waited in the queue
	// Platform is where the turn was opened from: its layer of settings counts where the session has no
	// platform of its own. Settings are what the turn began with, by key; long texts as their hash.
	Platform string                     `json:"platform,omitempty"`
	Settings map[string]json.RawMessage `json:"settings,omitempty"`
}

// TurnEnd closes a turn.
type TurnEnd struct {
	TurnID    string     `json:"turnId"`
	Outcome   string     `json:"outcome"`
	Cause     string     `json:"cause,omitempty"`
	Reason    *text.Text `json:"reason,omitempty"` // one sentence, for outcome error
	Source    string     `json:"source,omitempty"` // as in turn.started
	Limit     bool       `json:"toolLimit,omitempty"`
	StartedAt int64      `json:"startedAt"`
	// Unexecuted are the calls that were proposed and never made: their cards end with the turn.
	Unexecuted []Proposal `json:"unexecuted,omitempty"`
}

// Failure is why a turn failed, or an error outside one.
type Failure struct {
	Code      string    `json:"code"`
	Message   text.Text `json:"message"`
	Retryable bool      `json:"retryable"`
	Status    int       `json:"httpStatus,omitempty"`
	Provider  string    `json:"provider,omitempty"`
	LatencyMS int64     `json:"latencyMs,omitempty"`
	Raw       string    `json:"rawMessage,omitempty"`
}

// ModelCall accounts for one call of a model.
type ModelCall struct {
	Step       int         `json:"step"`
	Provider   string      `json:"provider,omitempty"`
	Model      string      `json:"model,omitempty"`
	Prompt     int         `json:"promptTokens"`
	Completion int         `json:"completionTokens"`
	Estimated  bool        `json:"estimated,omitempty"`
	Window     int         `json:"contextWindow"`
	Parts      []UsagePart `json:"parts,omitempty"`
	Purpose    string      `json:"purpose,omitempty"`
	// CompressAt is the share of the window at which the conversation would be shortened; 0 for never.
	CompressAt float64 `json:"compressAt,omitempty"`
	LatencyMS  int64   `json:"latencyMs,omitempty"`
}

// UsagePart is one line of the breakdown of the context.
type UsagePart struct {
	Label     text.Text      `json:"label"`
	Tokens    int            `json:"tokens"`
	Injectors map[string]int `json:"injectors,omitempty"`
}

// Proposal shows a call while its arguments are still written.
type Proposal struct {
	CallID string `json:"callId"`
	Tool   string `json:"toolName"`
	Step   int    `json:"step"`
	At     int64  `json:"at"`
}

// Call is a call with its arguments. Its work item is ExecutionID.
type Call struct {
	CallID      string          `json:"callId"`
	Tool        string          `json:"toolName"`
	Capability  string          `json:"capabilityId,omitempty"`
	Args        json.RawMessage `json:"input"`
	Digest      string          `json:"argsDigest,omitempty"`
	Effect      string          `json:"effect"` // read, write
	ExecutionID string          `json:"executionId"`
	Target      string          `json:"target,omitempty"`
	Step        int             `json:"step"`
	ProposedAt  int64           `json:"proposedAt,omitempty"`
	Rule        *Rule           `json:"rule,omitempty"`
}

// Rule is the standing answer of the owner's that decided about a call: deny, ask or allow, and the
// rule as it was written, "" where everything is let through.
type Rule struct {
	Verdict string `json:"verdict"`
	Text    string `json:"text,omitempty"`
}

// The statuses of a result.
const (
	ResultSucceeded = "succeeded"
	ResultFailed    = "failed"
	ResultDenied    = "denied"
	ResultCancelled = "cancelled"
	ResultTimedOut  = "timed_out"
)

// Result ends a call.
type Result struct {
	CallID      string `json:"callId"`
	Status      string `json:"status"`
	Text        string `json:"modelResult"`
	ErrorKind   string `json:"errorKind,omitempty"` // rejected, expired, unknown, cancelled, invalid, internal
	DurationMS  int64  `json:"durationMs"`
	ExitCode    *int   `json:"exitCode,omitempty"`
	Truncated   bool   `json:"truncated,omitempty"`
	TaskID      string `json:"taskId,omitempty"`
	NotExecuted bool   `json:"notExecuted,omitempty"`
	// Sent: the call sent something into a room, and what became of it is told by delivery.updated.
	Sent bool `json:"sent,omitempty"`
	// Card is what the session protocol shows beside the result, so that a completed card needs
	// no other event (Spec SP-REFR-03).
	Card *Card `json:"card,omitempty"`
}

// Card is the frozen rest of a tool card, but its output, which is the concatenation of its deltas.
type Card struct {
	Tool       string          `json:"toolName"`
	Args       json.RawMessage `json:"input"`
	Step       int             `json:"step"`
	At         int64           `json:"at"`
	Approval   string          `json:"approvalId,omitempty"`
	Settlement *Settlement     `json:"settlement,omitempty"`
	Rule       *Rule           `json:"rule,omitempty"`
}

// Effect is something a tool did that others may want to know of.
type Effect struct {
	EffectType string          `json:"effectType"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// Execution is a step of a work item.
type Execution struct {
	ExecutionID string `json:"executionId"`
	Status      string `json:"status"` // accepted, pending-confirmation, succeeded, failed
	ErrorKind   string `json:"errorKind,omitempty"`
}

// Action is something the owner must decide. Frozen: a changed proposal is a new action.
type Action struct {
	ActionKind string          `json:"kind"` // tool_approval, question, external
	CallID     string          `json:"callId,omitempty"`
	Tool       string          `json:"tool,omitempty"`
	Facts      json.RawMessage `json:"facts,omitempty"`
	Digest     string          `json:"paramsDigest,omitempty"`
	Options    []string        `json:"options"`
	Hash       string          `json:"contentHash"`
	Revision   int             `json:"revision"`
	ExpiresAt  int64           `json:"expiresAt,omitempty"`
	Policy     Policy          `json:"policy"`
	Origin     Origin          `json:"origin"`
	Chain      []ChainLink     `json:"chain,omitempty"`
	// Refused is set when it was settled at launch: no surface ever saw it.
	Refused bool `json:"refused,omitempty"`
	// Card is the running card as it stands, for the push that gives it the approval's id.
	Card *Card `json:"card,omitempty"`
}

// Policy says who may decide and what happens when nobody is there.
type Policy struct {
	Approvers []string `json:"approvers"` // principal ids
	Absent    string   `json:"absent"`    // deny, wait
	AllowApp  bool     `json:"allowApp,omitempty"`
}

// Origin says whose wish led to an action.
type Origin struct {
	Kind         string        `json:"kind"` // hand, autonomous
	Participants []Participant `json:"participants"`
}

// Participant is one person of the turn.
type Participant struct {
	Platform string `json:"platform"`
	UserID   string `json:"userId"`
}

// ChainLink is a sub-session on the way from the root to an action.
type ChainLink struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// The states and sources of a settlement. Spec SP-SETTLE-02.
const (
	StateApproved  = "approved"
	StateDenied    = "denied"
	StateExpired   = "expired"
	StateCancelled = "cancelled"
	StateResolved  = "resolved"

	SourceAnswer     = "answer"
	SourceAbsent     = "absent"
	SourceTimeout    = "timeout"
	SourceIneligible = "ineligible"
	SourceRateLimit  = "rate-limit"
	SourceTurnEnded  = "turn-ended"
	SourceShutdown   = "shutdown"
)

// Settlement is how an action was decided.
type Settlement struct {
	State  string    `json:"state"`
	Source string    `json:"source"`
	At     int64     `json:"at"`
	By     *Answerer `json:"by,omitempty"` // source answer only
}

// Answerer is who decided.
type Answerer struct {
	Platform string `json:"platform"`
	UserID   string `json:"userId,omitempty"`
	Nickname string `json:"nickname,omitempty"`
	Owner    bool   `json:"owner"`
}

// Resolution settles an action.
type Resolution struct {
	ActionID string `json:"actionId"`
	Settlement
	Note   string          `json:"note,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	// Card is the tool card with its settlement, for the push that follows.
	Card    *Card  `json:"card,omitempty"`
	CallID  string `json:"callId,omitempty"`
	Refused bool   `json:"refused,omitempty"`
}

// EventKind of each payload.
func (TurnStart) EventKind() Kind  { return TurnStarted }
func (TurnEnd) EventKind() Kind    { return TurnEnded }
func (Failure) EventKind() Kind    { return Failed }
func (ModelCall) EventKind() Kind  { return ModelCalled }
func (Proposal) EventKind() Kind   { return ToolProposed }
func (Call) EventKind() Kind       { return ToolCalled }
func (Result) EventKind() Kind     { return ToolResult }
func (Effect) EventKind() Kind     { return ToolEffect }
func (Execution) EventKind() Kind  { return ExecutionUpdated }
func (Action) EventKind() Kind     { return ActionRequested }
func (Resolution) EventKind() Kind { return ActionResolved }
