package native

import (
	"strings"

	"aalis/backend/engine"
	"aalis/backend/provider"
)

// noResult stands where a call has no result: it was interrupted, or it returned nothing. Model
// servers refuse a call that nothing answers.
const noResult = "(no result: the call was interrupted, or it returned nothing)"

// messages makes of what was said what the model reads. The entries of one model call (text,
// reasoning, tool calls) become one assistant message and its results; inputs of one turn that
// follow each other become one message; thinking that led to nothing is left out.
// files says how each file is put, in their order; without it they are named.
func messages(said []engine.Entry, files ...shown) []provider.Message {
	b := builder{several: severalSpeakers(said), files: files}
	for _, e := range said {
		switch e.Kind {
		case engine.EntryUser:
			b.user(e)
		case engine.EntryNotice:
			b.notice(e.Text)
		case engine.EntrySummary:
			b.notice(summaryOpening + plainBrackets.Replace(e.Text))
		default:
			b.assistant(e)
		}
	}
	b.close()
	return b.out
}

// summaryOpening begins the message that stands for the beginning of a conversation.
const summaryOpening = "What was said before this, in short:\n\n"

// plainBrackets keeps people from speaking as the program, whose brackets these are.
var plainBrackets = strings.NewReplacer("⟦", "[", "⟧", "]")

type builder struct {
	several  bool
	out      []provider.Message
	userTurn string // turn of the last message if a person's, "" otherwise
	files    []shown

	open    *provider.Message // the assistant message being put together
	turn    string
	step    int
	results []provider.Message
}

func (b *builder) user(e engine.Entry) {
	b.close()
	words, images := b.attach(e.Files, e.Text)
	words = plainBrackets.Replace(words)
	if b.several && e.Speaker != "" {
		words = "[" + oneLine(e.Speaker) + "]\n" + words
	}
	if b.userTurn != "" && b.userTurn == e.TurnID {
		last := &b.out[len(b.out)-1]
		last.Text += "\n\n" + words
		last.Images = append(last.Images, images...)
		return
	}
	b.out = append(b.out, provider.Message{Role: provider.RoleUser, Text: words, Images: images})
	b.userTurn = e.TurnID
}

func (b *builder) notice(words string) {
	b.close()
	b.out = append(b.out, provider.Message{Role: provider.RoleUser, Notice: true, Text: "⟦" + words + "⟧"})
	b.userTurn = ""
}

func (b *builder) assistant(e engine.Entry) {
	if b.open == nil || b.turn != e.TurnID || b.step != e.Step {
		b.close()
		b.open = &provider.Message{Role: provider.RoleAssistant}
		b.turn, b.step = e.TurnID, e.Step
	}
	switch e.Kind {
	case engine.EntryAgent:
		b.open.Text += e.Text
	case engine.EntryReasoning:
		b.open.Reasoning += e.Text
	case engine.EntryTool:
		b.open.ToolCalls = append(b.open.ToolCalls, provider.ToolCall{ID: e.CallID, Name: e.Tool, Args: e.Args})
		result := e.Result
		if result == "" {
			result = noResult
		}
		b.results = append(b.results, provider.Message{Role: provider.RoleTool, CallID: e.CallID, Text: result})
	}
}

func (b *builder) close() {
	if b.open == nil {
		return
	}
	if b.open.Text != "" || len(b.open.ToolCalls) > 0 {
		b.out = append(append(b.out, *b.open), b.results...)
		b.userTurn = ""
	}
	b.open, b.results = nil, nil
}

func severalSpeakers(said []engine.Entry) bool {
	first := ""
	for _, e := range said {
		if e.Kind != engine.EntryUser || e.Speaker == "" {
			continue
		}
		if first != "" && first != e.Speaker {
			return true
		}
		first = e.Speaker
	}
	return false
}

// oneLine keeps a display name from looking like anything but a name.
func oneLine(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return r < ' ' || strings.ContainsRune("[]⟦⟧\u2028\u2029\u0085\u007f", r)
	}), " ")
}
