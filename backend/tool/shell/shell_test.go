//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"aalis/backend/tool"
	"aalis/backend/tool/tooltest"

	"github.com/google/go-cmp/cmp"
)

// runsElsewhere names the environment variable that makes this test binary run one command and wait
// to be killed.
const runsElsewhere = "TEST_SHELL_COMMAND"

func TestMain(m *testing.M) {
	if line := os.Getenv(runsElsewhere); line != "" {
		dir, _ := os.Getwd()
		_, _ = run(context.Background(), command{line: line, dir: dir, timeout: time.Minute}, func(string) {})
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func ref(s string) *string { return &s }

func TestConformance(t *testing.T) {
	tooltest.Run(t, tooltest.Case{
		Tool: Exec(Options{}),
		Setup: func(t *testing.T, root string) {
			if err := os.Mkdir(filepath.Join(root, "sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		},
		Good:  `{"command":"touch made; echo hi","cwd":"sub","timeout_seconds":20}`,
		Bad:   []string{`{"command":" \n "}`, `{"command":"a\u0000b"}`, `{"command":"ls","cwd":"file"}`},
		Paths: []string{"cwd"},
		Slow:  `{"command":"echo begun; trap '' TERM; sleep 60 & sleep 60; sleep 60"}`,
		Long:  `{"command":"echo head; i=0; while [ $i -lt 20000 ]; do echo line $i ü; i=$((i+1)); done; echo tail"}`,
		Shown: &tool.Shown{Kind: "command", Command: ref("touch made; echo hi"), Cwd: ref("sub")},
	})
}

// sh runs one command in a fresh folder through the tool.
func sh(t *testing.T, options Options, line string) (result tool.Result, streamed string, err error) {
	t.Helper()
	args, err := json.Marshal(map[string]any{"command": line, "timeout_seconds": 60})
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := tooltest.Prepare(t, Exec(options), tool.Place{Root: t.TempDir()}, string(args))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var stream strings.Builder
	result, err = prepared.Execute(t.Context(), func(piece string) {
		mu.Lock()
		defer mu.Unlock()
		if piece == "" || !utf8.ValidString(piece) {
			t.Errorf("a piece that is empty or not UTF-8: %q", piece)
		}
		stream.WriteString(piece)
	})
	return result, stream.String(), err
}

func TestOutput(t *testing.T) {
	for _, c := range []struct{ name, line, text, stream string }{
		{"both outputs in order", "echo one; echo two >&2; echo three", "one\ntwo\nthree\n[exit code 0]", "one\ntwo\nthree\n"},
		{"none", "true", "[exit code 0]", ""},
		{"an exit code", "echo x; exit 7", "x\n[exit code 7]", "x\n"},
		{"no newline at the end", "printf x", "x\n[exit code 0]", "x"},
		{"a signal", "kill -9 $$", "[exit code 137: ended by signal SIGKILL]", ""},
		{"no such command: the shell says so", "no-such-command-here 2>/dev/null", "[exit code 127]", ""},
		{"bytes that are not UTF-8, and NUL", `printf 'a\377b\000c\n'`, "a\uFFFDb\uFFFDc\n[exit code 0]", "a\uFFFDb\uFFFDc\n"},
		{"a rune cut by the end", `printf '\343\201'`, "\uFFFD\n[exit code 0]", "\uFFFD"},
		{"a rune in two writes", `printf '\343'; sleep 0.05; printf '\201\202\n'`, "あ\n[exit code 0]", "あ\n"},
		{"progress: the model reads its last state", `printf '1%%\r50%%\r'; sleep 0.05; printf '100%%\ndone\r\n'`, "100%\ndone\n[exit code 0]", "1%\r50%\r100%\ndone\r\n"},
		{"input is empty", "cat; echo end", "end\n[exit code 0]", "end\n"},
		{"no terminal to ask on", "(: </dev/tty) 2>/dev/null || echo none", "none\n[exit code 0]", "none\n"},
		{"arguments of the shell are as for sh -c", `echo "$0 $#"; ls /dev/fd/3 2>/dev/null`, "sh 0\n[exit code 2]", "sh 0\n"},
		{"no child it did not start", `wait; echo free`, "free\n[exit code 0]", "free\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, stream, err := sh(t, Options{}, c.line)
			if err != nil || got.Text != c.text || stream != c.stream || got.Truncated {
				t.Errorf("%v\n%q\n%q; want\n%q\n%q", err, got.Text, stream, c.text, c.stream)
			}
			if got.ExitCode == nil || !strings.Contains(got.Text, fmt.Sprintf("[exit code %d", *got.ExitCode)) {
				t.Errorf("exit code %v of %q", got.ExitCode, got.Text)
			}
		})
	}
	t.Run("what was left in the background is ended and does not hold the call", func(t *testing.T) {
		mark := marker()
		start := time.Now()
		got, _, err := sh(t, Options{}, "sleep "+mark+" & (sleep "+mark+" >/dev/null 2>&1 &) ; echo started")
		if want := "started\n[processes left in the background were ended]\n[exit code 0]"; err != nil || got.Text != want {
			t.Errorf("%v, %q", err, got.Text)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
		gone(t, mark)
	})
	t.Run("one that left the group does not hold the call either", func(t *testing.T) {
		if _, err := exec.LookPath("setsid"); err != nil {
			t.Log("no setsid here")
			return
		}
		mark := marker()
		start := time.Now()
		_, _, err := sh(t, Options{}, "setsid sleep "+mark+" & sleep 0.1; echo started")
		if took := time.Since(start); err != nil || took > 3*time.Second {
			t.Errorf("%v, took %v", err, took)
		}
		for _, pid := range processes(t, mark) { // it is ours to clean up
			_ = exec.Command("kill", "-9", strconv.Itoa(pid)).Run()
		}
	})
	t.Run("the stream ends with one line, the result has head and tail", func(t *testing.T) {
		got, stream, err := sh(t, Options{}, "echo HEAD; yes 0123456789 | head -c 2000000; echo TAIL")
		if err != nil || !got.Truncated || len(got.Text) > tool.MaxResultBytes || !strings.HasPrefix(got.Text, "HEAD\n0") || !strings.HasSuffix(got.Text, "TAIL\n[exit code 0]") {
			t.Errorf("%v, %d bytes", err, len(got.Text))
		}
		if len(stream) > tool.MaxStreamBytes+200 || !strings.HasSuffix(stream, "…]\n") {
			t.Errorf("streamed %d bytes", len(stream))
		}
	})
}

func TestTimeout(t *testing.T) {
	mark := marker()
	dir := t.TempDir()
	start := time.Now()
	_, err := run(t.Context(), command{line: "echo before; sleep " + mark + " & sleep " + mark, dir: dir, timeout: 300 * time.Millisecond}, func(string) {})
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Code != tool.TimedOut || e.NotExecuted || e.Message != "before\n[ended after 0 s without finishing]" {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	gone(t, mark)
}

// marker makes a number of seconds nobody else sleeps, to know our processes by.
func marker() string {
	return fmt.Sprintf("61.%09d%d", time.Now().UnixNano()%1e9, os.Getpid())
}

// processes are the ids of running processes with mark among their arguments.
func processes(t *testing.T, mark string) []int {
	t.Helper()
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		return listed(t, mark)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		args, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline")) // empty for a dead one
		if strings.Contains(strings.ReplaceAll(string(args), "\x00", " "), mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// listed is processes for systems without /proc.
func listed(t *testing.T, mark string) []int {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,stat=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if strings.Contains(line, mark) && len(fields) > 2 && !strings.HasPrefix(fields[1], "Z") {
			pid, err := strconv.Atoi(fields[0])
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone waits for every process with mark to end; a killed one may need a moment to leave the table.
func gone(t *testing.T, mark string) {
	t.Helper()
	await(t, "processes with "+mark+" are still there", func() bool { return len(processes(t, mark)) == 0 })
}

func await(t *testing.T, otherwise string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Second); !done(); {
		if time.Now().After(deadline) {
			t.Fatal(otherwise)
		}
	}
}

func TestStopEndsTheWholeGroup(t *testing.T) {
	for _, c := range []struct{ name, line string }{
		{"polite children", "sleep MARK & sleep MARK"},
		{"grandchildren", "sh -c 'sh -c \"sleep MARK & sleep MARK\" & sleep MARK'"},
		{"stubborn ones", "trap '' TERM; sh -c 'trap \"\" TERM; sleep MARK; sleep MARK' & sleep MARK; sleep MARK"},
		{"grandchildren that outlive their parent", "(sleep MARK &) ; sleep MARK"},
	} {
		t.Run("FAIL-G1 "+c.name, func(t *testing.T) {
			mark := marker()
			dir := t.TempDir()
			cause := errors.New("stopped by the owner")
			ctx, stop := context.WithCancelCause(t.Context())
			var stoppedAt time.Time
			var watcher sync.WaitGroup
			watcher.Go(func() {
				await(t, "the command never started", func() bool { return len(processes(t, "sleep "+mark)) >= 2 })
				stoppedAt = time.Now()
				stop(cause)
			})
			_, err := run(ctx, command{line: strings.ReplaceAll(c.line, "MARK", mark), dir: dir, timeout: time.Minute}, func(string) {})
			watcher.Wait()
			took := time.Since(stoppedAt)
			if !errors.Is(err, cause) || took > 2*time.Second {
				t.Errorf("%v after %v", err, took)
			}
			gone(t, mark)
		})
	}
	t.Run("a command may end in its own way within the grace", func(t *testing.T) {
		dir := t.TempDir()
		ctx, stop := context.WithCancel(t.Context())
		_, err := run(ctx, command{line: "trap 'echo saved > saved; exit' TERM; echo ready; while :; do sleep 0.05; done", dir: dir, timeout: time.Minute}, func(string) { stop() })
		if content, readErr := os.ReadFile(filepath.Join(dir, "saved")); string(content) != "saved\n" {
			t.Errorf("%v, %v, %q", err, readErr, content)
		}
	})
}

func TestKilledWithTheProgram(t *testing.T) {
	t.Run("FAIL-G1 when we are killed, everything a command started dies", func(t *testing.T) {
		mark := marker()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		program := exec.Command(self)
		program.Dir = t.TempDir()
		program.Env = append(os.Environ(), runsElsewhere+"=trap '' TERM HUP INT; (sleep "+mark+" &); sleep "+mark+" & sleep "+mark+"; sleep "+mark)
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, "the command never started", func() bool { return len(processes(t, "sleep "+mark)) >= 3 })
		if err := program.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = program.Wait()
		gone(t, mark)
	})
	t.Run("FAIL-G1 nothing is left after many calls", func(t *testing.T) {
		mark := marker()
		dir := t.TempDir()
		files := openFiles(t)
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() {
				for range 25 {
					if _, err := run(t.Context(), command{line: "true " + mark, dir: dir, timeout: time.Minute}, func(string) {}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		calls.Wait()
		gone(t, mark) // the guards carry the command line among their arguments
		if now := openFiles(t); now > files {
			t.Errorf("%d open files, before %d", now, files)
		}
	})
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"AALIS_PROVIDER_URL": "x", "OPENAI_API_KEY": "x", "github_token": "x", "DB_PASSWORD_FILE": "x", "MYSQL_PWD": "x",
		"DATABASE_URL": "postgres://u:pass@host/db", "INNOCENT": "has sk-verysecret inside", "KEPT_VALUE": "kept",
		"KEYBOARD_LAYOUT": "de", "SSH_AUTH_SOCK": "/run/agent", "SITE_URL": "https://example.org/a",
	} {
		t.Setenv(name, value)
	}
	t.Run("SEC-15 a command gets no secrets, by name or by value", func(t *testing.T) {
		got, _, err := sh(t, Options{Secrets: func() []string { return []string{"sk-verysecret"} }}, "env | cut -d= -f1 | sort")
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, name := range []string{"AALIS_PROVIDER_URL", "OPENAI_API_KEY", "github_token", "DB_PASSWORD_FILE", "MYSQL_PWD", "DATABASE_URL", "INNOCENT", "KEPT_VALUE", "KEYBOARD_LAYOUT", "SSH_AUTH_SOCK", "SITE_URL", "PATH", "PWD"} {
			if strings.Contains("\n"+got.Text, "\n"+name+"\n") {
				found = append(found, name)
			}
		}
		if diff := cmp.Diff([]string{"KEPT_VALUE", "KEYBOARD_LAYOUT", "SSH_AUTH_SOCK", "SITE_URL", "PATH", "PWD"}, found); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("SEC-15 a known secret does not leave through the output", func(t *testing.T) {
		secrets := Options{Secrets: func() []string { return []string{"sk-verysecret", "short", ""} }}
		got, stream, err := sh(t, secrets, "printf 'a sk-very'; sleep 0.05; printf 'secret b short sk-veryother'")
		if want := "a [redacted] b short sk-veryother"; err != nil || got.Text != want+"\n[exit code 0]" || stream != want {
			t.Errorf("%v, %q, %q", err, got.Text, stream)
		}
	})
}

func TestFacts(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	args := `{"command":"echo \u202e\u200b\u0007","cwd":"a/b"}`
	t.Run("SP-APPR-29 the owner is shown the command literally, and the real folder", func(t *testing.T) {
		prepared, err := tooltest.Prepare(t, Exec(Options{}), tool.Place{Root: root}, args)
		if err != nil {
			t.Fatal(err)
		}
		want := tool.Facts{Command: "echo \u202e\u200b\a", Cwd: filepath.Join(root, "a/b"), Params: map[string]any{"command": "echo \u202e\u200b\a", "cwd": "a/b"}}
		if diff := cmp.Diff(want, prepared.Facts); diff != "" || !prepared.NeedsApproval {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("FAIL-C12 every command asks, git's rewriting ones too", func(t *testing.T) {
		prepared, err := tooltest.Prepare(t, Exec(Options{}), tool.Place{Root: root}, `{"command":"git reset --hard"}`)
		if err != nil || !prepared.NeedsApproval {
			t.Errorf("%v, %v", prepared.NeedsApproval, err)
		}
	})
	t.Run("another folder than the approved one: nothing runs", func(t *testing.T) {
		prepared, err := tooltest.Prepare(t, Exec(Options{}), tool.Place{Root: root}, `{"command":"touch ran","cwd":"a/b"}`)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Rename(filepath.Join(root, "a/b"), filepath.Join(root, "a/c")), os.Mkdir(filepath.Join(root, "a/b"), 0o755)); err != nil {
			t.Fatal(err)
		}
		_, err = prepared.Execute(t.Context(), nil)
		if e, ok := errors.AsType[*tool.Error](err); !ok || e.Code != tool.TargetChanged || !e.NotExecuted {
			t.Errorf("%v", err)
		}
		if _, err := os.Stat(filepath.Join(root, "a/b/ran")); err == nil {
			t.Error("it ran")
		}
	})
}
