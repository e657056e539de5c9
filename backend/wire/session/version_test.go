package session

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

func TestCompatible(t *testing.T) {
	tests := []struct {
		name           string
		server, client string
		want           bool
	}{
		{"SP-VER-03 the very same", "0.2.0", "0.2.0", true},
		{"SP-VER-04 the client's third part is higher", "0.2.0", "0.2.7", true},
		{"SP-VER-04 the server's third part is higher", "0.2.7", "0.2.0", true},
		{"SP-VER-05 a lower second part", "0.2.0", "0.1.0", false},
		{"SP-VER-05 a higher second part", "0.2.0", "0.3.0", false},
		{"SP-VER-05 another first part", "0.2.0", "1.0.0", false},
		{"SP-VER-06 parts are numbers, not prefixes", "0.2.0", "0.20.0", false},
		{"SP-VER-06 leading zeros are no difference", "0.2.0", "0.02.0", true},
		{"SP-VER-08 two parts", "0.2.0", "0.2", true},
		{"SP-VER-08 two parts that differ", "0.2.0", "0.3", false},
		{"SP-VER-09 the generation released with 0.20", "0.2.0", "1.0", false},
		{"SP-VER-10 from 1.0 the first part decides", "1.4.0", "1.9.2", true},
		{"SP-VER-10 1.x and 2.x", "1.4.0", "2.4.0", false},
		{"SP-VER-10 a server from 1.0 and a client below", "1.2.0", "0.2.0", false},
		{"numbers longer than any integer", "0.2.0", "0.20000000000000000000000000000000000002.0", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := compatible(test.server, test.client); got != test.want {
				t.Errorf("server %s, client %s: %v", test.server, test.client, got)
			}
		})
	}
}

func TestCompatibleIsMutual(t *testing.T) {
	version := rapid.StringMatching(`[0-2]\.[0-3](\.[0-2])?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := version.Draw(t, "a"), version.Draw(t, "b"), version.Draw(t, "c")
		if !compatible(a, a) || compatible(a, b) != compatible(b, a) {
			t.Fatalf("%s and %s", a, b)
		}
		if compatible(a, b) && compatible(b, c) && !compatible(a, c) {
			t.Fatalf("%s goes with %s and that with %s, yet not the first with the last", a, b, c)
		}
	})
}

func TestVersion(t *testing.T) {
	t.Run("SP-VER-02 below 1.0 the number has three parts", func(t *testing.T) {
		if !regexp.MustCompile(`^0\.\d+\.\d+$`).MatchString(Version) {
			t.Error(Version)
		}
	})
}
