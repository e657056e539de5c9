package event

import "aalis/backend/text"

// TopicBackground is the topic of the notice that a background task has ended, and the source of a
// turn that such a notice opened. Spec SP-NOTICE-05.
const TopicBackground = "background-task"

// The states of a background task. Spec SP-BG-08.
const (
	TaskRunning   = "running"
	TaskCompleted = "completed"
	TaskFailed    = "failed"
	TaskStopped   = "stopped"
	TaskAborted   = "aborted"
)

// Backgrounding moves a call to the background.
type Backgrounding struct {
	TaskID string `json:"taskId"`
	Label  string `json:"label"`
	// StartedAt is when the work began, ms; 0 is the moment of the event.
	StartedAt int64 `json:"startedAt,omitempty"`
}

// BackgroundEnd ends a task.
type BackgroundEnd struct {
	TaskID       string    `json:"taskId"`
	Status       string    `json:"status"`
	ExitCode     *int      `json:"exitCode,omitempty"`
	Reason       text.Text `json:"reason,omitzero"`
	LastLine     string    `json:"lastLine,omitempty"`
	LastOutputAt int64     `json:"lastOutputAt,omitempty"`
	// Dropped are the finished tasks of the session that this one pushes out. Spec SP-BG-05.
	Dropped []string `json:"dropped,omitempty"`
}

// EventKind of each payload.
func (Backgrounding) EventKind() Kind { return ToolBackgrounded }
func (BackgroundEnd) EventKind() Kind { return BackgroundEnded }
