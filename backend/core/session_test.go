package core_test

import (
	"context"
	"testing"
	"testing/synctest"

	"aalis/backend/core"
	"aalis/backend/fault"
	"aalis/backend/testkit"
)

// A platform goes on talking in a room its owner has deleted: the address leads to a new room, and the
// old one keeps its own id.
func TestTheAddressOfADeletedRoomIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		saw := watch(t, r.loop)
		room := core.CreateSession{Actor: owner, Origin: "im", Kind: "room", ExtKey: "onebot:1:group:20001", Platform: "onebot"}
		first := r.do(room).SessionID
		if _, err := r.loop.Do(context.Background(), room); !fault.Is(err, fault.Conflict) {
			t.Errorf("a second room at one address: %v", err)
		}
		r.do(core.DeleteSession{Actor: owner, Session: room.ExtKey})
		synctest.Wait()
		var gone []core.Gone
		for _, e := range saw() {
			gone = append(gone, e.Removed...)
		}
		if len(gone) != 1 || gone[0].ID != room.ExtKey {
			t.Errorf("clients were told that %v is gone; they know it by its address", gone)
		}
		second := r.do(room).SessionID
		if got := r.do(core.RenameSession{Actor: owner, Session: room.ExtKey, Title: "new"}).SessionID; got != second || got == first {
			t.Errorf("the address leads to %s, not to the new room %s", got, second)
		}
		synctest.Wait()
		testkit.Check(t, r.st)
		sameAsRebuilt(t, r)
	})
}
