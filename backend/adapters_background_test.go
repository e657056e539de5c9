package backend

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/background"
	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/tool"
	"aalis/backend/turn"
)

func TestHerOwnTasks(t *testing.T) {
	t.Run("SP-BG-09 SP-BG-27 she looks at her task and stops it, and reaches no other session's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			st, err := store.Open(store.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			loop, err := core.New(core.Options{Store: st})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- loop.Run(ctx) }()
			defer func() {
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if err := st.Close(); err != nil {
					t.Error(err)
				}
			}()
			do := func(cmd core.Command) core.Receipt {
				t.Helper()
				got, err := loop.Do(ctx, cmd)
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			all := tasks{background.New(background.Options{Loop: loop})}
			s, other := do(core.CreateSession{}).SessionID, do(core.CreateSession{}).SessionID
			id := do(core.SendInput{Session: s}).TurnID
			call := do(core.ProposeTool{Turn: id, Tool: "run_command", Step: 1}).ItemID
			do(core.CallTool{Turn: id, CallID: call, Tool: "run_command", Args: json.RawMessage(`{}`), Effect: "write", Step: 1})
			moved, err := all.work(ctx, turn.Work{Turn: id, Show: func(string) error { return nil }, Work: engine.Work{
				CallID: call, Tool: "run_command", AtOnce: true, Started: time.Now(), Do: func(ctx context.Context, out func(string)) engine.ToolResult {
					out("words\n")
					<-ctx.Done()
					return engine.ToolResult{Status: engine.ToolFailed}
				},
			}})
			if err != nil || moved.TaskID == "" || moved.Status != engine.ToolSucceeded {
				t.Fatalf("%+v, %v", moved, err)
			}
			time.Sleep(3 * time.Second)
			mine, theirs := tool.Call{SessionID: s}, tool.Call{SessionID: other}
			if seen, err := all.look(ctx, mine, moved.TaskID); err != nil || seen.State != "running for 3 s" || seen.Printed != "words\n" || seen.Cut {
				t.Errorf("%+v, %v", seen, err)
			}
			for _, of := range []func(context.Context, tool.Call, string) error{
				func(ctx context.Context, c tool.Call, id string) error { _, err := all.look(ctx, c, id); return err },
				func(ctx context.Context, c tool.Call, id string) error { _, err := all.end(ctx, c, id); return err },
			} {
				if err := of(ctx, theirs, moved.TaskID); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "There is no background task") {
					t.Errorf("%v", err)
				}
			}
			if all.Running() != 1 {
				t.Error("another session has stopped it")
			}
			if seen, err := all.end(ctx, mine, moved.TaskID); err != nil || seen.State != event.TaskStopped || seen.Printed != "words\n" {
				t.Errorf("%+v, %v", seen, err)
			}
			do(core.EndSilent{Turn: id}) // nothing waits: she is told nothing
			if err := loop.Read(ctx, func(tx *store.ReadTx) error {
				running, err := tx.RunningTurns()
				if len(running) != 0 {
					t.Error("a turn was opened")
				}
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	})
}
