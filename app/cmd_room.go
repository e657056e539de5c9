package app

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aalis/backend/text"
	"aalis/backend/wire/session"
)

// roomCommand plays the local platform of the running instance, which config.yaml switches on with
// rooms.local.
func (p *program) roomCommand() *cobra.Command {
	cmd := p.command("room", "command.room", "")
	list := p.command("list", "command.room-list", "")
	list.RunE = p.listRooms
	cmd.RunE = list.RunE
	cmd.AddCommand(list, p.roomSayCommand(), p.crowdCommand(), p.roomAnswerCommand())
	return cmd
}

func (p *program) listRooms(cmd *cobra.Command, _ []string) error {
	l, err := p.dial(cmd)
	if err != nil {
		return err
	}
	defer l.close()
	var list session.LocalRoomsResult
	if err := l.call(cmd.Context(), "ext/rooms/local/list", session.Empty{}, &list); err != nil {
		return err
	}
	if p.flags.json {
		return p.printJSON(list)
	}
	for _, r := range list.Rooms {
		fmt.Fprintf(p.out, "%s  %s  %s\n", visibleLine(r.Address), visibleLine(r.Name), p.say("command.room-line",
			"members", visibleLine(strings.Join(r.Members, ", ")), "answer", r.Answer, "sent", r.Sent))
	}
	return nil
}

func (p *program) roomSayCommand() *cobra.Command {
	var said session.LocalSayParams
	cmd := p.command("say ROOM NAME [TEXT…]", "command.room-say", "  aalis room say demo Ann '@Aalis what time is it?'\n  aalis room say demo Bob --happens poke")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) < 2 || len(args) == 2 && said.Happens == "" {
			return usage("command.args", "want", text.New("command.args-say"), "example", cmd.Example)
		}
		return nil
	}
	cmd.Flags().BoolVar(&said.Mention, "mention", false, p.say("command.flag-mention"))
	cmd.Flags().StringVar(&said.Happens, "happens", "", p.say("command.flag-happens"))
	cmd.Flags().StringVar(&said.ReplyTo, "reply-to", "", p.say("command.flag-reply-to"))
	cmd.Flags().IntVar(&said.Times, "times", 1, p.say("command.flag-times"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		said.Room, said.Member, said.Text = args[0], args[1], strings.Join(args[2:], " ")
		l, err := p.dial(cmd)
		if err != nil {
			return err
		}
		defer l.close()
		var got session.LocalSayResult
		if err := l.call(cmd.Context(), "ext/rooms/local/say", said, &got); err != nil {
			return err
		}
		if p.flags.json {
			return p.printJSON(got)
		}
		what := text.Key("command.room-remark")
		if got.TurnID != "" {
			what = "command.room-heard"
		}
		_, err = fmt.Fprintln(p.out, p.say(what, "id", got.MessageID))
		return err
	}
	return cmd
}

func (p *program) crowdCommand() *cobra.Command {
	var crowd session.LocalCrowdParams
	cmd := p.command("crowd ROOM", "command.room-crowd", "  aalis room crowd demo --members 500 --each 2")
	cmd.Args = func(cmd *cobra.Command, args []string) error { return one("command.args-room", cmd, args) }
	cmd.Flags().IntVar(&crowd.Members, "members", 500, p.say("command.flag-members"))
	cmd.Flags().IntVar(&crowd.Each, "each", 1, p.say("command.flag-each"))
	cmd.Flags().BoolVar(&crowd.Mention, "mention", false, p.say("command.flag-mention"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		crowd.Room = args[0]
		l, err := p.dial(cmd)
		if err != nil {
			return err
		}
		defer l.close()
		began := time.Now()
		if err := l.call(cmd.Context(), "ext/rooms/local/crowd", crowd, &session.Empty{}); err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.out, p.say("command.room-spoken", "n", crowd.Members*crowd.Each, "ms", time.Since(began).Milliseconds()))
		return err
	}
	return cmd
}

func (p *program) roomAnswerCommand() *cobra.Command {
	var a session.LocalAnswerParams
	cmd := p.command("answer ROOM HOW", "command.room-answer", "  aalis room answer demo refuse --reason 'the group is muted'")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 {
			return usage("command.args", "want", text.New("command.args-answer"), "example", cmd.Example)
		}
		return nil
	}
	cmd.Flags().StringVar(&a.Reason, "reason", "", p.say("command.flag-reason"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a.Room, a.How = args[0], args[1]
		l, err := p.dial(cmd)
		if err != nil {
			return err
		}
		defer l.close()
		return l.call(cmd.Context(), "ext/rooms/local/answer", a, &session.Empty{})
	}
	return cmd
}
