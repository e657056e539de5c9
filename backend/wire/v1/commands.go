package v1

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/store"
	"aalis/backend/text"
)

// SendMessage is what POST /v1/sessions/{id}/messages takes.
type SendMessage struct {
	Text           string `json:"text" jsonschema:"minLength=1,maxLength=200000"`
	IdempotencyKey string `json:"idempotencyKey" jsonschema:"minLength=1,maxLength=128"`
}

// Sent answers it: the message is kept, and everything else comes by the stream.
type Sent struct {
	Status    ExecutionStatus `json:"status" jsonschema:"enum=accepted"`
	MessageID string          `json:"messageId"`
	Seq       int64           `json:"seq"`
	RunID     string          `json:"runId,omitempty"` // absent while it waits in the queue
}

// Cancelled answers POST /v1/sessions/{id}/cancel.
type Cancelled struct {
	State Phase  `json:"state"`
	RunID string `json:"runId,omitempty"`
}

// Decide is what POST /v1/approvals/{approvalId} takes.
type Decide struct {
	Decision       string `json:"decision" jsonschema:"enum=approve,enum=reject"`
	Revision       *int64 `json:"revision" jsonschema:"minimum=1"`
	IdempotencyKey string `json:"idempotencyKey" jsonschema:"minLength=1,maxLength=128"`
	Note           string `json:"note,omitempty" jsonschema:"maxLength=2000"`
}

// Decided answers it.
type Decided struct {
	ApprovalID      string `json:"approvalId"`
	Result          string `json:"result" jsonschema:"enum=approved,enum=rejected,enum=expired"`
	ExecutionID     string `json:"executionId,omitempty"`
	CurrentRevision int64  `json:"currentRevision,omitempty"`
}

// Receipt answers GET /v1/executions/{executionId}.
type Receipt struct {
	ExecutionID  string          `json:"executionId"`
	CallID       string          `json:"callId"`
	CapabilityID string          `json:"capabilityId"`
	SessionID    string          `json:"sessionId"`
	RunID        string          `json:"runId,omitempty"`
	Status       ExecutionStatus `json:"status"`
	ErrorKind    ErrorKind       `json:"errorKind,omitempty"`
	ApprovalID   string          `json:"approvalId,omitempty"`
	ArgsDigest   string          `json:"argsDigest"`
	ResultDigest string          `json:"resultDigest,omitempty"`
	CreatedAt    string          `json:"createdAt"`
	StartedAt    string          `json:"startedAt,omitempty"`
	FinishedAt   string          `json:"finishedAt,omitempty"`
}

// Bounds of requests.
const (
	mostKey  = 128     // characters. Spec V1-160
	mostText = 200_000 // UTF-16 units, as in the session protocol
	mostNote = 2000
)

// body reads a request's JSON; keys that are unknown are let be (Spec V1-014).
func body(r *http.Request, into any) error {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return invalid("body", text.New("v1.body"))
	}
	if err := json.Unmarshal(data, into); err != nil {
		return invalid("body", text.New("v1.body"))
	}
	return nil
}

func checkKey(key string) error {
	if n := utf8.RuneCountInString(key); n == 0 || n > mostKey || strings.TrimSpace(key) == "" {
		return invalid("idempotencyKey", text.New("v1.key", "most", mostKey))
	}
	return nil
}

// actor is who asks, as the log knows people.
func (s *Server) actor(r *http.Request) (principal.Caller, event.Actor) {
	who, _ := s.o.Caller(r.Context())
	return who, event.Actor{
		Kind: who.Principal.Kind, Principal: who.Principal.ID, Platform: who.Identity.Platform, UserID: who.Identity.UserID,
		Nickname: who.Principal.DisplayName, Owner: who.Principal.Kind == principal.Owner, Via: "v1", Surface: who.Surface,
	}
}

// send keeps a message and answers before she has begun. A key that was there already answers as then,
// whatever the text says now (Spec V1-152 to -165).
func (s *Server) send(w http.ResponseWriter, r *http.Request) error {
	var asked SendMessage
	if err := body(r, &asked); err != nil {
		return err
	}
	if err := checkKey(asked.IdempotencyKey); err != nil {
		return err
	}
	words := strings.TrimSpace(asked.Text)
	if words == "" || utf8.RuneCountInString(words) > mostText {
		return invalid("text", text.New("v1.text", "most", mostText))
	}
	who, actor := s.actor(r)
	got, err := s.o.Loop.Do(r.Context(), core.SendInput{
		Actor: actor, Session: r.PathValue("id"), Key: "v:" + who.Principal.ID + ":" + asked.IdempotencyKey,
		Input: event.Input{Text: words, Speaker: event.Speaker{
			Platform: who.Identity.Platform, UserID: who.Identity.UserID, Nickname: who.Principal.DisplayName, Owner: who.Principal.ID == event.OwnerID,
		}},
	})
	if err != nil {
		return err
	}
	out := Sent{Status: StatusAccepted, MessageID: got.EventID}
	err = s.o.Loop.Read(r.Context(), func(tx *store.ReadTx) error {
		e, _, err := tx.Event(got.EventID)
		if err != nil {
			return err
		}
		out.Seq = e.Seq
		if in, ok := e.Payload.(event.Input); ok && in.State == event.InputOpened { // as when it was sent, at every repetition
			out.RunID = e.Turn
		}
		return nil
	})
	if err == nil {
		s.answer(w, http.StatusAccepted, out)
	}
	return err
}

