package session

import (
	"context"
	"encoding/base64"
	"strings"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/text"
)

// turnSend says something to her under the connection's own identity, and answers as soon as that is
// in the log (Spec SP-TURN-02).
func (c *Conn) turnSend(ctx context.Context, p TurnSendParams) (Empty, error) {
	content := strings.TrimSpace(p.Content)
	if err := attachable(p.Attachments); err != nil {
		return Empty{}, err
	}
	if content == "" {
		return Empty{}, fault.New(fault.Invalid, text.New("wire.content-blank"))
	}
	who := c.peer.Caller
	send := core.SendInput{
		Actor: c.actor(), Session: p.SessionID,
		Input: event.Input{Text: content, Speaker: event.Speaker{
			Platform: who.Identity.Platform, UserID: who.Identity.UserID, Nickname: who.Principal.DisplayName, Owner: who.Principal.ID == event.OwnerID,
		}},
	}
	if p.Ext != nil {
		send.Input.ClientID = p.Ext.ClientID
		// Spec README 12: the same words of the same client to the same session are one message.
		send.Key = "s:" + who.Principal.ID + ":" + p.Ext.ClientID
	}
	services := c.server.current()
	if services.Commands != nil {
		known, err := services.Commands(ctx, send, who.Can(principal.Admin))
		if known || err != nil {
			return Empty{}, err
		}
	}
	if services.Agent == nil {
		return c.sendUnheard(ctx, send)
	}
	_, err := c.do(ctx, send)
	return Empty{}, err
}

// sendUnheard keeps what was said while nobody is there to answer, and says so (Spec SP-TURN-19,
// decisions F2).
func (c *Conn) sendUnheard(ctx context.Context, send core.SendInput) (Empty, error) {
	send.Swallow = true
	r, err := c.server.o.Loop.Do(ctx, send)
	if err != nil || r.Repeated {
		return Empty{}, err
	}
	return c.nobodyAnswers(ctx, send.Session)
}

func (c *Conn) nobodyAnswers(ctx context.Context, sessionID string) (Empty, error) {
	_, err := c.do(ctx, core.AddNotice{Session: sessionID, Notice: event.Notice{Topic: TopicEventMarker, Text: text.New("wire.nobody-answers")}})
	return Empty{}, err
}

// attachable checks what a message brings along. There is no store for it yet, and a message is not
// sent without what belongs to it.
func attachable(all []OutgoingAttachment) error {
	for _, a := range all {
		if !isDataURL(a.Data) {
			return fault.New(fault.Invalid, text.New("wire.attachment-form", "name", a.Name))
		}
	}
	if len(all) > 0 {
		return absent("wire.service-attachments")
	}
	return nil
}

// isDataURL reports whether s is a base64 data URL, the only form in which a client may send bytes
// (Spec SP-TURN-06).
func isDataURL(s string) bool {
	head, data, ok := strings.Cut(s, ",")
	scheme, media, hasScheme := strings.Cut(head, ":")
	if !ok || !hasScheme || !strings.EqualFold(scheme, "data") || !strings.HasSuffix(strings.ToLower(media), ";base64") {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(data)
	return err == nil
}

// queueEdit changes a message that waits. Only its words: what was sent with it stays.
func (c *Conn) queueEdit(ctx context.Context, p QueueEditParams) (Empty, error) {
	content := strings.TrimSpace(p.Content)
	if content == "" {
		return Empty{}, fault.New(fault.Invalid, text.New("wire.content-blank"))
	}
	return c.do(ctx, core.ChangeInput{Actor: c.actor(), Session: p.SessionID, InputID: p.InputID, Text: content})
}

func (c *Conn) queueRemove(ctx context.Context, p QueueRemoveParams) (Empty, error) {
	return c.do(ctx, core.RemoveInput{Actor: c.actor(), Session: p.SessionID, InputID: p.InputID})
}

// turnContinue goes on after the tool-call limit. Without an agent the answer is that of turn/send:
// a turn that nobody conducts would never end.
func (c *Conn) turnContinue(ctx context.Context, p SessionParams) (Empty, error) {
	if c.server.current().Agent == nil {
		return c.nobodyAnswers(ctx, p.SessionID)
	}
	_, err := c.do(ctx, core.ContinueTurn{Actor: c.actor(), Session: p.SessionID})
	return Empty{}, err
}

// turnAbort asks the running turn to stop; its end comes as a push (Spec SP-TURN-12 to -16, decisions
// F5).
func (c *Conn) turnAbort(ctx context.Context, p TurnAbortParams) (Empty, error) {
	if c.server.current().Agent == nil {
		return Empty{}, absent("wire.service-agent")
	}
	abort := core.AbortTurn{Actor: c.actor(), Session: p.SessionID}
	if p.TurnID != nil {
		if abort.Turn = *p.TurnID; abort.Turn == "" {
			return Empty{}, fault.New(fault.ExpectedTurnMismatch, text.New("turn.mismatch", "id", ""))
		}
	}
	_, err := c.do(ctx, abort)
	return Empty{}, err
}
