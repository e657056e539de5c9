package session

import (
	"context"
	"encoding/json"

	"aalis/backend/attachment"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/settings"
	"aalis/backend/text"
)

// Services are what the protocol needs from the program beside the log. Each may be nil, which is an
// absent service: its methods answer unsupported, and its feature bit is false. They come and go
// while the server runs (Server.Update). Implementations return faults for what a client can do
// something about, not-found for ids they do not know among them.
type Services struct {
	// Agent conducts turns.
	Agent Agent
	// Checkpoints takes back what a turn did to files.
	Checkpoints Checkpoints
	// Compression shortens what the model is shown of a session.
	Compression Compression
	// Settings resolves and writes session settings.
	Settings Settings
	// Commands takes what is said to the program instead of to her; nil: everything is said to her.
	Commands Commands
	// Plans says that she keeps to-do lists.
	Plans bool
	// Places are the owner's folders.
	Places Places
	// Background runs the tool calls that were moved to the background.
	Background Background
	// Approvals asks people and takes their answers.
	Approvals Approvals
	// Attachments keeps the files that go with messages.
	Attachments Attachments
	// Rooms names the adapters of rooms.
	Rooms Rooms
	// LocalRooms is the platform that is played inside the program.
	LocalRooms LocalRooms
	// Display resolves how a call is presented; nil gives every call the generic card.
	Display Display
	// Usage computes what the context of a session holds that no model was called in yet; nil leaves
	// the usage out until one is.
	Usage Usage
}

// Display gives how to present a call of a tool by its arguments, nil for the generic card. end is nil
// while the call runs. It is called often and must not block (Spec SP-DISP-01 to -05).
type Display func(tool string, args json.RawMessage, end *CallEnd) ToolDisplay

// CallEnd is how a call came out, as far as a card shows it.
type CallEnd struct {
	Text     string // what the model was given
	ExitCode *int   // what the tool handed over beside its text
}

// Usage computes the context of a session as its next call would send it (Spec SP-SUB-07).
type Usage func(ctx context.Context, sessionID string) (event.ModelCall, error)

// Features are the bits of the services that are there now.
func (s Services) features() Features {
	return Features{
		Send:     s.Agent != nil,
		Rewind:   s.Checkpoints != nil,
		Compress: s.Compression != nil,
		Settings: s.Settings != nil,
	}
}

// Agent is the dialogue service.
type Agent interface {
	// StopChildren stops the running turns of all descendants of a session and drops their queued
	// inputs. It is unsupported for engines that cannot stop turns, and then stops nothing.
	StopChildren(ctx context.Context, sessionID string) error
}

// Checkpoints is the checkpoint service.
type Checkpoints interface {
	// Rewind undoes exactly the named turn, which must be over.
	Rewind(ctx context.Context, by event.Actor, p TurnRewindParams) (TurnRewindResult, error)
	// Undo takes a rewind back.
	Undo(ctx context.Context, by event.Actor, p RewindUndoParams) (TurnRewindResult, error)
}

// Compression is the compression service.
type Compression interface {
	// Compress returns when it is done. A failure, and a second call for a session that is being
	// compressed, is internal with the reason as its message (Spec SP-COMP-04, -06).
	Compress(ctx context.Context, sessionID string) error
}

// Commands takes a message that is a command: it is recorded, enters no turn, and is answered by a
// notice. manages says that the caller may change settings. known is false for an ordinary message,
// which is left alone.
type Commands func(ctx context.Context, send core.SendInput, manages bool) (known bool, err error)

// Settings is the session settings service. Its answers hold sentences that are not rendered yet, so
// that a change of the language reaches the answer that tells of it. platform is that of the connection,
// for sessions that have none of their own; a nil value takes out what is written.
type Settings interface {
	Session(ctx context.Context, sessionID, platform string) (settings.Rows, error)
	WriteSession(ctx context.Context, sessionID, platform, plugin, key string, value json.RawMessage) (settings.Rows, error)
	Layers(ctx context.Context) ([]settings.LayerInfo, error)
	Layer(ctx context.Context, l settings.Layer) (settings.Rows, error)
	WriteLayer(ctx context.Context, l settings.Layer, plugin, key string, value json.RawMessage) (settings.Rows, error)
	Overrides(ctx context.Context, plugin string) ([]settings.Overrides, error)
}

// Places are the folders in which the owner's sessions can live.
type Places interface {
	// List gives the default workspace and then the others, by name.
	List(ctx context.Context, lang text.Language) ([]PlaceInfo, error)
	// Add makes a folder that is there a place; name "" is the folder's own.
	Add(ctx context.Context, path, name string) (PlaceInfo, error)
	// Remove forgets a place and touches nothing in it.
	Remove(ctx context.Context, key string) error
	// Files finds files of a session's place, or of the place with a key where there is no session yet, by
	// what a person has typed of their names: the best first.
	Files(ctx context.Context, sessionID, key, query string) ([]string, error)
}

// Attachments keeps the files that go with messages.
type Attachments interface {
	// Keep puts files to disk and then has commit write the event that names them. A fault says what is
	// wrong with a file; then commit was not called. Its error is passed on, and the files are gone again.
	Keep(ctx context.Context, files []attachment.Upload, commit func([]event.Attachment) error) error
}

// Rooms are the adapters of chat platforms.
type Rooms interface {
	// Instance gives the name of an adapter instance; ok is false for one that is not there. It does not
	// block.
	Instance(id string) (name text.Text, ok bool)
}

// LocalRooms is a chat platform inside the program, for the demo and for trying things by hand.
type LocalRooms interface {
	List(ctx context.Context) ([]LocalRoom, error)
	Say(ctx context.Context, p LocalSayParams) (LocalSayResult, error)
	// Crowd has many speak at once, and returns when all is in the log.
	Crowd(ctx context.Context, p LocalCrowdParams) error
	// Answer sets how a room of it takes what she sends.
	Answer(ctx context.Context, p LocalAnswerParams) error
}

// Background is the task registry. That there are tasks, and how they ended, is in the log.
type Background interface {
	// Progress gives the last line a running task has printed and when it last printed, in milliseconds;
	// 0 when it has not. It does not block.
	Progress(taskID string) (line string, at int64)
	// Output gives what a task printed after a position in UTF-16 code units.
	Output(ctx context.Context, p BackgroundOutputParams) (BackgroundOutputResult, error)
	// Stop aborts a task and returns when it has settled, after a few seconds at most; a task that
	// has ended stays as it is.
	Stop(ctx context.Context, taskID string) error
	// StopAll does the same to the running tasks of a session and all its descendants.
	StopAll(ctx context.Context, sessionID string) error
}

// Approvals is the approval service: it knows where somebody is there to be asked, and settles what
// nobody answers. Answers go to the log by command. Its methods do not block.
type Approvals interface {
	// Present says that the person at a connection is there, or is not, and reports whether the
	// connection was absent before and is present now. connection names it until Gone is called;
	// decider is the principal that may decide there, "" for none.
	Present(connection, decider string, active bool) (arrived bool)
	// Show reports whether an approval that waits may be pushed to a connection: somebody is there
	// who is one of its approvers. If so the approval keeps the connection present until Settled,
	// Gone, or a report of absence (Spec SP-PRES-06, -07).
	Show(connection, approval string, approvers []string) bool
	// Settled says that an approval no longer keeps a connection present.
	Settled(connection, approval string)
	// Gone says that a connection has ended.
	Gone(connection string)
}
