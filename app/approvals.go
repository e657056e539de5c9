package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"aalis/backend/wire/session"
)

// waiting is one approval together with the title of its session.
type waiting struct {
	session.Approval
	title string
}

// waitingApprovals finds every approval that waits, by the sessions' own mark. It reports no presence:
// a script that lists is nobody who could be asked.
func (l *link) waitingApprovals(ctx context.Context) ([]waiting, error) {
	var all []waiting
	for _, archived := range []bool{false, true} {
		if err := l.collectApprovals(ctx, session.SessionsListParams{Archived: &archived, Limit: 200}, &all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (l *link) collectApprovals(ctx context.Context, list session.SessionsListParams, into *[]waiting) error {
	for {
		var page session.SessionsListResult
		if err := l.call(ctx, "sessions/list", list, &page); err != nil {
			return err
		}
		for _, s := range page.Sessions {
			if !s.Attention { // of the session itself or of one below it
				continue
			}
			if err := l.approvalsOf(ctx, s, into); err != nil {
				return err
			}
			if s.ChildCount > 0 {
				below := session.SessionsListParams{ParentID: &s.ID, Archived: list.Archived, Limit: list.Limit}
				if err := l.collectApprovals(ctx, below, into); err != nil {
					return err
				}
			}
		}
		if page.NextCursor == "" {
			return nil
		}
		list.Cursor = &page.NextCursor
	}
}

func (l *link) approvalsOf(ctx context.Context, s session.SessionSummary, into *[]waiting) error {
	var snapshot struct {
		Approvals []session.Approval `json:"approvals"`
	}
	if err := l.call(ctx, "session/subscribe", session.SessionParams{SessionID: s.ID}, &snapshot); err != nil {
		return err
	}
	for _, a := range snapshot.Approvals {
		if a.SessionID == s.ID && a.State == session.ApprovalPending {
			*into = append(*into, waiting{a, s.Title})
		}
	}
	return l.call(ctx, "session/unsubscribe", session.SessionParams{SessionID: s.ID}, &session.Empty{})
}

// respond settles an approval; its hash goes back exactly as it came (Spec SP-APPR-28).
func (l *link) respond(ctx context.Context, a session.Approval, d session.Decision, note string) error {
	return l.call(ctx, "approval/respond", session.ApprovalRespondParams{
		ApprovalID: a.ID, Decision: d, ContentHash: a.ContentHash, Note: note,
	}, &session.Empty{})
}

// facts are the lines that a person decides on: everything, with what a terminal would hide made
// visible.
func (p *program) facts(a session.Approval) string {
	var b strings.Builder
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %s: %s\n", label, strings.ReplaceAll(visible(value), "\n", "\n    "))
		}
	}
	line(p.say("approval.cli-tool"), a.Tool)
	line(p.say("approval.cli-command"), a.Facts.Command)
	line(p.say("approval.cli-cwd"), a.Facts.Cwd)
	if diff := a.Facts.Diff; diff != nil {
		line(p.say("approval.cli-file"), diff.Path)
		fmt.Fprintf(&b, "    %s\n", strings.ReplaceAll(strings.TrimRight(visible(diff.Patch), "\n"), "\n", "\n    "))
	}
	if a.Facts.Command == "" && a.Facts.Diff == nil {
		line(p.say("approval.cli-params"), string(a.Facts.Params))
	}
	line(p.say("approval.cli-expires"), time.UnixMilli(a.ExpiresAt).Local().Format(time.TimeOnly))
	return b.String()
}

func (p *program) settledWord(state session.SettledState) string {
	switch session.ApprovalState(state) {
	case session.ApprovalApproved:
		return p.say("approval.cli-approved")
	case session.ApprovalDenied:
		return p.say("approval.cli-denied")
	case session.ApprovalExpired:
		return p.say("approval.cli-expired")
	}
	return p.say("approval.cli-dropped")
}
