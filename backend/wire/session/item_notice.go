package session

// The topics that are not kinds of host notices or sources of platform events.
const (
	TopicCompress     = "compress"
	TopicEventMarker  = "event-marker"
	TopicToolLimit    = "tool-limit"
	TopicCommandReply = "command-reply"
)

// NoticeItem is something that is neither said to her nor by her.
type NoticeItem struct {
	Kind string `json:"kind" jsonschema:"enum=notice"`
	ItemBase
	// Topic is the kind of a host notice (background-task), one of the fixed topics (compress,
	// event-marker, tool-limit, command-reply), or what a platform calls its event.
	Topic string `json:"topic"`
	// Text is the sentence for people; empty where an attachment with an address stands instead.
	Text       string          `json:"text"`
	Attachment *ItemAttachment `json:"attachment,omitzero"`
	// NoticeID and Facts belong to host notices. The keys of facts are those of the notice's kind.
	NoticeID string `json:"noticeId,omitzero"`
	Facts    Object `json:"facts,omitzero"`
	// CanContinue: turn/continue may be offered.
	CanContinue True `json:"canContinue,omitzero"`
	// Entry is absent for a notice that entered no turn.
	Entry     Entry `json:"entry,omitzero"`
	Addressed *bool `json:"addressed,omitzero"`
}
