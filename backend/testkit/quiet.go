package testkit

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// Try runs fn in a bubble with a clock of its own and gives what it complained of instead of failing
// t, so that a property can be tried again with less. Whatever a property draws it must draw before:
// rapid must not be called from a bubble's goroutine.
func Try(t *testing.T, fn func(t testing.TB)) (said []string) {
	t.Helper()
	q := &quiet{}
	synctest.Test(t, func(t *testing.T) {
		q.TB = t
		defer q.caught()
		fn(q)
	})
	return q.said
}

// quiet keeps what a test would say.
type quiet struct {
	testing.TB
	said []string
}

type giveUp struct{}

func (q *quiet) Error(args ...any) { q.said = append(q.said, fmt.Sprint(args...)) }
func (q *quiet) Errorf(format string, args ...any) {
	q.said = append(q.said, fmt.Sprintf(format, args...))
}
func (q *quiet) Fatal(args ...any)                 { q.Error(args...); panic(giveUp{}) }
func (q *quiet) Fatalf(format string, args ...any) { q.Errorf(format, args...); panic(giveUp{}) }
func (q *quiet) Failed() bool                      { return len(q.said) > 0 }

func (q *quiet) caught() {
	if v := recover(); v != nil && v != (giveUp{}) {
		panic(v)
	}
}
