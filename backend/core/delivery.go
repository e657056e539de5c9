package core

import (
	"errors"
	"fmt"
	"strings"

	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
)

// SilentWord is what she says in a room when nothing is to be said there.
const SilentWord = "<silent>"

func isMissing(err error) bool { return errors.Is(err, store.ErrNotFound) }

func unlessMissing(err error) error {
	if isMissing(err) {
		return nil
	}
	return err
}

// silent reports whether the last words of a turn are none, in a room: there nobody would want to be
// sent them.
func silent(m event.Message) bool {
	said := strings.TrimSpace(m.Text)
	return len(m.Attachments) == 0 && (said == "" || said == SilentWord)
}

// withhold says of a message that is not the last of its turn why it does not go out (Spec SP-AMSG-06 to
// -08). Only rooms have somewhere to send it.
func withhold(s store.Session, m *event.Message, overtaken bool) {
	switch {
	case s.Kind != "room" || m.Final:
	case m.Fleeting:
		m.Withheld = event.WithheldNoReply
	case m.Finish == event.FinishRetry:
		m.Withheld = event.WithheldRetry
	case m.Aborted:
		m.Withheld = event.WithheldNoReply
	case overtaken:
		m.Withheld = event.WithheldOvertaken
	default:
		m.Withheld = event.WithheldBeforeTools
	}
}

// pending drafts that something is to be delivered. The reactor of the rooms does it.
func (w *write) pending(parent, turn string, d event.Delivery) event.Draft {
	d.State, d.Epoch = event.DeliveryPending, w.loop.epoch
	return event.Draft{Turn: turn, Parent: parent, Actor: event.System(), Payload: d}
}

// SendOut says something in a session that is not hers: the reply to a command, a hint of the program. Each
// part is a notice of its own (Spec SP-NOTICE-09 to -11). In a room it goes out, and stays once the platform
// took it (Spec SP-REFR-09, -10). Receipt.EventID is the first notice, whose delivery is that of all.
type SendOut struct {
	Session     string
	Topic       string // of the text; an attachment is an event marker
	Text        text.Text
	Attachments []event.Attachment
	Words       string // of the text, for the platform: a notice is rendered for the owner alone
}

// TopicMarker is the topic of what was sent in the program's name and answers no command.
const TopicMarker = "event-marker"

func (c SendOut) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	var notices []event.Notice
	if !c.Text.IsZero() {
		notices = append(notices, event.Notice{Topic: orElse(c.Topic, TopicMarker), Text: c.Text})
	}
	for _, a := range c.Attachments {
		notices = append(notices, attached(a))
	}
	if len(notices) == 0 {
		return Receipt{}, fmt.Errorf("there is nothing to send: %w", store.ErrInvalid)
	}
	out := s.Kind == "room" && w.loop.ruling != nil
	var ids []string
	for _, n := range notices {
		n.Outbound = out
		got, err := w.append(s.SID, event.Draft{Actor: event.System(), Payload: n})
		if err != nil {
			return Receipt{}, err
		}
		ids = append(ids, got[0].ID)
	}
	if out {
		rules, err := w.loop.ruling(w.Tx, s)
		if err != nil {
			return Receipt{}, err
		}
		kind := event.DeliversNotice
		if rules.Forget {
			kind = event.DeliversAside
		}
		words := c.Words
		if words == "" && !c.Text.IsZero() {
			words = c.Text.String()
		}
		if _, err := w.append(s.SID, w.pending(ids[0], "", event.Delivery{
			Kind: kind, With: ids[1:], Out: &event.Outgoing{Text: words, Attachments: c.Attachments},
		})); err != nil {
			return Receipt{}, err
		}
	}
	return Receipt{SessionID: s.ID, EventID: ids[0], Waiting: out}, nil
}

// attached is the notice of an attachment: itself where it has an address, else a sentence in its place
// (Spec SP-NOTICE-10).
func attached(a event.Attachment) event.Notice {
	if a.Blob != "" || a.URL != "" {
		return event.Notice{Topic: TopicMarker, Attachment: &a}
	}
	kinds := map[string]text.Key{"image": "room.sent-image", "audio": "room.sent-audio", "video": "room.sent-video"}
	key, ok := kinds[a.Kind]
	if !ok {
		key = "room.sent-file"
	}
	return event.Notice{Topic: TopicMarker, Text: text.New(key, "name", a.Name)}
}

