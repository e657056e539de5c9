package session

// TaskStatus is the state of a background task.
type TaskStatus string

// The states of a task.
const (
	TaskRunning   TaskStatus = "running"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskStopped   TaskStatus = "stopped"
	TaskAborted   TaskStatus = "aborted"
)

// Words lists the closed set.
func (TaskStatus) Words() []string {
	return []string{string(TaskRunning), string(TaskCompleted), string(TaskFailed), string(TaskStopped), string(TaskAborted)}
}

// BackgroundTask is a tool call that was moved to the background. The parameters the model gave and
// the tool's result are never part of it.
type BackgroundTask struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	Kind      string `json:"kind" jsonschema:"enum=tool-call"`
	// Label is the tool's name.
	Label  string     `json:"label"`
	Call   *TaskCall  `json:"call,omitzero"`
	Status TaskStatus `json:"status"`
	// StartedAt is in milliseconds since the epoch.
	StartedAt int64 `json:"startedAt"`
	// EndedAt is absent while it runs.
	EndedAt int64 `json:"endedAt,omitzero"`
	// LastLine is the last line of output.
	LastLine     string `json:"lastLine,omitzero"`
	LastOutputAt int64  `json:"lastOutputAt,omitzero"`
	// Reason is one sentence on a failure or interruption.
	Reason   string `json:"reason,omitzero"`
	ExitCode *int   `json:"exitCode,omitzero"`
	// Display is without exit code; absent once the tool has withdrawn its registration.
	Display ToolDisplay `json:"display,omitzero"`
}

// TaskCall is the tool call a task came from.
type TaskCall struct {
	Tool   string `json:"tool"`
	TurnID string `json:"turnId"`
	// CallID is the itemId of the tool card.
	CallID string `json:"callId"`
}

// BackgroundListResult lists the running tasks and the finished ones that are kept.
type BackgroundListResult struct {
	Tasks []BackgroundTask `json:"tasks"`
}

// BackgroundChanged is pushed after background/watch.
type BackgroundChanged struct {
	Upserts []BackgroundTask `json:"upserts"`
	// Removes are the ids of tasks that went away.
	Removes []string `json:"removes"`
}

// TaskParams names a background task.
type TaskParams struct {
	TaskID string `json:"taskId"`
}

// BackgroundOutputParams asks for the output after a position.
type BackgroundOutputParams struct {
	TaskID string `json:"taskId"`
	// After is a position in UTF-16 code units; 0 when absent.
	After int64 `json:"after,omitzero" jsonschema:"minimum=0"`
}

// BackgroundOutputResult is what came after the position.
type BackgroundOutputResult struct {
	Text string `json:"text"`
	// End is the total length so far; the next after.
	End int64 `json:"end" jsonschema:"minimum=0"`
	// Truncated: after lies before the start of what is kept.
	Truncated bool `json:"truncated"`
}
