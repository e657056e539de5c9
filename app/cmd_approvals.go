package app

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"aalis/backend/fault"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

func (p *program) approvalsCommand() *cobra.Command {
	cmd := p.command("approvals", "command.approvals", "")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return p.listApprovals(cmd) }
	list := p.command("list", "command.approvals-list", "")
	list.RunE = cmd.RunE
	cmd.AddCommand(list,
		p.answerCommand("approve", "command.approvals-yes", session.Approve),
		p.answerCommand("deny", "command.approvals-no", session.Deny))
	return cmd
}

func (p *program) listApprovals(cmd *cobra.Command) error {
	l, err := p.dial(cmd)
	if err != nil {
		return err
	}
	defer l.close()
	all, err := l.waitingApprovals(cmd.Context())
	if err != nil {
		return err
	}
	if p.flags.json {
		approvals := make([]session.Approval, len(all))
		for i, w := range all {
			approvals[i] = w.Approval
		}
		return p.printJSON(map[string]any{"approvals": approvals})
	}
	if len(all) == 0 {
		fmt.Fprintln(p.err, p.say("approval.cli-none"))
	}
	for _, w := range all {
		fmt.Fprintf(p.out, "%s\n  %s: %s\n%s", w.ID, p.say("approval.cli-session"), visibleLine(w.title), p.facts(w.Approval))
	}
	return nil
}

func (p *program) dial(cmd *cobra.Command) (*link, error) {
	r, err := p.remote()
	if err != nil {
		return nil, err
	}
	return r.dial(cmd.Context())
}

func (p *program) answerCommand(word string, short text.Key, decision session.Decision) *cobra.Command {
	var note string
	cmd := p.command(word+" ID", short, "  aalis approvals "+word+" 01a2b3c4-…")
	cmd.Args = oneID
	if decision == session.Deny {
		cmd.Flags().StringVar(&note, "note", "", p.say("command.flag-note"))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := p.dial(cmd)
		if err != nil {
			return err
		}
		defer l.close()
		all, err := l.waitingApprovals(cmd.Context())
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(w waiting) bool { return w.ID == args[0] })
		if at < 0 {
			return noApproval(args[0], all)
		}
		if err := l.respond(cmd.Context(), all[at].Approval, decision, note); err != nil {
			return err
		}
		if p.flags.json {
			return p.printJSON(map[string]string{"approvalId": all[at].ID, "decision": string(decision)})
		}
		word := p.say("approval.cli-approved")
		if decision == session.Deny {
			word = p.say("approval.cli-denied")
		}
		_, err = fmt.Fprintln(p.out, word)
		return err
	}
	return cmd
}

func noApproval(id string, all []waiting) error {
	if len(all) == 0 {
		return fault.New(fault.NotFound, text.New("approval.cli-unknown", "id", visible(id), "hint", text.New("approval.cli-none")))
	}
	known := make([]string, len(all))
	for i, w := range all {
		known[i] = w.ID
	}
	return fault.New(fault.NotFound, text.New("approval.cli-unknown", "id", visible(id), "hint", hint(id, known)))
}
