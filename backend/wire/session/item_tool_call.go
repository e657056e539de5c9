package session

// CallStatus is the state of a tool card.
type CallStatus string

// The states of a card.
const (
	CallGenerating CallStatus = "generating"
	CallRunning    CallStatus = "running"
	CallCompleted  CallStatus = "completed"
	CallFailed     CallStatus = "failed"
	CallDenied     CallStatus = "denied"
	CallAborted    CallStatus = "aborted"
)

// Words lists the closed set.
func (CallStatus) Words() []string {
	return []string{string(CallGenerating), string(CallRunning), string(CallCompleted), string(CallFailed), string(CallDenied), string(CallAborted)}
}

// ToolCallItem is a tool card; its itemId is the call's callId.
type ToolCallItem struct {
	Kind string `json:"kind" jsonschema:"enum=tool-call"`
	ItemBase
	// Tool is the tool's name.
	Tool string `json:"tool"`
	// Args are the parameters as given; empty while they are being generated.
	Args   Object     `json:"args"`
	Status CallStatus `json:"status"`
	// Output is what the running tool has printed.
	Output string `json:"output,omitzero"`
	// Result is exactly what the model was given.
	Result *string `json:"result,omitzero"`
	// StartedAt is when the card turned to running, in milliseconds since the epoch.
	StartedAt int64 `json:"startedAt,omitzero"`
	// DurationMs is final and includes the wait for an approval.
	DurationMs *int64 `json:"durationMs,omitzero"`
	// NotExecuted: the call was generated and never run.
	NotExecuted True        `json:"notExecuted,omitzero"`
	Display     ToolDisplay `json:"display,omitzero"`
	// ApprovalID without a settlement means the approval is pending.
	ApprovalID string              `json:"approvalId,omitzero"`
	Settlement *ApprovalSettlement `json:"settlement,omitzero"`
	// SentToRoom: the platform accepted the message the tool sent.
	SentToRoom True `json:"sentToRoom,omitzero"`
	// TaskID is the background task the call was moved to.
	TaskID string `json:"taskId,omitzero"`
	// Ext is an addition of this server.
	Ext *ToolCallExt `json:"ext,omitzero"`
}

// ToolCallExt says more of a call.
type ToolCallExt struct {
	// Rule is the owner's rule that decided about the call; absent when none did.
	Rule *AppliedRule `json:"rule,omitzero"`
}

// AppliedRule is a rule of the owner's that decided.
type AppliedRule struct {
	Verdict RuleVerdict `json:"verdict"`
	// Text is the rule as it is written; absent where everything is let through.
	Text string `json:"text,omitzero"`
}

// RuleVerdict is what a rule says.
type RuleVerdict string

// The verdicts.
const (
	RuleDeny  RuleVerdict = "deny"
	RuleAsk   RuleVerdict = "ask"
	RuleAllow RuleVerdict = "allow"
)

// Words lists the closed set.
func (RuleVerdict) Words() []string {
	return []string{string(RuleDeny), string(RuleAsk), string(RuleAllow)}
}

// ToolDisplay is how to present a call. The set is closed and grows by addition only; the shapes
// are pointers to the structs of displayVariants.
type ToolDisplay interface{ toolDisplay() }

// The kinds of display.
const (
	DisplayCommand    = "command"
	DisplayFileChange = "file-change"
)

var displayVariants = []any{CommandDisplay{}, FileChangeDisplay{}}

// CommandDisplay presents a command, taken literally from the parameters.
type CommandDisplay struct {
	Kind    string `json:"kind" jsonschema:"enum=command"`
	Command string `json:"command"`
	Cwd     string `json:"cwd,omitzero"`
	// ExitCode is there once the command has ended.
	ExitCode *int `json:"exitCode,omitzero"`
}

// FileChangeDisplay presents a change of a file, taken literally from the parameters.
type FileChangeDisplay struct {
	Kind string `json:"kind" jsonschema:"enum=file-change"`
	Path string `json:"path"`
	// Removed and Added are the replaced and the new text; absent is not the same as empty.
	Removed *string `json:"removed,omitzero"`
	Added   *string `json:"added,omitzero"`
}

func (*CommandDisplay) toolDisplay()    {}
func (*FileChangeDisplay) toolDisplay() {}
