package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"aalis/backend/event"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

// maxMessage is the protocol's bound of content, in characters.
const maxMessage = 200_000

func (p *program) sendCommand() *cobra.Command {
	var sessionID string
	var wait bool
	cmd := p.command("send TEXT…", "command.send", "  aalis send --wait what time is it")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("command.args", "want", text.New("command.args-text"), "example", cmd.Example)
		}
		return nil
	}
	cmd.Flags().StringVar(&sessionID, "session", "", p.say("command.flag-session"))
	cmd.Flags().BoolVar(&wait, "wait", false, p.say("command.flag-wait"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		message, err := p.message(args)
		if err != nil {
			return err
		}
		l, err := p.dial(cmd)
		if err != nil {
			return err
		}
		defer l.close()
		s := sending{p: p, l: l, session: sessionID, message: message, reply: newReply(event.NewID())}
		return s.run(cmd.Context(), wait)
	}
	return cmd
}

// message is the words joined, or what standard input holds when the only word is a dash.
func (p *program) message(args []string) (string, error) {
	message := strings.Join(args, " ")
	if len(args) == 1 && args[0] == "-" {
		data, err := io.ReadAll(io.LimitReader(p.in, 4*maxMessage+1))
		if err != nil {
			return "", fmt.Errorf("reading the message: %w", err)
		}
		message = string(data)
	}
	switch {
	case !utf8.ValidString(message):
		return "", usage("command.message-not-utf")
	case strings.TrimSpace(message) == "":
		return "", usage("command.empty-message")
	case utf8.RuneCountInString(message) > maxMessage:
		return "", usage("command.message-long", "max", maxMessage)
	}
	return message, nil
}

// sending is one run of `aalis send`.
type sending struct {
	p       *program
	l       *link
	session string
	message string
	reply   *reply

	ask     []session.Approval // to be answered here, the first one asked
	asked   time.Time          // when the first one was shown
	lines   chan string        // what is typed, once somebody is asked
	printed string             // the last bytes of standard output
}

func (s *sending) run(ctx context.Context, wait bool) error {
	made := s.session == ""
	if made {
		var created session.SessionCreateResult
		if err := s.l.call(ctx, "session/create", session.SessionCreateParams{}, &created); err != nil {
			return err
		}
		s.session = created.Session.ID
	}
	if wait {
		if err := s.subscribe(ctx); err != nil {
			return err
		}
		if s.interactive() {
			if err := s.present(ctx); err != nil {
				return err
			}
		}
	}
	err := s.l.call(ctx, "turn/send", session.TurnSendParams{
		SessionID: s.session, Content: s.message, Ext: &session.ClientExt{ClientID: s.reply.clientID},
	}, &session.Empty{})
	switch {
	case err != nil:
		return err
	case wait:
		return s.follow(ctx)
	case s.p.flags.json:
		return s.p.printJSON(map[string]string{"sessionId": s.session})
	case made: // so that a script can go on with it
		_, err = fmt.Fprintln(s.p.out, s.session)
	default:
		_, err = fmt.Fprintln(s.p.err, s.p.say("send.sent", "id", s.session))
	}
	return err
}

// interactive reports whether a person sits here who can be asked.
func (s *sending) interactive() bool { return isTerminal(s.p.in) && isTerminal(s.p.err) }

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// present says that the person is there. It is repeated, because presence lasts ten minutes.
func (s *sending) present(ctx context.Context) error {
	return s.l.call(ctx, "presence/update", session.PresenceUpdateParams{Active: true}, &session.Empty{})
}

const presentEvery = time.Minute

func (s *sending) subscribe(ctx context.Context) error {
	var snapshot struct {
		Items []item `json:"items"`
	}
	if err := s.l.call(ctx, "session/subscribe", session.SessionParams{SessionID: s.session}, &snapshot); err != nil {
		return err
	}
	for _, it := range snapshot.Items {
		s.see(it)
	}
	return nil
}

// follow prints until the turn is over.
func (s *sending) follow(ctx context.Context) error {
	presence := make(<-chan time.Time)
	if s.interactive() {
		ticker := time.NewTicker(presentEvery)
		defer ticker.Stop()
		presence = ticker.C
	}
	for {
		for _, p := range s.l.pending() {
			if err := s.take(ctx, p); err != nil {
				return err
			}
		}
		if s.reply.over() {
			return s.end()
		}
		if err := s.wait(ctx, presence); err != nil {
			return err
		}
	}
}

func (s *sending) wait(ctx context.Context, presence <-chan time.Time) error {
	if len(s.l.queue) > 0 { // a call has brought some meanwhile
		return nil
	}
	select {
	case <-ctx.Done():
		s.note("\n" + s.p.say("send.left", "id", s.session))
		return &exitError{exitFailed}
	case frame, open := <-s.l.frames:
		if !open {
			return s.l.end(ctx)
		}
		_, err := s.l.parse(frame)
		return err
	case line, open := <-s.lines:
		if !open {
			s.lines = nil // nobody answers here any more; others may
			return nil
		}
		return s.answer(ctx, line)
	case <-presence:
		return s.present(ctx)
	}
}

// take handles a push.
func (s *sending) take(ctx context.Context, p push) error {
	var about struct {
		SessionID  string               `json:"sessionId"`
		Item       item                 `json:"item"`
		ItemID     string               `json:"itemId"`
		Text       string               `json:"text"`
		Approval   session.Approval     `json:"approval"`
		ApprovalID string               `json:"approvalId"`
		State      session.SettledState `json:"state"`
	}
	if err := json.Unmarshal(p.Params, &about); err != nil {
		return fmt.Errorf("reading %s: %w", p.Method, err)
	}
	switch p.Method {
	case "approval/requested":
		s.request(about.Approval)
		return nil
	case "approval/settled":
		s.settled(about.ApprovalID, about.State)
		return nil
	}
	if about.SessionID != s.session {
		return nil
	}
	switch p.Method {
	case "item/started", "item/completed":
		s.see(about.Item)
	case "item/delta":
		s.print(s.reply.more(about.ItemID, about.Text))
	case "session/resync":
		return s.subscribe(ctx)
	}
	return nil
}

func (s *sending) see(it item) {
	s.print(s.reply.see(it))
	if it.TurnID == s.reply.turn && s.reply.waiting(it) && !s.interactive() {
		s.note(s.p.say("send.waiting"))
	}
}

// print writes her words: raw for programs, made harmless for a terminal.
func (s *sending) print(words string) {
	if words == "" {
		return
	}
	if isTerminal(s.p.out) {
		words = visible(words)
	}
	_, _ = io.WriteString(s.p.out, words) // whoever closed the output wants no more of it
	s.printed = words
}

func (s *sending) note(line string) { fmt.Fprintln(s.p.err, line) }

func (s *sending) end() error {
	if s.printed != "" && !strings.HasSuffix(s.printed, "\n") {
		s.print("\n")
	}
	switch session.TurnOutcome(s.reply.outcome) {
	case session.OutcomeReplied, session.OutcomeSilent:
		return nil
	case session.OutcomeAborted:
		s.note(s.p.say("send.aborted"))
	default:
		if s.reply.reason == "" {
			s.note(s.p.say("send.failed-0"))
			break
		}
		s.note(s.p.say("send.failed", "reason", visible(s.reply.reason)))
	}
	return &exitError{exitFailed}
}
