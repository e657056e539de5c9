package app

import (
	"strings"
	"testing"
	"time"
)

func TestSendWithNestedSubtasks(t *testing.T) {
	t.Run("FAIL-B3 nobody is there to be asked: every request of a nested sub-task is settled, and the command ends by itself", func(t *testing.T) {
		english(t)
		serveHere(t)
		began := time.Now()
		// The middle one waits for the one below it, so that its reply has what became of the command.
		got := command(t, "send", "--wait", "subtask: subtask: run: echo hello; wait: 30\nwait: 60")
		wants(t, "the reply", got.out, `"status":"completed"`, "Not run: ", "Done: that was everything I was told to do.")
		if strings.Contains(got.out, "[exit code") {
			t.Errorf("the command ran: %s", got.out)
		}
		if got.code != 0 || time.Since(began) > 20*time.Second {
			t.Errorf("%+v after %v", got, time.Since(began))
		}
		if got = command(t, "approvals"); got.err != "Nothing waits for an approval.\n" {
			t.Errorf("%+v", got)
		}
		if got = command(t, "send", "--wait", "subtask: fail: no luck\nwait: 30"); got.code != 0 {
			t.Errorf("%+v", got)
		}
		wants(t, "a failed one", got.out, `"status":"failed"`, "no luck")
	})
}
