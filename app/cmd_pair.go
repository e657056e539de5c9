package app

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"aalis/backend/principal"
	"aalis/backend/text"
)

func (p *program) pairCommand() *cobra.Command {
	var approve bool
	var ttl time.Duration
	cmd := p.command("pair", "command.pair", "  aalis pair --approve")
	cmd.Flags().BoolVar(&approve, "approve", false, p.say("command.flag-may-approve"))
	cmd.Flags().DurationVar(&ttl, "ttl", principal.DefaultDeviceLifetime, p.say("command.flag-device-ttl"))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if ttl < time.Second {
			return usage("command.flag-value", "flag", "--ttl", "value", ttl.String(), "takes", text.New("command.flag-device-ttl"))
		}
		r, err := p.remote()
		if err != nil {
			return err
		}
		var made struct {
			Code      string    `json:"code"`
			URL       string    `json:"url"`
			ExpiresAt time.Time `json:"expiresAt"`
		}
		err = r.ask(cmd.Context(), http.MethodPost, "/internal/pair-code", map[string]any{
			"approve": approve, "ttlSeconds": int64(ttl / time.Second),
		}, &made)
		if err != nil {
			return err
		}
		if p.flags.json {
			return p.printJSON(made)
		}
		fmt.Fprintln(p.err, p.say("pair.cli-how", "time", made.ExpiresAt.Local().Format("15:04"), "url", visible(made.URL)))
		_, err = fmt.Fprintln(p.out, visible(made.Code))
		return err
	}
	return cmd
}
