package session

import (
	"encoding/json"

	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
)

// The pushes of items.
const (
	started   = "item/started"
	completed = "item/completed"
)

// itemPush is what one event does to one item.
type itemPush struct {
	method string // started or completed
	item   SessionItem
}

// drawing turns a session's events into items. One set of functions draws what is pushed, what runs
// and what is stored, so history cannot show an item otherwise than live (Spec SP-REFR-01). It
// belongs to one read transaction, out of which it takes what an event does not carry.
type drawing struct {
	tx      *store.ReadTx
	sid     int64
	lang    text.Language
	display Display
	handles handles
	// calls are the calls met so far, by event id; others are read when asked for.
	calls map[string]event.Event
	// outputs says that cards get their output here. Whoever draws many states of one card adds it
	// once, at the end.
	outputs bool
	last    *store.Turn // the newest turn, once it was asked for; its id is empty without one
}

func (c *Conn) draw(tx *store.ReadTx, sid int64, outputs bool) *drawing {
	d := &drawing{
		tx: tx, sid: sid, lang: c.server.o.Language(), display: c.server.current().Display, handles: c.server.handles, calls: make(map[string]event.Event), outputs: outputs,
	}
	if d.display == nil {
		d.display = func(string, json.RawMessage, *CallEnd) ToolDisplay { return nil }
	}
	return d
}

// event gives what an event does to items, in order. Kinds that have no item give nothing. The queue
// is no part of it: it is read as a whole.
func (d *drawing) event(e event.Event) ([]itemPush, error) {
	switch p := e.Payload.(type) {
	case event.Input:
		return d.input(e, p), nil
	case event.InputJoin:
		return d.entered(p.InputID, e.At, e.Turn, p.Input, EntryJoined)
	case event.InputDrop:
		if p.Reason == event.DropRemoved {
			return nil, nil
		}
		return d.entered(p.InputID, e.At, "", p.Input, "")
	case event.TurnStart:
		return d.turnStart(e, p)
	case event.TurnEnd:
		return d.turnEnd(e, p), nil
	case event.MessageStart:
		return one(started, d.message(e, event.Message{MessageID: p.MessageID, StartedAt: e.At})), nil
	case event.Message:
		return d.said(e, p)
	case event.ReasoningStart:
		return one(started, d.reasoning(e, event.Reasoning{ItemID: p.ItemID, StartedAt: e.At})), nil
	case event.Reasoning:
		return one(completed, d.reasoning(e, p)), nil
	case event.Notice:
		switch p.State {
		case event.InputPending:
			return nil, nil // the queue shows it
		case event.InputOpened:
			return d.notice(e.ID, e.At, e.Turn, p, EntryOpened)
		}
		return d.notice(e.ID, e.At, e.Turn, p, "")
	case event.Delivery:
		return d.delivered(e, p)
	case event.Plan:
		return one(completed, d.plan(e, p)), nil
	case event.ModelCall:
		return one(completed, d.usage(e.At, p)), nil
	case event.Compacted:
		return d.compacted(e, p)
	}
	return d.toolEvent(e)
}

func one(method string, item SessionItem) []itemPush { return []itemPush{{method, item}} }

func (d *drawing) input(e event.Event, p event.Input) []itemPush {
	switch p.State {
	case event.InputOpened:
		return one(completed, d.userMessage(e.ID, e.At, e.Turn, p, EntryOpened))
	case event.InputSwallowed:
		return one(completed, d.userMessage(e.ID, e.At, "", p, ""))
	}
	return nil // waits; the queue shows it (Spec SP-QUEUE-04)
}

// userMessage draws an input at the moment it entered its turn. One that entered none has neither
// turn nor entry nor addressed (Spec SP-UMSG-08, SP-ITEM-03, SP-ITEM-04).
func (d *drawing) userMessage(id string, at int64, turn string, in event.Input, entry Entry) *UserMessageItem {
	item := &UserMessageItem{
		Kind: KindUserMessage, ItemBase: ItemBase{ItemID: id, At: at, TurnID: turn},
		Text: in.Text, Attachments: d.attachments(in.Attachments), Forwards: forwardsOf(in.Forwards), Speaker: speakerOf(in.Speaker), Entry: entry,
	}
	if in.Text == "" && in.Attachments == nil { // Spec SP-UMSG-04
		item.Text = in.Body
	}
	if entry != "" {
		item.Addressed = in.Addressed
	}
	if in.ClientID != "" {
		item.Ext = &ClientExt{ClientID: in.ClientID}
	}
	return item
}

func speakerOf(s event.Speaker) Speaker {
	return Speaker{Platform: s.Platform, UserID: s.UserID, Nickname: s.Nickname, Source: s.Source, Owner: s.Owner}
}

