package fault

import (
	"errors"
	"fmt"
	"testing"

	"aalis/backend/text"
)

func TestOf(t *testing.T) {
	f := New(NotFound, text.New("session.not-found", "id", "x"))
	if got := Of(fmt.Errorf("opening: %w", f)); got != f {
		t.Errorf("a wrapped fault is %v", got)
	}
	cause := errors.New("disk I/O error on /home/somebody")
	got := Of(cause)
	if got.Code != Internal || got.Message.String() != text.New("internal").String() || !errors.Is(got, cause) {
		t.Errorf("any other error is %v", got)
	}
	if !Is(fmt.Errorf("a: %w", f), NotFound) || Is(f, Conflict) || Is(cause, Internal) {
		t.Error("Is")
	}
}
