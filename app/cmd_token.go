package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aalis/backend/principal"
	"aalis/backend/text"
)

// tokenView is a token as the door tells it.
type tokenView struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Scopes    []string   `json:"scopes"`
	CreatedAt time.Time  `json:"createdAt"`
	ExpiresAt time.Time  `json:"expiresAt"`
	RevokedAt *time.Time `json:"revokedAt,omitempty"`
	Token     string     `json:"token,omitempty"` // the secret, in the answer to its creation only
}

func (p *program) tokenCommand() *cobra.Command {
	cmd := p.command("token", "command.token", "")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Usage() }
	cmd.AddCommand(p.tokenCreateCommand(), p.tokenListCommand(), p.tokenRevokeCommand())
	return cmd
}

func (p *program) tokenCreateCommand() *cobra.Command {
	var name, scopes string
	var ttl time.Duration
	cmd := p.command("create", "command.token-create", "  aalis token create --name editor --scope read,chat")
	cmd.Flags().StringVar(&name, "name", "", p.say("command.flag-name"))
	cmd.Flags().StringVar(&scopes, "scope", principal.DefaultScopes().String(), p.say("command.flag-scope"))
	cmd.Flags().DurationVar(&ttl, "ttl", principal.DefaultTokenLifetime, p.say("command.flag-ttl"))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if name == "" {
			return usage("command.flag-needed", "flag", "--name", "takes", text.New("command.flag-name"))
		}
		if ttl < time.Second {
			return usage("command.flag-value", "flag", "--ttl", "value", ttl.String(), "takes", text.New("command.flag-ttl"))
		}
		wanted, err := principal.ParseScopes(scopes)
		if err != nil {
			return err
		}
		r, err := p.remote()
		if err != nil {
			return err
		}
		var made tokenView
		err = r.ask(cmd.Context(), http.MethodPost, "/internal/tokens", map[string]any{
			"name": name, "scopes": wanted, "ttlSeconds": int64(ttl / time.Second),
		}, &made)
		if err != nil {
			return err
		}
		if p.flags.json {
			return p.printJSON(made)
		}
		fmt.Fprintln(p.err, p.tokenLine(made, time.Now()))
		_, err = fmt.Fprintln(p.out, made.Token)
		return err
	}
	return cmd
}

func (p *program) tokenListCommand() *cobra.Command {
	cmd := p.command("list", "command.token-list", "")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := p.remote()
		if err != nil {
			return err
		}
		var list struct {
			Tokens []tokenView `json:"tokens"`
		}
		if err := r.ask(cmd.Context(), http.MethodGet, "/internal/tokens", nil, &list); err != nil {
			return err
		}
		if p.flags.json {
			return p.printJSON(list)
		}
		if len(list.Tokens) == 0 {
			fmt.Fprintln(p.err, p.say("token.cli-none"))
		}
		for _, t := range list.Tokens {
			fmt.Fprintln(p.out, p.tokenLine(t, time.Now()))
		}
		return nil
	}
	return cmd
}

func (p *program) tokenLine(t tokenView, now time.Time) string {
	state := p.say("token.cli-until", "time", t.ExpiresAt.Local().Format("2006-01-02 15:04"))
	switch {
	case t.RevokedAt != nil:
		state = p.say("token.cli-revoked")
	case !now.Before(t.ExpiresAt):
		state = p.say("token.cli-expired")
	}
	return fmt.Sprintf("%s  %s  %s  %s", t.ID, visibleLine(t.Name), strings.Join(t.Scopes, ","), state)
}

func (p *program) tokenRevokeCommand() *cobra.Command {
	cmd := p.command("revoke ID", "command.token-revoke", "  aalis token revoke 0123456789abcdef")
	cmd.Args = oneID
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := p.remote()
		if err != nil {
			return err
		}
		var done struct {
			Revoked bool `json:"revoked"`
		}
		if err := r.ask(cmd.Context(), http.MethodPost, "/internal/tokens/"+url.PathEscape(args[0])+"/revoke", struct{}{}, &done); err != nil {
			return err
		}
		if p.flags.json {
			return p.printJSON(done)
		}
		_, err = fmt.Fprintln(p.out, p.say("token.cli-gone", "id", visible(args[0])))
		return err
	}
	return cmd
}