// cancel stops the run that is going on, if one is. Spec V1-166 to -175.
func (s *Server) cancel(w http.ResponseWriter, r *http.Request) error {
	_, actor := s.actor(r)
	got, err := s.o.Loop.Do(r.Context(), core.AbortTurn{Actor: actor, Session: r.PathValue("id"), Reason: "cancelled"})
	if err != nil {
		return err
	}
	out := Cancelled{State: RunIdle}
	if got.TurnID != "" {
		out = Cancelled{RunCancelling, got.TurnID}
	}
	s.answer(w, http.StatusOK, out)
	return nil
}

// decide answers an approval. What cannot be decided any more is no error of the request: the answer
// says that it is expired, and nothing is executed (Spec V1-193 to -211).
func (s *Server) decide(w http.ResponseWriter, r *http.Request) error {
	var asked Decide
	if err := body(r, &asked); err != nil {
		return err
	}
	switch {
	case asked.Decision != "approve" && asked.Decision != "reject":
		return invalid("decision", text.New("v1.decision"))
	case asked.Revision == nil || *asked.Revision < 1:
		return invalid("revision", text.New("v1.revision"))
	case utf8.RuneCountInString(asked.Note) > mostNote:
		return invalid("note", text.New("v1.note", "most", mostNote))
	}
	if err := checkKey(asked.IdempotencyKey); err != nil {
		return err
	}
	who, actor := s.actor(r)
	id := r.PathValue("approvalId")
	_, err := s.o.Loop.Do(r.Context(), core.AnswerAction{
		Actor: actor, By: event.Answerer{Platform: who.Identity.Platform, UserID: who.Identity.UserID, Nickname: who.Principal.DisplayName, Owner: actor.Owner},
		ActionID: id, Approve: asked.Decision == "approve", Revision: *asked.Revision, Note: asked.Note, May: true,
		Key: "v:" + who.Principal.ID + ":approve:" + asked.IdempotencyKey,
	})
	late := fault.Is(err, fault.ApprovalSettled) || fault.Is(err, fault.HashMismatch) || fault.Is(err, fault.Expired)
	if err != nil && !late {
		return err
	}
	out := Decided{ApprovalID: id, Result: "expired"}
	err = s.o.Loop.Read(r.Context(), func(tx *store.ReadTx) error {
		a, _, err := tx.Action(id)
		if err != nil {
			return err
		}
		if late {
			out.CurrentRevision = a.Revision
			return nil
		}
		out.Result = string(decisionOf(a.State))
		call, err := callOf(tx, a.ToolEvent)
		out.ExecutionID = call.ExecutionID
		return err
	})
	if err == nil {
		s.answer(w, http.StatusOK, out)
	}
	return err
}

// execution is the receipt of one. Spec V1-182 to -188.
func (s *Server) execution(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("executionId")
	var out Receipt
	found := false
	err := s.o.Loop.Read(r.Context(), func(tx *store.ReadTx) error {
		called, there, err := tx.CallOfExecution(id)
		call, ok := called.Payload.(event.Call)
		if err != nil || !there || !ok {
			return err
		}
		of, err := tx.SessionBySID(called.SID)
		if err != nil || of.DeletedAt != 0 {
			return err
		}
		found = true
		out = Receipt{
			ExecutionID: id, CallID: call.CallID, CapabilityID: call.Capability, SessionID: of.WireID(), RunID: called.Turn, Status: StatusAccepted,
			ArgsDigest: s.o.Digest(call.Args), CreatedAt: stamp(called.At),
		}
		return s.history(tx, called, &out)
	})
	if err == nil && !found {
		err = fault.New(fault.NotFound, text.New("v1.execution", "id", id))
	}
	if err == nil {
		s.answer(w, http.StatusOK, out)
	}
	return err
}

// history puts what happened to a call into its receipt.
func (s *Server) history(tx *store.ReadTx, called event.Event, out *Receipt) error {
	children, err := tx.Children(called.SID, called.ID)
	for _, e := range children {
		switch d := e.Payload.(type) {
		case event.Execution:
			out.Status, out.ErrorKind, out.FinishedAt = ExecutionStatus(d.Status), "", ""
			switch out.Status {
			case StatusAccepted:
				out.StartedAt = stamp(e.At)
			case StatusFailed:
				out.ErrorKind = errorKind(d.ErrorKind)
				fallthrough
			case StatusSucceeded:
				out.FinishedAt = stamp(e.At)
			}
		case event.Action:
			out.ApprovalID = e.ID
		case event.Result:
			if raw, err := json.Marshal(d.Text); err == nil && d.TaskID == "" {
				out.ResultDigest = s.o.Digest(raw)
			}
		}
	}
	return err
}
