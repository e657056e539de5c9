package server_test

import (
	"errors"
	"strings"
	"testing"

	"aalis/backend/fault"
	"aalis/backend/server"
)

func TestLinks(t *testing.T) {
	var opened []string
	o := server.NewOpener(func(link string) error {
		opened = append(opened, link)
		return nil
	})
	t.Run("SEC-12 web and mail links are opened as they stand", func(t *testing.T) {
		links := []string{
			"http://example.com", "https://example.com/a?b=c&d#e", "HTTPS://EXAMPLE.com/", "https://例子.测试/路径", "http://127.0.0.1:8080/x",
			"https://[::1]/", "mailto:me@example.com?subject=hi", "https://example.com/a@b", "https://example.com/%20%5c",
		}
		for _, link := range links {
			if err := o.Open(link); err != nil {
				t.Errorf("%q: %v", link, err)
			}
		}
		if strings.Join(opened, " ") != strings.Join(links, " ") {
			t.Errorf("opened %q", opened)
		}
	})
	t.Run("SEC-12 everything else is refused, with the link shown and nothing opened", func(t *testing.T) {
		opened = nil
		for _, link := range []string{
			"file:///etc/passwd", "FILE:///c:/x.exe", `\\host\share\x.exe`, "//host/share/x.exe", `file:\\host\x`, "javascript:alert(1)", "JaVaScRiPt:1",
			"data:text/html,x", "vbscript:x", "vscode://x/y", "ms-msdt:/id", "search-ms:query=x", "smb://host/x", "ssh://-oProxyCommand=x", "ftp://x/y",
			"blob:https://x", "about:blank", "view-source:https://x", "tel:123", "", " ", "example.com", "/etc/passwd", "C:\\x.exe", "--help", "-x", "http:",
			"http://", "http:///x", "https:example.com", "http:\\\\example.com", "https://example.com\\@evil.example", "https://bank.example@evil.example/",
			"https://user:pw@example.com", " https://example.com", "https://example.com ", "https://exa\nmple.com", "java\tscript:1", "https://example.com/\x00",
			"https://example.com/\u202egnp.exe", "https://exa\u200bmple.com", "https://example.com/\x1b]8;;x", "mailto:", "mailto://x", "https://example.com/" + strings.Repeat("a", 9000),
			"https://%zz", "http://[::1", "\ufeffhttps://example.com",
		} {
			err := o.Open(link)
			if !fault.Is(err, fault.Forbidden) {
				t.Errorf("%q: %v", link, err)
				continue
			}
			if strings.ContainsAny(err.Error(), "\x00\x1b\n\u202e\u200b\ufeff") || len(err.Error()) > 1200 {
				t.Errorf("%q is shown as %q", link, err)
			}
		}
		if opened != nil {
			t.Errorf("opened %q", opened)
		}
		if err := o.Open("file:///etc/passwd"); !strings.Contains(err.Error(), `"file:///etc/passwd"`) {
			t.Errorf("the link is not shown: %v", err)
		}
	})
	t.Run("the system's own failure comes back", func(t *testing.T) {
		broken := errors.New("no browser")
		if err := server.NewOpener(func(string) error { return broken }).Open("https://example.com"); !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
	})
}