// message draws her words, finished or just begun.
func (d *drawing) message(e event.Event, m event.Message) *AgentMessageItem {
	item := &AgentMessageItem{
		Kind: KindAgentMessage, ItemBase: ItemBase{ItemID: m.MessageID, At: m.StartedAt, TurnID: e.Turn},
		Text: m.Text, Attachments: d.attachments(m.Attachments),
	}
	model := ReplyModel{Provider: m.Provider, Model: m.Model, PromptTokens: reported(m.Prompt), CompletionTokens: reported(m.Completion)}
	if model != (ReplyModel{}) {
		item.Model = &model
	}
	return item
}

// reported is a number of tokens, absent when the provider reported none (Spec SP-AMSG-03).
func reported(n int) *int64 {
	if n == 0 {
		return nil
	}
	tokens := int64(n)
	return &tokens
}

func (d *drawing) reasoning(e event.Event, r event.Reasoning) *ReasoningItem {
	return &ReasoningItem{Kind: KindReasoning, ItemBase: ItemBase{ItemID: r.ItemID, At: r.StartedAt, TurnID: e.Turn}, Text: r.Text}
}

// turnStart draws a turn, behind the input that had waited and opened it.
func (d *drawing) turnStart(e event.Event, p event.TurnStart) (pushes []itemPush, err error) {
	if in := p.Input; in != nil {
		if pushes, err = d.entered(in.EventID, e.At, e.Turn, *in, EntryOpened); err != nil {
			return nil, err
		}
	}
	return append(pushes, itemPush{started, &TurnItem{
		Kind: KindTurn, ItemBase: ItemBase{ItemID: p.TurnID, At: e.At, TurnID: p.TurnID}, Source: p.Source,
	}}), nil
}

// entered draws what had waited: an input, or a notice that enters turns as one (Spec SP-UMSG-11).
func (d *drawing) entered(id string, at int64, turn string, in event.Waiting, entry Entry) ([]itemPush, error) {
	if in.Notice != nil {
		return d.notice(id, at, turn, *in.Notice, entry)
	}
	return one(completed, d.userMessage(id, at, turn, in.Input, entry)), nil
}

// turnEnd draws a turn that is over, behind the cards of calls that were proposed and never made
// (Spec SP-TOOL-12 to -14). One that the end of the process cut off was stopped (decisions B25).
func (d *drawing) turnEnd(e event.Event, p event.TurnEnd) []itemPush {
	turn := &TurnItem{
		Kind: KindTurn, ItemBase: ItemBase{ItemID: p.TurnID, At: p.StartedAt, TurnID: p.TurnID}, Source: p.Source,
		Outcome: TurnOutcome(p.Outcome), EndedAt: e.At,
	}
	if p.Cause == event.CauseInterrupted {
		turn.Outcome = OutcomeAborted
	}
	if p.Reason != nil {
		turn.Reason = p.Reason.In(d.lang)
	}
	var pushes []itemPush
	for _, call := range p.Unexecuted {
		card := proposed(e.Turn, call)
		card.Status, card.NotExecuted = CallFailed, true
		if turn.Outcome == OutcomeAborted {
			card.Status = CallAborted
		}
		pushes = append(pushes, itemPush{completed, card})
	}
	return append(pushes, itemPush{completed, turn})
}

// notice draws what the program itself says.
func (d *drawing) notice(id string, at int64, turn string, n event.Notice, entry Entry) ([]itemPush, error) {
	item := &NoticeItem{
		Kind: KindNotice, ItemBase: ItemBase{ItemID: id, At: at, TurnID: turn},
		Topic: n.Topic, Text: n.Text.In(d.lang), NoticeID: n.NoticeID, Entry: entry,
	}
	if entry != "" {
		item.Addressed = n.Addressed
	}
	if len(n.Facts) > 0 {
		facts, err := json.Marshal(n.Facts)
		if err != nil {
			return nil, err
		}
		item.Facts = facts
	}
	if n.Attachment != nil {
		item.Attachment = &d.attachments([]event.Attachment{*n.Attachment})[0]
	}
	if n.CanContinue {
		newest, err := d.newest()
		if err != nil {
			return nil, err
		}
		item.CanContinue = True(turn == newest.ID)
	}
	return one(completed, item), nil
}

