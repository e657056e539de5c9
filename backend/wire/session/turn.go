package session

import (
	"context"
	"encoding/base64"
	"strings"

	"aalis/backend/attachment"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/store"
	"aalis/backend/text"
	"aalis/backend/wire/jsonrpc"
)

// turnSend says something to her under the connection's own identity, and answers as soon as that is
// in the log (Spec SP-TURN-02).
func (c *Conn) turnSend(ctx context.Context, p TurnSendParams) (Empty, error) {
	content := strings.TrimSpace(p.Content)
	files, err := uploads(p.Attachments)
	if err != nil {
		return Empty{}, err
	}
	if content == "" && len(files) == 0 {
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
	if len(files) > 0 {
		return c.sayWith(ctx, send, files)
	}
	if commands := c.server.current().Commands; commands != nil {
		known, err := commands(ctx, send, who.Can(principal.Admin))
		if known || err != nil {
			return Empty{}, err
		}
	}
	return c.say(ctx, send)
}

// say gives her the words, if she is there.
func (c *Conn) say(ctx context.Context, send core.SendInput) (Empty, error) {
	if c.server.current().Agent == nil {
		return c.sendUnheard(ctx, send)
	}
	_, err := c.do(ctx, send)
	return Empty{}, err
}

// sayWith keeps the files first: the log names bytes only when they are on the disk.
func (c *Conn) sayWith(ctx context.Context, send core.SendInput, files []attachment.Upload) (Empty, error) {
	keeper := c.server.current().Attachments
	if keeper == nil {
		return Empty{}, absent("wire.service-attachments")
	}
	// Nothing is written for a session that is not there.
	if err := c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		_, _, err := open(tx, send.Session)
		return err
	}); err != nil {
		return Empty{}, err
	}
	return Empty{}, keeper.Keep(ctx, files, func(kept []event.Attachment) error {
		send.Input.Attachments = kept
		_, err := c.say(ctx, send)
		return err
	})
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

// uploads reads what a message brings along.
func uploads(all []OutgoingAttachment) ([]attachment.Upload, error) {
	var files []attachment.Upload
	for _, a := range all {
		data, ok := dataURL(a.Data)
		if !ok {
			return nil, fault.New(fault.Invalid, text.New("wire.attachment-form", "name", jsonrpc.Shorten(a.Name)))
		}
		files = append(files, attachment.Upload{Name: a.Name, Data: data})
	}
	return files, nil
}

// dataURL gives the bytes of a base64 data URL, the only form in which a client may send them
// (Spec SP-TURN-06). What type it declares is not looked at; padding may be left out (decisions I2).
func dataURL(s string) ([]byte, bool) {
	head, data, ok := strings.Cut(s, ",")
	scheme, media, hasScheme := strings.Cut(head, ":")
	if !ok || !hasScheme || !strings.EqualFold(scheme, "data") || !strings.HasSuffix(strings.ToLower(media), ";base64") {
		return nil, false
	}
	encoding := base64.StdEncoding
	if len(data)%4 != 0 {
		encoding = base64.RawStdEncoding
	}
	bytes, err := encoding.Strict().DecodeString(data)
	return bytes, err == nil && !strings.ContainsAny(data, "\r\n")
}

// queueEdit changes a message that waits. Only its words: what was sent with it stays.
func (c *Conn) queueEdit(ctx context.Context, p QueueEditParams) (Empty, error) {
	content := strings.TrimSpace(p.Content)
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
