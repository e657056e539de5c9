//go:build unix

package turn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/tool"
	"aalis/backend/tool/shell"
)

// stubborn is a command that ignores SIGTERM, as do its children, one of them in the background. It
// writes the ids of all three into files.
const stubborn = `trap '' TERM
echo started
sh -c 'trap "" TERM; echo $$ > child; sleep 300' &
sh -c 'echo $$ > grandchild; sleep 300' &
echo $$ > self
wait; sleep 300`

// work starts that command in a turn, approved, and gives the ids of its processes.
func work(t *testing.T) (r *rig, session, turnID string, pids []int) {
	t.Helper()
	args, err := json.Marshal(map[string]string{"command": stubborn})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r = open(t, setup{place: dir, extra: []tool.Definition{shell.Exec(shell.Options{})}, script: "call when=go\ntool run_command " + string(args) + "\ncall\ntext next"})
	session = r.session()
	turnID = r.send(session, "go")
	r.answer(true, "")
	for _, name := range []string{"self", "child", "grandchild"} {
		var pid int
		r.until(name+" runs", func() bool {
			raw, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return false
			}
			pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
			return err == nil
		})
		pids = append(pids, pid)
	}
	return r, session, turnID, pids
}

// gone tells a process that has ended, or waits only for somebody to take note of it.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "Z")
}

func TestProcessGroupsEndWithTheirTurn(t *testing.T) {
	t.Run("FAIL-G4 an abort ends the whole group within two seconds", func(t *testing.T) {
		r, s, id, pids := work(t)
		r.send(s, "next")
		start := time.Now()
		r.do(core.AbortTurn{Actor: owner, Session: s, Turn: id})
		r.until("the turn is over", func() bool { return len(r.outcomes(s)) > 0 })
		took := time.Since(start)
		for _, pid := range pids {
			if !gone(pid) {
				t.Errorf("process %d still runs", pid)
			}
		}
		if took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		t.Logf("it took %v", took)
		r.idle()
		same(t, "outcomes", r.outcomes(s), event.Aborted, event.Replied)
		if res := payloads[event.Result](r, s); len(res) != 1 || res[0].Status != event.ResultCancelled {
			t.Errorf("%+v", res)
		}
		if n := r.log.count("left behind"); n != 0 {
			t.Error("the engine was left behind")
		}
		r.check()
	})
	t.Run("the end of the process does, too", func(t *testing.T) {
		r, s, _, pids := work(t)
		start := time.Now()
		r.stopReactor()
		took := time.Since(start)
		for _, pid := range pids {
			if !gone(pid) {
				t.Errorf("process %d still runs", pid)
			}
		}
		if took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		same(t, "outcomes", r.outcomes(s), event.Errored)
		r.check()
	})
}

func TestACommandToItsEnd(t *testing.T) {
	dir := t.TempDir()
	r := open(t, setup{
		place: dir, extra: []tool.Definition{shell.Exec(shell.Options{})},
		script: "call\ntool run_command {\"command\":\"echo hello; pwd; exit 3\"}\ncall\ntext done",
	})
	s := r.session()
	r.send(s, "go")
	r.answer(true, "")
	r.idle()
	res, calls := payloads[event.Result](r, s), payloads[event.Call](r, s)
	if len(res) != 1 || res[0].Status != event.ResultFailed || res[0].ExitCode == nil || *res[0].ExitCode != 3 || !strings.Contains(res[0].Text, "hello") {
		t.Fatalf("%+v", res)
	}
	if out := r.output(s, calls[0].CallID); !strings.HasPrefix(out, "hello\n") {
		t.Errorf("streamed: %q", out)
	}
	a := payloads[event.Action](r, s)
	var facts struct{ Command, Cwd string }
	if err := json.Unmarshal(a[0].Facts, &facts); err != nil || facts.Command != "echo hello; pwd; exit 3" || !filepath.IsAbs(facts.Cwd) {
		t.Errorf("%s %v", a[0].Facts, err)
	}
	same(t, "outcomes", r.outcomes(s), event.Replied)
	r.check()
}
