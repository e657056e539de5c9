package turn_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain keeps the property to a few dozen histories, about as many seconds, unless the command
// line asks for another number: each opens three databases.
func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		if err := flag.Set("rapid.checks", "25"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
