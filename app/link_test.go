package app

import (
	"strings"
	"testing"
)

func TestLinks(t *testing.T) {
	for _, c := range []struct {
		link string
		want target
		bad  bool
	}{
		{link: "", want: target{}},
		{link: "aalis://", want: target{}},
		{link: "aalis:///", want: target{}},
		{link: "aalis://new", want: target{New: true}},
		{link: "aalis://new/", want: target{New: true}},
		{link: "AALIS://new", want: target{New: true}},
		{link: sessionLink("s_1"), want: target{Session: "s_1"}},
		{link: sessionLink("local:room/a b?#"), want: target{Session: "local:room/a b?#"}},
		{link: "aalis://session", bad: true},
		{link: "aalis://session/", bad: true},
		{link: "aalis://new/x", bad: true},
		{link: "aalis://delete/s_1", bad: true},
		{link: "aalis://session/s_1?run=rm", bad: true},
		{link: "aalis:session/s_1", bad: true},
		{link: "aalis://me@session/s_1", bad: true},
		{link: "https://session/s_1", bad: true},
		{link: "/home/me/file", bad: true},
		{link: "aalis://%zz", bad: true},
	} {
		got, err := parseLink(c.link)
		if (err != nil) != c.bad || got != c.want {
			t.Errorf("%q: %+v, %v; want %+v, bad %v", c.link, got, err, c.want, c.bad)
		}
	}
}

func TestStartingAgain(t *testing.T) {
	for _, c := range []struct {
		args   string
		hidden bool
		want   string
	}{
		{"aalis", false, "aalis"},
		{"aalis", true, "aalis --hidden"},
		{"aalis --hidden --data-dir /x", false, "aalis --data-dir /x"},
		{"aalis --hidden=true aalis://new", true, "aalis --hidden"},
		{"aalis aalis://session/s --log-level debug", false, "aalis --log-level debug"},
	} {
		if got := strings.Join(againArgs(strings.Fields(c.args), c.hidden), " "); got != c.want {
			t.Errorf("%q, hidden %v: %q, want %q", c.args, c.hidden, got, c.want)
		}
	}
}