// compacted draws the line at which a conversation was shortened, and the context since
// (Spec SP-NOTICE-07, SP-COMP-03).
func (d *drawing) compacted(e event.Event, c event.Compacted) ([]itemPush, error) {
	pushes, err := d.notice(e.ID, e.At, "", event.Notice{
		Topic: TopicEventMarker, Text: text.New("compress.divider", "before", c.TokensBefore, "after", c.TokensAfter),
		Facts: map[string]any{"tokensBefore": c.TokensBefore, "tokensAfter": c.TokensAfter},
	}, "")
	if err == nil && c.Usage != nil {
		pushes = append(pushes, itemPush{completed, d.usage(e.At, *c.Usage)})
	}
	return pushes, err
}

// newest is the session's newest turn: only that one can be continued (decisions E7).
func (d *drawing) newest() (store.Turn, error) {
	if d.last == nil {
		t, _, err := d.tx.LastTurn(d.sid)
		if err != nil {
			return t, err
		}
		d.last = &t
	}
	return *d.last, nil
}

// outgrown draws the notices of the turn before that no longer offer to go on, because another turn
// has begun (decisions E7).
func (d *drawing) outgrown(e event.Event) ([]itemPush, error) {
	before, found, err := d.tx.TurnBefore(d.sid, e.Seq)
	if err != nil || !found {
		return nil, err
	}
	var pushes []itemPush
	err = d.tx.Timeline(store.Timeline{
		SID: d.sid, Above: before.StartedSeq, Below: before.EndedSeq, Kinds: []event.Kind{event.HostNotice},
	}, func(e event.Event) (bool, error) {
		n, ok := e.Payload.(event.Notice)
		if !ok || !n.CanContinue || e.Turn != before.ID {
			return true, nil
		}
		n.CanContinue = false
		push, err := d.notice(e.ID, e.At, e.Turn, n, "")
		pushes = append(pushes, push...)
		return true, err
	})
	return pushes, err
}

// plan draws her to-do list; an empty one is what is left after it was cleared (decisions E8).
func (d *drawing) plan(e event.Event, p event.Plan) *PlanItem {
	item := &PlanItem{Kind: KindPlan, ItemBase: ItemBase{ItemID: PlanID, At: e.At}, Items: []PlanEntry{}}
	for _, entry := range p.Entries {
		item.Items = append(item.Items, PlanEntry{ID: entry.ID, Title: entry.Title, Status: PlanStatus(entry.Status)})
	}
	return item
}

// usage draws the context of the newest call of a model (decisions E9).
func (d *drawing) usage(at int64, m event.ModelCall) *UsageItem {
	item := &UsageItem{
		Kind: KindUsage, ItemBase: ItemBase{ItemID: UsageID, At: at},
		Used: int64(m.Prompt), ContextWindow: int64(m.Window), Parts: []UsagePart{},
	}
	if m.Window > 0 {
		item.UsageRatio = float64(m.Prompt) / float64(m.Window)
	}
	for _, p := range m.Parts {
		part := UsagePart{Label: p.Label.In(d.lang), Tokens: int64(p.Tokens)}
		for name, n := range p.Injectors {
			if part.Injectors == nil {
				part.Injectors = make(map[string]int64)
			}
			part.Injectors[name] = int64(n)
		}
		item.Parts = append(item.Parts, part)
	}
	if m.CompressAt > 0 {
		item.CompressAt = &m.CompressAt
	}
	if m.Estimated {
		item.Ext = &UsageExt{Estimated: true}
	}
	return item
}

// queue draws what waits to enter a turn, in order (Spec SP-QUEUE-01, -02). at is for an empty one;
// otherwise the oldest input says since when it is there.
func (d *drawing) queue(at int64) (*QueueItem, error) {
	waiting, err := d.tx.PendingInputs(d.sid)
	if err != nil {
		return nil, err
	}
	item := &QueueItem{Kind: KindQueue, ItemBase: ItemBase{ItemID: QueueID, At: at}, Entries: []QueueEntry{}}
	for _, in := range waiting {
		said := in.Text
		if in.Notice != nil { // Spec SP-QUEUE-03
			said = in.Notice.Text.In(d.lang)
		}
		item.Entries = append(item.Entries, QueueEntry{
			Speaker: speakerOf(in.Speaker), Text: said, Attachments: len(in.Attachments), Ext: &QueueExt{InputID: in.EventID, ClientID: in.ClientID, Files: names(in.Attachments)},
		})
	}
	if len(waiting) > 0 {
		item.At = waiting[0].At
	}
	return item, nil
}

// changesQueue reports whether an event adds to the queue, takes from it or changes an entry.
func changesQueue(p event.Payload) bool {
	switch p := p.(type) {
	case event.Input:
		return p.State == event.InputPending
	case event.Notice:
		return p.State == event.InputPending
	case event.TurnStart:
		return p.Input != nil
	case event.InputJoin, event.InputDrop, event.InputChange:
		return true
	}
	return false
}
