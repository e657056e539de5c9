package event

// Why a message of hers in a room does not go out: only the last one of a turn does. Spec SP-AMSG-06 to 08.
const (
	WithheldBeforeTools = "before-tools" // more of the turn followed
	WithheldOvertaken   = "overtaken"    // something was said to her before it could go out
	WithheldRetry       = "retry"        // a retry threw the version away
	WithheldNoReply     = "no-reply"     // its turn ended without a reply
)

// FinishRetry is the finish reason of a version that a retry threw away.
const FinishRetry = "retry"

// The states of a delivery. All but the first are final.
const (
	DeliveryPending  = "pending"
	DeliveryAccepted = "accepted" // the platform took it
	DeliveryRefused  = "refused"  // the platform said no
	DeliveryFailed   = "failed"   // it never got there
	DeliveryPartial  = "partial"  // only the first pieces went out
	DeliveryUnknown  = "unknown"  // it may have gone out; the platform did not confirm it
)

// What a delivery delivers.
const (
	DeliversMessage = "message" // the last message of a turn
	DeliversCall    = "call"    // what a tool sends
	DeliversNotice  = "notice"  // something that is not hers
	DeliversAside   = "aside"   // the same, where such things are not kept: it is in no history
)

// Delivery is the fate of something sent into a room. Its parent is what is sent: a message of hers, the
// call of a tool, or a notice.
type Delivery struct {
	State      string `json:"state"`
	Reason     string `json:"reason,omitempty"` // in the platform's own words
	SentToRoom bool   `json:"sentToRoom,omitempty"`
	// Pieces of Of went out before it stopped, in state partial.
	Pieces int    `json:"pieces,omitempty"`
	Of     int    `json:"of,omitempty"`
	Kind   string `json:"kind,omitempty"`
	// Epoch is the start that is to deliver it.
	Epoch string `json:"epoch,omitempty"`
	// Out is what goes out, of a call and of a notice, while pending. With are the other notices of the
	// same message: they share its fate.
	Out  *Outgoing `json:"out,omitempty"`
	With []string  `json:"with,omitempty"`
}

// Outgoing is what goes out into a room.
type Outgoing struct {
	Room        string       `json:"room,omitempty"` // session id; "" is the session's own
	Text        string       `json:"text,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// ForwardParticipants is how many people of a forwarded record are named. Spec SP-UMSG-06.
const ForwardParticipants = 8

// Forward is a forwarded chat record that came with a message. Facts is nil for one that could not be
// fetched or expanded. Spec SP-UMSG-07.
type Forward struct {
	Facts *ForwardFacts `json:"facts,omitempty"`
}

// ForwardFacts describes a forwarded record.
type ForwardFacts struct {
	Count        int      `json:"count"`
	Participants []string `json:"participants"`
	Unlisted     int      `json:"unlisted"`
	Text         string   `json:"text"` // a summary, or the original as far as it is kept
	CutOff       bool     `json:"cutOff"`
}

// EventKind of each payload.
func (Delivery) EventKind() Kind { return DeliveryUpdated }
