package v1

import (
	"net/http"
	"reflect"
)

// ContractVersion is that of the published documents: the second part rises when something is added,
// the first only together with Prefix (Spec V1-007, V1-009).
const ContractVersion = "1.0.0"

// The closed lists of words. What stands in one of these fields on the wire is one of its Words.
type (
	// ExecutionStatus is how far an execution is. Spec V1-150.
	ExecutionStatus string
	// Phase is the state of a session's run. Spec V1-143.
	Phase string
	// SessionStatus is a session's state, never that of an execution. Spec V1-147.
	SessionStatus string
	// FinishReason is why a message of hers ended. Spec V1-130.
	FinishReason string
	// ErrorKind is why an execution failed; unknown is one whose outcome nobody knows. Spec V1-138.
	ErrorKind string
	// Decision is how an approval ended. Spec V1-142.
	Decision string
	// ErrorCode names a failure, of a request or in a run. Spec V1-217.
	ErrorCode string
	// ClientKind is the form in which a caller came in. Spec V1-047.
	ClientKind string
)

// The forms of clients.
const (
	ClientBrowser ClientKind = "browser"
	ClientDesktop ClientKind = "desktop"
)

// Words lists the closed set, in the order of the document.
func (EventType) Words() []string {
	words := make([]string, 0, len(EventTypes()))
	for _, t := range EventTypes() {
		words = append(words, string(t))
	}
	return words
}

// Words lists the closed set.
func (ExecutionStatus) Words() []string {
	return []string{"accepted", "pending-confirmation", "succeeded", "failed"}
}

// Words lists the closed set.
func (Phase) Words() []string { return []string{"idle", "running", "cancelling", "cancelled"} }

// Words lists the closed set.
func (SessionStatus) Words() []string {
	return []string{"active", "locked", "closed", "archived", "deleted"}
}

// Words lists the closed set.
func (FinishReason) Words() []string {
	return []string{"stop", "length", "tool-calls", "cancelled", "error"}
}

// Words lists the closed set.
func (ErrorKind) Words() []string {
	return []string{"unknown", "forbidden", "rejected", "expired", "invalid", "cancelled", "unavailable", "internal"}
}

// Words lists the closed set.
func (Decision) Words() []string { return []string{"approved", "rejected", "expired", "cancelled"} }

// Words lists the closed set.
func (ErrorCode) Words() []string {
	return []string{
		"invalid_request", "unauthenticated", "forbidden", "not_found", "session_closed", "session_locked", "conflict", "payload_too_large",
		"rate_limited", "engine_unavailable", "engine_timeout", "engine_error", "internal",
	}
}

// Words lists the closed set.
func (ClientKind) Words() []string { return []string{"browser", "desktop"} }

// EventName is the published name of the union of all events.
const EventName = "V1Event"

// Shape is a published name and the Go type behind it.
type Shape struct {
	Name string
	Type reflect.Type
}

func shape[T any](name string) Shape { return Shape{name, reflect.TypeFor[T]()} }

// Shapes lists everything that is published by name, but the events, which Data gives. Whatever the
// table of endpoints names has to be here.
func Shapes() []Shape {
	return []Shape{
		shape[Health]("HealthResponse"),
		shape[Me]("MeResponse"),
		shape[ProjectList]("ProjectListResponse"), shape[Project]("Project"),
		shape[SessionList]("SessionListResponse"), shape[Session]("SessionInfo"),
		shape[SessionDetail]("SessionDetailResponse"), shape[Message]("MessageInfo"), shape[Asked]("PendingApproval"),
		shape[CreateSession]("CreateSessionRequest"), shape[Created]("CreateSessionResponse"),
		shape[Capabilities]("CapabilitiesResponse"), shape[Capability]("Capability"),
		shape[SendMessage]("SendMessageRequest"), shape[Sent]("SendMessageResponse"),
		shape[Cancelled]("CancelResponse"),
		shape[Receipt]("ExecutionReceipt"),
		shape[Decide]("ApprovalDecisionRequest"), shape[Decided]("ApprovalDecisionResponse"),
		shape[Envelope]("ErrorEnvelope"), shape[EnvelopeError]("ErrorBody"), shape[Detail]("ErrorDetail"),
		shape[Person]("Person"), shape[Named]("Named"), shape[Client]("ClientForm"), shape[Protocol]("ProtocolInfo"),
		shape[EventType]("EventType"), shape[ExecutionStatus]("ExecutionStatus"), shape[Phase]("RunState"),
		shape[SessionStatus]("SessionStatus"), shape[FinishReason]("FinishReason"), shape[ErrorKind]("ErrorKind"),
		shape[Decision]("Decision"), shape[ErrorCode]("ErrorCode"), shape[ClientKind]("ClientKind"),
	}
}

// EventData is a type of event, the published name of its data, and the Go type behind that.
type EventData struct {
	Type EventType
	Data Shape
}

// Data lists the data of every type of event, in the order of the document.
func Data() []EventData {
	return []EventData{
		{MessageUser, shape[UserMessage]("MessageUserData")},
		{MessageDelta, shape[Delta]("MessageDeltaData")},
		{MessageCompleted, shape[Completed]("MessageCompletedData")},
		{ToolCall, shape[Call]("ToolCallData")},
		{ToolResult, shape[Result]("ToolResultData")},
		{ExecutionUpdated, shape[Execution]("ExecutionUpdatedData")},
		{ApprovalRequested, shape[Asked]("PendingApproval")},
		{ApprovalResolved, shape[Resolved]("ApprovalResolvedData")},
		{RunState, shape[State]("RunStateData")},
		{SessionUpdated, shape[Updated]("SessionUpdatedData")},
		{Error, shape[Failure]("ErrorData")},
		{Heartbeat, shape[Empty]("HeartbeatData")},
	}
}

// Empty is the data of a heartbeat. Spec V1-149.
type Empty struct{}

// Success is the status of an answer that says yes.
func (e Endpoint) Success() int {
	switch e.Response {
	case "SendMessageResponse":
		return http.StatusAccepted
	case "CreateSessionResponse":
		return http.StatusCreated
	}
	return http.StatusOK
}
