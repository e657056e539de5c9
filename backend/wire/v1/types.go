package v1

import "encoding/json"

// Prefix stands before every path of the protocol. Spec V1-006.
const Prefix = "/v1"

// EventVersion is the version of the form of events. Spec V1-008.
const EventVersion = 1

// EventType names an event. Spec V1-120.
type EventType string

// The twelve types.
const (
	MessageUser       EventType = "message.user"
	MessageDelta      EventType = "message.delta"
	MessageCompleted  EventType = "message.completed"
	ToolCall          EventType = "tool.call"
	ToolResult        EventType = "tool.result"
	ExecutionUpdated  EventType = "execution.updated"
	ApprovalRequested EventType = "approval.requested"
	ApprovalResolved  EventType = "approval.resolved"
	RunState          EventType = "run.state"
	SessionUpdated    EventType = "session.updated"
	Error             EventType = "error"
	Heartbeat         EventType = "heartbeat"
)

// EventTypes lists the closed set, in the order of the document.
func EventTypes() []EventType {
	return []EventType{
		MessageUser, MessageDelta, MessageCompleted, ToolCall, ToolResult, ExecutionUpdated, ApprovalRequested, ApprovalResolved, RunState,
		SessionUpdated, Error, Heartbeat,
	}
}

// Event is the envelope of every event of the stream.
type Event struct {
	V    int       `json:"v" jsonschema:"enum=1"`
	Seq  int64     `json:"seq"` // from 1; a heartbeat's is the last one sent, 0 for none
	Type EventType `json:"type"`
	// SessionID is that of the session whose stream this is.
	SessionID string `json:"sessionId"`
	RunID     string `json:"runId,omitempty"` // set inside a run
	At        string `json:"at"`              // RFC 3339, UTC, milliseconds
	Data      any    `json:"data"`
}

// The data of each type.
type (
	// UserMessage is what somebody said to her.
	UserMessage struct {
		MessageID string `json:"messageId"`
		Text      string `json:"text"`
	}
	// Delta is to be appended to its message.
	Delta struct {
		MessageID string `json:"messageId"`
		Text      string `json:"text"`
	}
	// Completed ends a message of hers.
	Completed struct {
		MessageID    string       `json:"messageId"`
		FinishReason FinishReason `json:"finishReason"`
	}
	// Call is a capability that she asked for; never its arguments.
	Call struct {
		CallID       string `json:"callId"`
		CapabilityID string `json:"capabilityId"`
		ArgsDigest   string `json:"argsDigest"`
	}
	// Result is the receipt of a call.
	Result struct {
		CallID      string          `json:"callId"`
		ExecutionID string          `json:"executionId"`
		Status      ExecutionStatus `json:"status"`
		ErrorKind   ErrorKind       `json:"errorKind,omitempty"`
	}
	// Execution is a change of an execution's state.
	Execution struct {
		ExecutionID string          `json:"executionId"`
		Status      ExecutionStatus `json:"status"`
		ErrorKind   ErrorKind       `json:"errorKind,omitempty"`
		CallID      string          `json:"callId,omitempty"`
	}
	// Asked is an approval that waits for the session's initiator.
	Asked struct {
		ApprovalID    string `json:"approvalId"`
		CapabilityID  string `json:"capabilityId"`
		ParamsDigest  string `json:"paramsDigest"`
		ImpactSummary string `json:"impactSummary"`
		Revision      int64  `json:"revision"`
		ExpiresAt     string `json:"expiresAt"`
		ExecutionID   string `json:"executionId,omitempty"`
		CallID        string `json:"callId,omitempty"`
	}
	// Resolved is how an approval ended.
	Resolved struct {
		ApprovalID string   `json:"approvalId"`
		Decision   Decision `json:"decision"`
	}
	// State is that of the session's run.
	State struct {
		State Phase `json:"state"`
	}
	// Updated is a session's title and status as they are from here on.
	Updated struct {
		Title  string        `json:"title"`
		Status SessionStatus `json:"status"`
		// RewoundRunID is the run that a rewind has taken out of the history, or put back.
		RewoundRunID string `json:"rewoundRunId,omitempty"`
		// HistoryAfterSeq is set when everything up to that number was cleared.
		HistoryAfterSeq int64 `json:"historyAfterSeq,omitempty"`
	}
	// Failure is what went wrong in a run.
	Failure struct {
		Code      ErrorCode `json:"code"`
		Message   string    `json:"message"`
		Retryable bool      `json:"retryable"`
	}
)

