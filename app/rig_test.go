package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ran is what one run of the command line did.
type ran struct {
	code     int
	out, err string
}

// command runs the command line in this process with an own data folder unless args name one.
func command(t *testing.T, args ...string) ran {
	t.Helper()
	return commandIn(t, "", args...)
}

func commandIn(t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	var out, problems bytes.Buffer
	code := run(t.Context(), args, streams{in: strings.NewReader(stdin), out: &out, err: &problems})
	return ran{code, out.String(), problems.String()}
}

// english makes the program speak English to the test, whatever the machine does, and keeps the
// machine's own settings out.
func english(t *testing.T) string {
	t.Helper()
	t.Setenv("LC_ALL", "en_GB.UTF-8")
	for _, name := range envNames() {
		t.Setenv(name, "") // restored afterwards
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	t.Setenv("AALIS_DATA_DIR", dir)
	return dir
}

// configure writes config.yaml.
func configure(t *testing.T, dir, yaml string) string {
	t.Helper()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func wants(t *testing.T, what, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, got)
		}
	}
}