// SendByTool has a call of a running turn send something into a room.
type SendByTool struct {
	Turn, CallID string
	Out          event.Outgoing // Room is the id or the address of the room
}

func (c SendByTool) run(w *write) (Receipt, error) {
	t, err := w.live(c.Turn)
	if err != nil {
		return Receipt{}, err
	}
	called, call, err := w.called(t, c.CallID)
	if err != nil {
		return Receipt{}, err
	}
	to, err := w.session(c.Out.Room)
	if err != nil {
		return Receipt{}, err
	}
	if _, sent, err := w.Delivery(called.ID); err != nil || sent || to.Kind != "room" {
		if err == nil {
			err = fmt.Errorf("call %s cannot send into %s: %w", call.CallID, to.ID, store.ErrInvalid)
		}
		return Receipt{}, err
	}
	c.Out.Room = to.ID
	_, err = w.append(t.SID, w.pending(called.ID, t.ID, event.Delivery{Kind: event.DeliversCall, Out: &c.Out}))
	return Receipt{SessionID: called.Session, TurnID: t.ID, EventID: called.ID}, err
}

// SettleDelivery tells what became of something that was to go out. The first answer stands
// (Receipt.Repeated).
type SettleDelivery struct {
	EventID string         // what was delivered
	Result  event.Delivery // State, Reason, Pieces and Of; the rest is filled in
}

func (c SettleDelivery) run(w *write) (Receipt, error) {
	row, found, err := w.Delivery(c.EventID)
	if err != nil || !found || row.State != event.DeliveryPending {
		return Receipt{Repeated: err == nil}, err
	}
	asked, _, err := w.EventAt(row.SID, row.Seq)
	if err != nil {
		return Receipt{}, err
	}
	was, _ := asked.Payload.(event.Delivery)
	d := event.Delivery{
		State: c.Result.State, Reason: c.Result.Reason, Pieces: c.Result.Pieces, Of: c.Result.Of, Kind: was.Kind, Epoch: was.Epoch, With: was.With,
		SentToRoom: was.Kind == event.DeliversCall && c.Result.State == event.DeliveryAccepted,
	}
	if _, err := w.append(row.SID, event.Draft{Turn: row.Turn, Parent: row.EventID, Actor: event.System(), Payload: d}); err != nil {
		return Receipt{}, err
	}
	if d.SentToRoom && was.Out != nil {
		err = w.posted(*was.Out)
	}
	return Receipt{SessionID: row.Session, TurnID: row.Turn, EventID: row.EventID}, err
}

// posted keeps in a room what a tool has sent there: words of hers, of no turn. A room that is gone by now
// has none.
func (w *write) posted(out event.Outgoing) error {
	to, err := w.session(out.Room)
	if err != nil {
		return nil
	}
	id := event.NewID()
	got, err := w.append(to.SID, event.Draft{ID: id, Actor: event.Agent(), Payload: event.MessageStart{MessageID: id}})
	if err != nil {
		return err
	}
	if out.Text != "" {
		if err := w.AppendText(store.Piece{SID: to.SID, StartSeq: got[0].Seq, Kind: event.TextDelta, Text: out.Text}); err != nil {
			return err
		}
	}
	_, err = w.append(to.SID, event.Draft{Parent: id, Actor: event.Agent(), Payload: event.Message{
		MessageID: id, Text: out.Text, Attachments: out.Attachments, Final: true, External: true, StartedAt: w.Now,
	}})
	return err
}

// CutDeliveries settles what an earlier start left undecided: it may have gone out. Kernel 9.
type CutDeliveries struct{}

func (CutDeliveries) run(w *write) (Receipt, error) {
	all, err := w.PendingDeliveries()
	if err != nil {
		return Receipt{}, err
	}
	var r Receipt
	done := map[string]bool{}
	for _, d := range all {
		if d.Epoch == w.loop.epoch || done[d.EventID] {
			continue
		}
		asked, _, err := w.EventAt(d.SID, d.Seq)
		if err != nil {
			return Receipt{}, err
		}
		if asked.Parent != d.EventID { // one that goes with another
			continue
		}
		if _, err := (SettleDelivery{EventID: d.EventID, Result: event.Delivery{State: event.DeliveryUnknown}}).run(w); err != nil {
			return Receipt{}, err
		}
		done[d.EventID] = true
		r.Count++
	}
	return r, nil
}
