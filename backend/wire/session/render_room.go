package session

import (
	"encoding/json"

	"aalis/backend/event"
	"aalis/backend/text"
)

// said draws a finished message of hers, with what became of it in a room.
func (d *drawing) said(e event.Event, m event.Message) ([]itemPush, error) {
	item := d.message(e, m)
	item.Undelivered = d.withheld(m.Withheld)
	if !m.Sent {
		return one(completed, item), nil
	}
	now := event.Delivery{State: event.DeliveryPending} // as it is when the message is pushed
	if d.tx != nil {
		row, found, err := d.tx.Delivery(e.ID)
		if err != nil || !found {
			return one(completed, item), err
		}
		if row.State != event.DeliveryPending {
			told, _, err := d.tx.EventAt(row.SID, row.Seq)
			if err != nil {
				return nil, err
			}
			now, _ = told.Payload.(event.Delivery)
		}
	}
	d.fate(item, now)
	return one(completed, item), nil
}

// withheld words why a message was not sent at all (Spec SP-AMSG-05 to -08); nil for one that was.
func (d *drawing) withheld(why string) *Undelivered {
	keys := map[string]text.Key{
		event.WithheldBeforeTools: "room.undelivered-before-tools", event.WithheldOvertaken: "room.undelivered-overtaken",
		event.WithheldRetry: "room.undelivered-retry", event.WithheldNoReply: "room.undelivered-no-reply",
	}
	key, known := keys[why]
	if !known {
		return nil
	}
	return &Undelivered{Reason: text.New(key).In(d.lang)}
}

// fate puts on a message what the platform made of it (Spec SP-AMSG-09).
func (d *drawing) fate(item *AgentMessageItem, p event.Delivery) {
	var why text.Text
	switch p.State {
	case event.DeliveryPending:
		item.Ext = &SendingExt{Sending: true}
		return
	case event.DeliveryAccepted:
		return
	case event.DeliveryRefused:
		why = because("room.undelivered-refused", p.Reason)
	case event.DeliveryPartial:
		why = text.New("room.undelivered-partial", "n", p.Pieces, "of", p.Of)
	case event.DeliveryUnknown:
		why = text.New("room.undelivered-unknown")
	default:
		why = because("room.undelivered-failed", p.Reason)
	}
	item.Undelivered = &Undelivered{Reason: why.In(d.lang)}
}

// because words a failure with the platform's own words, where it gave any.
func because(key text.Key, reason string) text.Text {
	if reason == "" {
		return text.New(key + "-bare")
	}
	return text.New(key, "reason", reason)
}

// delivered draws once more what the platform has answered about (Spec SP-SUB-25, SP-SUB-29). A notice was
// pushed when it was sent and stays as it is.
func (d *drawing) delivered(e event.Event, p event.Delivery) ([]itemPush, error) {
	if p.State == event.DeliveryPending || d.tx == nil {
		return nil, nil
	}
	if e.Turn != "" {
		if dead, err := d.tx.Dead(e.SID, e.Turn); err != nil || dead {
			return nil, err
		}
	}
	what, found, err := d.tx.Event(e.Parent)
	if err != nil || !found {
		return nil, err
	}
	switch what.Payload.(type) {
	case event.Message:
		return d.event(what)
	case event.Call:
		d.calls[what.ID] = what
		result, ended, err := d.tx.Child(e.SID, what.ID, event.ToolResult)
		if err != nil || !ended { // the card will end with what is known by then
			return nil, err
		}
		return d.event(result)
	}
	return nil, nil
}

// forwardsOf draws what was forwarded with a message (Spec SP-UMSG-05 to -07). What cannot be read is shown
// as records that could not be fetched are.
func forwardsOf(raw json.RawMessage) []Forward {
	if len(raw) == 0 {
		return nil
	}
	var all []event.Forward
	if json.Unmarshal(raw, &all) != nil {
		return []Forward{{}}
	}
	var out []Forward
	for _, f := range all {
		if f.Facts == nil {
			out = append(out, Forward{})
			continue
		}
		people := f.Facts.Participants
		if people == nil {
			people = []string{}
		}
		shown := people[:min(len(people), event.ForwardParticipants)]
		out = append(out, Forward{Facts: &ForwardFacts{
			Count: f.Facts.Count, Participants: shown, Unlisted: f.Facts.Unlisted + len(people) - len(shown), Text: f.Facts.Text, CutOff: f.Facts.CutOff,
		}})
	}
	return out
}
