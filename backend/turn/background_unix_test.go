//go:build unix

package turn_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/tool"
	"aalis/backend/tool/shell"
)

// dispatch sends a command to the background, approved, and gives the folder it runs in.
func dispatch(t *testing.T, command, script string) (r *rig, tasks *shelf, session, dir string) {
	t.Helper()
	args, err := json.Marshal(map[string]any{"command": command, "background": true})
	if err != nil {
		t.Fatal(err)
	}
	dir, tasks = t.TempDir(), new(shelf)
	r = open(t, setup{
		place: dir, extra: []tool.Definition{shell.Exec(shell.Options{})}, background: tasks.over,
		script: "call when=go\ntool run_command " + string(args) + "\n" + script,
	})
	t.Cleanup(func() {
		if err := tasks.stop(); err != nil {
			t.Error(err)
		}
	})
	session = r.session()
	r.send(session, "go")
	r.answer(true, "")
	r.until("the command is moved", func() bool { return len(r.tasks()) == 1 })
	return r, tasks, session, dir
}

// pid waits for a process to write its id into a file.
func (r *rig) pid(dir, name string) (pid int) {
	r.t.Helper()
	r.until(name+" runs", func() bool {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		return err == nil
	})
	return pid
}

func TestCommandsInTheBackground(t *testing.T) {
	t.Run("SP-BG-01 SP-BG-11 SP-BG-21 a command goes on, prints, and ends with its exit code", func(t *testing.T) {
		r, tasks, s, dir := dispatch(t, "echo one; until [ -e go ]; do sleep 0.05; done; echo two; exit 3", "call\ntext It runs.\ncall\ntext It failed.")
		r.idle()
		id := r.tasks()[0].ID
		r.until("the first line", func() bool { line, _ := tasks.Progress(id); return line == "one" })
		if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r.until("it has ended, and she was told", func() bool { return len(r.outcomes(s)) == 2 })
		got := r.tasks()[0]
		if got.Status != event.TaskFailed || got.ExitCode == nil || *got.ExitCode != 3 || got.LastLine != "two" {
			t.Errorf("%+v", got)
		}
		text, end, _, err := tasks.Output(t.Context(), id, 0)
		if text != "one\ntwo\n" || end != 8 || err != nil {
			t.Errorf("%q %d %v", text, end, err)
		}
		if told := strings.Join(r.toldInCall(2), "|"); !strings.Contains(told, "one\ntwo\n[exit code 3]") {
			t.Error(told)
		}
		r.check()
	})
	t.Run("FAIL-G4 SP-TURN-16 SP-BG-26 an abort leaves its group alone, a stop ends all of it", func(t *testing.T) {
		r, tasks, s, dir := dispatch(t, stubborn, "call\nhang")
		pids := []int{r.pid(dir, "self"), r.pid(dir, "child"), r.pid(dir, "grandchild")}
		r.do(core.AbortTurn{Actor: owner, Session: s})
		r.idle()
		for _, pid := range pids {
			if gone(pid) {
				t.Errorf("the abort ended process %d", pid)
			}
		}
		start := time.Now()
		if err := tasks.Stop(t.Context(), r.tasks()[0].ID); err != nil {
			t.Error(err)
		}
		took := time.Since(start)
		for _, pid := range pids {
			if !gone(pid) {
				t.Errorf("process %d still runs", pid)
			}
		}
		if got := r.tasks()[0].Status; got != event.TaskStopped || took > 2*time.Second {
			t.Errorf("%s after %v", got, took)
		}
		same(t, "outcomes", r.outcomes(s), event.Aborted)
		r.check()
	})
	t.Run("FAIL-G3 SP-BG-09 the end of the program ends all of it", func(t *testing.T) {
		r, tasks, _, dir := dispatch(t, stubborn, "call\ntext It runs.")
		pids := []int{r.pid(dir, "self"), r.pid(dir, "child"), r.pid(dir, "grandchild")}
		r.idle()
		start := time.Now()
		if err := tasks.stop(); err != nil {
			t.Error(err)
		}
		took := time.Since(start)
		for _, pid := range pids {
			if !gone(pid) {
				t.Errorf("process %d still runs", pid)
			}
		}
		if got := r.tasks()[0]; got.Status != event.TaskAborted || took > 2*time.Second {
			t.Errorf("%+v after %v", got, took)
		}
		r.check()
	})
}
