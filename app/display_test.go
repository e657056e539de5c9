package app

import (
	"reflect"
	"testing"
)

func TestWhereDisplaysAnswer(t *testing.T) {
	type a = displayAddress
	for _, c := range []struct {
		wayland, x string
		want       []a
	}{
		{"", "", nil},
		{"", ":0", []a{{"unix", "@/tmp/.X11-unix/X0"}, {"unix", "/tmp/.X11-unix/X0"}}},
		{"", ":12.1", []a{{"unix", "@/tmp/.X11-unix/X12"}, {"unix", "/tmp/.X11-unix/X12"}}},
		{"", "unix:3", []a{{"unix", "@/tmp/.X11-unix/X3"}, {"unix", "/tmp/.X11-unix/X3"}}},
		{"", "localhost:10.0", []a{{"tcp", "localhost:6010"}}},
		{"", "[::1]:1", []a{{"tcp", "[::1]:6001"}}},
		{"", "/private/tmp/x/org.xquartz:0", []a{{"unix", "/private/tmp/x/org.xquartz:0"}}},
		{"", "nonsense", nil},
		{"", ":x", nil},
		{"wayland-0", "", []a{{"unix", "/run/user/1/wayland-0"}}},
		{"/elsewhere/w", ":0", []a{{"unix", "/elsewhere/w"}, {"unix", "@/tmp/.X11-unix/X0"}, {"unix", "/tmp/.X11-unix/X0"}}},
	} {
		if got := displayAddresses(c.wayland, "/run/user/1", c.x); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q %q: %v, want %v", c.wayland, c.x, got, c.want)
		}
	}
}
