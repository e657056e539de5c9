// Package command owns what a person says to the program instead of to her: a message that begins with
// a slash and a word it knows. It records the message, which enters no turn, and answers with one notice
// (Spec SP-NOTICE-11, decisions F3: commands never queue). It decides nothing that methods of a protocol
// decide otherwise: each command calls what they call. A word it does not know is an ordinary message.
// Protocols call Commands.Take; backend.Run runs what takes long.
package command

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/text"
)

// Topic is that of the notices that answer.
const Topic = "command-reply"

// Options is what the commands do their work with. All but Log is required.
type Options struct {
	Loop     *core.Loop
	Compress func(ctx context.Context, sessionID string) error
	// Usage measures the context of a session.
	Usage func(ctx context.Context, sessionID string) (event.ModelCall, error)
	// Model gives the entry id of the model that a session's next turn would use, and what is to be had.
	Model func(ctx context.Context, sessionID, platform string) (now string, all []string, err error)
	// SetModel sets it for this session.
	SetModel func(ctx context.Context, sessionID, platform, model string) error
	// Folder is where a session of a place works.
	Folder func(place string) string
	Log    *slog.Logger // nil discards
}

// Call is a message that may be a command.
type Call struct {
	Send core.SendInput
	// Manages says that the caller may change settings.
	Manages bool
}

// call is a command at work.
type call struct {
	*Commands
	Call
	sessionID string
	rest      string // behind the word
}

// command is one entry of the table.
type command struct {
	word string
	long bool // it is not waited for
	run  func(ctx context.Context, c call) (text.Text, error)
}

// table is what there is; "/help" says the same in words.
var table = []command{
	{word: "help", run: help},
	{word: "clear", run: clear},
	{word: "model", run: model},
	{word: "compress", long: true, run: compress},
	{word: "status", run: status},
}

// Words lists the commands, without the slash.
func Words() []string {
	words := make([]string, len(table))
	for i, c := range table {
		words[i] = c.word
	}
	return words
}

// atOnce is how many long commands may wait to be begun.
const atOnce = 64

// Commands takes commands.
type Commands struct {
	options Options
	log     *slog.Logger
	long    chan func(context.Context)
}

// New makes them. Long commands wait until Run.
func New(o Options) *Commands {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Commands{options: o, log: o.Log, long: make(chan func(context.Context), atOnce)}
}

// Run does what takes long, until ctx ends; it returns when nothing is under way.
func (c *Commands) Run(ctx context.Context) error {
	var under sync.WaitGroup
	defer under.Wait()
	for {
		select {
		case do := <-c.long:
			under.Go(func() { do(ctx) })
		case <-ctx.Done():
			return nil
		}
	}
}

// Take looks whether a message is a command. If so it is recorded and carried out, or begun, and known
// is true; err is then why it was not recorded. What a command could not do is in its answer.
func (c *Commands) Take(ctx context.Context, in Call) (known bool, err error) {
	found, rest := parse(in.Send.Input.Text)
	if found == nil || len(in.Send.Input.Attachments) > 0 {
		return false, nil
	}
	in.Send.Swallow = true
	got, err := c.options.Loop.Do(ctx, in.Send)
	if err != nil || got.Repeated {
		return true, err
	}
	one := call{Commands: c, Call: in, sessionID: got.SessionID, rest: rest}
	if !found.long {
		one.answer(ctx, found, got.EventID)
		return true, nil
	}
	select {
	case c.long <- func(ctx context.Context) { one.answer(ctx, found, got.EventID) }:
	default:
		one.reply(ctx, found, got.EventID, text.New("command-reply.busy"))
	}
	return true, nil
}

// Knows reports whether something said is a command.
func (c *Commands) Knows(said string) bool {
	found, _ := parse(said)
	return found != nil
}

// Do carries out what the owner said in a chat room, which is in the log already, and gives the reply.
// What takes long is begun: reply is then nothing, and later is called with it, from Run.
func (c *Commands) Do(ctx context.Context, sessionID string, by event.Actor, said string, later func(context.Context, text.Text)) text.Text {
	found, rest := parse(said)
	if found == nil {
		return text.Text{}
	}
	one := call{Commands: c, Call: Call{Send: core.SendInput{Actor: by}, Manages: true}, sessionID: sessionID, rest: rest}
	if !found.long {
		return one.outcome(ctx, found)
	}
	select {
	case c.long <- func(ctx context.Context) { later(ctx, one.outcome(ctx, found)) }:
		return text.Text{}
	default:
		return text.New("command-reply.busy")
	}
}

// parse finds the command of a message. A word is one only with nothing but white space around it.
func parse(message string) (found *command, rest string) {
	message, slash := strings.CutPrefix(strings.TrimSpace(message), "/")
	if !slash {
		return nil, ""
	}
	word, rest := message, ""
	if cut := strings.IndexFunc(message, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\u3000' }); cut >= 0 {
		word, rest = message[:cut], strings.TrimSpace(message[cut:])
	}
	for i := range table {
		if strings.EqualFold(table[i].word, word) {
			return &table[i], rest
		}
	}
	return nil, ""
}

// answer runs a command and says what came of it.
func (c call) answer(ctx context.Context, cmd *command, input string) {
	c.reply(ctx, cmd, input, c.outcome(ctx, cmd))
}

// outcome runs a command.
func (c call) outcome(ctx context.Context, cmd *command) text.Text {
	words, err := cmd.run(ctx, c)
	if err != nil {
		f := fault.Of(err)
		if f.Code == fault.Internal {
			c.log.Warn("a command failed", "command", cmd.word, "session", c.sessionID, "err", err)
		}
		words = f.Message
	}
	return words
}

func (c call) reply(ctx context.Context, cmd *command, input string, words text.Text) {
	_, err := c.options.Loop.Do(context.WithoutCancel(ctx), core.AddNotice{Session: c.sessionID, Notice: event.Notice{
		Topic: Topic, Text: words, Facts: map[string]any{"command": cmd.word, "inputId": input},
	}})
	if err != nil && !fault.Is(err, fault.NotFound) && !errors.Is(err, core.ErrClosed) {
		c.log.Error("the answer to a command is not written", "command", cmd.word, "session", c.sessionID, "err", err)
	}
}