// The states of a run. Spec V1-143.
const (
	RunIdle       Phase = "idle"
	RunRunning    Phase = "running"
	RunCancelling Phase = "cancelling"
	RunCancelled  Phase = "cancelled"
)

// The statuses of an execution. Spec V1-150.
const (
	StatusAccepted  ExecutionStatus = "accepted"
	StatusPending   ExecutionStatus = "pending-confirmation"
	StatusSucceeded ExecutionStatus = "succeeded"
	StatusFailed    ExecutionStatus = "failed"
)

// Session is one session.
type Session struct {
	ID        string        `json:"id"`
	Title     string        `json:"title"`
	Status    SessionStatus `json:"status"`
	ProjectID *string       `json:"projectId" jsonschema:"nullable"`
	RunState  Phase         `json:"runState"`
	LastSeq   int64         `json:"lastSeq"`
	Initiator Person        `json:"initiator"`
	CreatedAt string        `json:"createdAt"`
	UpdatedAt string        `json:"updatedAt"`
}

// Person names a person.
type Person struct {
	UserID string `json:"userId"`
}

// SessionList answers GET /v1/sessions.
type SessionList struct {
	Sessions   []Session `json:"sessions"`
	NextCursor string    `json:"nextCursor,omitempty"`
}

// SessionDetail answers GET /v1/sessions/{id}.
type SessionDetail struct {
	Session          Session   `json:"session"`
	Messages         []Message `json:"messages"`
	HasMore          bool      `json:"hasMore"`
	LastSeq          int64     `json:"lastSeq"`
	PendingApprovals []Asked   `json:"pendingApprovals"`
}

// Message is one message of a session.
type Message struct {
	MessageID    string       `json:"messageId"`
	Role         string       `json:"role" jsonschema:"enum=user,enum=assistant"`
	Text         string       `json:"text"`
	FinishReason FinishReason `json:"finishReason,omitempty"`
	Seq          int64        `json:"seq"`
	At           string       `json:"at"`
}

// Me answers GET /v1/me.
type Me struct {
	User      Named    `json:"user"`
	Tenant    Named    `json:"tenant"`
	Client    Client   `json:"client"`
	Protocol  Protocol `json:"protocol"`
	ExpiresAt string   `json:"expiresAt,omitempty"`
}

// Named is an id with a name for people.
type Named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Client is the form in which the caller came in.
type Client struct {
	Kind     ClientKind `json:"kind"`
	DeviceID string     `json:"deviceId,omitempty"`
}

// Protocol names this protocol.
type Protocol struct {
	Prefix       string `json:"prefix" jsonschema:"enum=/v1"`
	EventVersion int    `json:"eventVersion" jsonschema:"enum=1"`
}

// Project is a folder of the owner's that sessions work in.
type Project struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Writable  bool   `json:"writable"`
	UpdatedAt string `json:"updatedAt"`
}

// ProjectList answers GET /v1/projects.
type ProjectList struct {
	Projects []Project `json:"projects"`
}

// Envelope is every answer that says no.
type Envelope struct {
	Error EnvelopeError `json:"error"`
}

// EnvelopeError says what is wrong.
type EnvelopeError struct {
	Code      ErrorCode `json:"code"`
	Message   string    `json:"message"`
	Retryable bool      `json:"retryable"`
	RequestID string    `json:"requestId"`
	Details   []Detail  `json:"details,omitempty"`
}

// Detail names one mistake in a request.
type Detail struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Args are the arguments of a call, which only a digest of leaves this package.
type Args = json.RawMessage
