package app

import (
	"fmt"
	"net"
	"net/url"

	"github.com/pkg/browser"
	"github.com/spf13/cobra"

	"aalis/backend/fault"
	"aalis/backend/server"
	"aalis/backend/text"
)

func (p *program) openCommand() *cobra.Command {
	var onlyPrint bool
	var host string
	cmd := p.command("open [SESSION]", "command.open", "  aalis open --print")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usage("command.args", "want", text.New("command.args-session"), "example", cmd.Example)
		}
		return nil
	}
	cmd.Flags().BoolVar(&onlyPrint, "print", false, p.say("command.flag-print"))
	cmd.Flags().StringVar(&host, "host", "", p.say("command.flag-host"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if host != "" && host != "127.0.0.1" && host != "localhost" && host != "::1" {
			return usage("command.flag-value", "flag", "--host", "value", visible(host), "takes", text.New("command.flag-host"))
		}
		r, err := p.remote()
		if err != nil {
			return err
		}
		link, err := r.signInURL(cmd.Context())
		if err != nil {
			return err
		}
		session := ""
		if len(args) == 1 {
			session = args[0]
		}
		if link, err = tabURL(link, host, session); err != nil {
			return err
		}
		if onlyPrint || p.flags.json {
			return p.printAddress(link)
		}
		return p.openTab(link)
	}
	return cmd
}

func (p *program) printAddress(link string) error {
	if p.flags.json {
		return p.printJSON(map[string]string{"url": link})
	}
	_, err := fmt.Fprintln(p.out, link)
	return err
}

// tabURL changes the host, and names the session that the page is to show.
func tabURL(link, host, session string) (string, error) {
	u, err := url.Parse(link)
	if err != nil {
		return "", fmt.Errorf("reading the sign-in address: %w", err)
	}
	if host != "" {
		u.Host = net.JoinHostPort(host, u.Port())
	}
	if session != "" {
		u.RawQuery = url.Values{"session": {session}}.Encode()
	}
	return u.String(), nil
}

// openURL is the system's own way to open an address.
func openURL(link string) error { return browser.OpenURL(link) }

// openTab hands the address to the system. The command it starts may write to our error output, never
// to the output, which scripts read.
func (p *program) openTab(link string) error {
	browser.Stdout, browser.Stderr = p.err, p.err
	if err := server.NewOpener(openURL).Open(link); err != nil {
		return fault.Wrap(fault.Unsupported, text.New("client.no-browser", "reason", reasonOf(err), "url", link), err)
	}
	return nil
}
