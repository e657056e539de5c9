package app

import (
	"strings"

	"aalis/backend/event"
	"aalis/backend/wire/session"
)

// item is what the commands read of a timeline's items.
type item struct {
	Kind   string `json:"kind"`
	ItemID string `json:"itemId"`
	TurnID string `json:"turnId"`
	Text   string `json:"text"`
	Ext    struct {
		ClientID string `json:"clientId"`
	} `json:"ext"`
	Outcome    string    `json:"outcome"`
	Reason     string    `json:"reason"`
	ApprovalID string    `json:"approvalId"`
	Settlement *struct{} `json:"settlement"`
	Topic      string    `json:"topic"`
	Facts      struct {
		InputID string `json:"inputId"`
	} `json:"facts"`
}

// reply follows a session until the turn that took one message is over, and says what of her words is
// new. It sees items as they come, and all of them again after a resync, in any state; nothing is said
// twice.
type reply struct {
	clientID string

	turn    string            // the turn that took the message, once it did
	input   string            // the message, when it entered no turn
	said    map[string]string // of each of her messages, by itemId
	earlier map[string]bool   // messages that began before ours was taken
	last    string            // the itemId of what was said last
	outcome string            // once the turn is over
	reason  string
	waits   map[string]bool // approvals that have been seen waiting
}

func newReply(clientID string) *reply {
	return &reply{clientID: clientID, said: map[string]string{}, earlier: map[string]bool{}, waits: map[string]bool{}}
}

// over reports whether the turn has ended.
func (r *reply) over() bool { return r.outcome != "" }

// see takes an item and returns what is to be printed.
func (r *reply) see(it item) (out string) {
	switch it.Kind {
	case "user-message":
		if it.Ext.ClientID == r.clientID && it.TurnID != "" {
			r.turn = it.TurnID
		} else if it.Ext.ClientID == r.clientID {
			r.input = it.ItemID
		}
	case "notice": // a command is answered by one, and is over with it
		if r.input != "" && it.Topic == session.TopicCommandReply && it.Facts.InputID == r.input && !r.over() {
			r.outcome = event.Replied
			return r.say(it.ItemID, it.Text)
		}
	case "agent-message":
		if _, known := r.said[it.ItemID]; !known && (r.turn == "" || it.TurnID != r.turn) {
			r.earlier[it.ItemID] = true
		}
		if !r.earlier[it.ItemID] {
			return r.say(it.ItemID, it.Text)
		}
	case "turn":
		if r.turn != "" && it.TurnID == r.turn && it.Outcome != "" {
			r.outcome, r.reason = it.Outcome, it.Reason
		}
	}
	return ""
}

// more takes a piece of a message that is known.
func (r *reply) more(itemID, piece string) (out string) {
	so, known := r.said[itemID]
	if !known {
		return ""
	}
	return r.say(itemID, so+piece)
}

// say prints what a message has beyond what was printed of it. A message that was printed otherwise is
// printed again, whole: what it says now is what counts.
func (r *reply) say(itemID, whole string) string {
	so := r.said[itemID]
	r.said[itemID] = whole
	rest, grown := strings.CutPrefix(whole, so)
	if !grown {
		rest = whole
	}
	if rest == "" {
		return ""
	}
	gap := ""
	if r.last != "" && (r.last != itemID || !grown) {
		gap = "\n\n"
	}
	r.last = itemID
	return gap + rest
}

// waiting reports whether an item shows an approval that waits and has not been seen before.
func (r *reply) waiting(it item) bool {
	if it.Kind != "tool-call" || it.ApprovalID == "" || it.Settlement != nil || r.waits[it.ApprovalID] {
		return false
	}
	r.waits[it.ApprovalID] = true
	return true
}
