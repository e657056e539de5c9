// Package providertest is the conformance suite of provider.Model: what every dialect must keep,
// whatever its wire looks like. Tests of the dialects call it; the program never does.
package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/provider"
)

// Scenario is one answer a model is known to give.
type Scenario struct {
	Name    string
	Request provider.Request
	Want    Answer
}

// Answer is a whole answer, its pieces joined.
type Answer struct {
	Text      string
	Reasoning string
	Calls     []Call
	Usage     *provider.Usage
	Finish    provider.FinishReason
	Err       provider.ErrorCode
}

// Call is one finished tool call of an Answer.
type Call struct {
	Name string
	Args string
}

// Suite says how the suite runs.
type Suite struct {
	// Model gives a fresh model that answers the scenario, as often as it is asked.
	Model func(t *testing.T, s Scenario) provider.Model
	// Real is for dialects that need real sockets, which a bubble of testing/synctest cannot hold.
	Real bool
}

// Run proves each law on each scenario.
func (s Suite) Run(t *testing.T, scenarios []Scenario) {
	for _, sc := range scenarios {
		t.Run(sc.Name, func(t *testing.T) {
			s.prove(t, "gives the answer", sc, s.answers)
			s.prove(t, "answers many at once", sc, s.concurrent)
			s.prove(t, "falls silent when the caller leaves", sc, s.leaving)
			s.prove(t, "says nothing to a cancelled context", sc, s.cancelledBefore)
			s.prove(t, "ends with the context's error when cancelled", sc, s.cancelledAfter)
		})
	}
}

func (s Suite) prove(t *testing.T, name string, sc Scenario, law func(*testing.T, Scenario)) {
	t.Run(name, func(t *testing.T) {
		if s.Real {
			law(t, sc)
			return
		}
		synctest.Test(t, func(t *testing.T) { law(t, sc) })
	})
}

func (s Suite) answers(t *testing.T, sc Scenario) {
	before, err := json.Marshal(sc.Request)
	if err != nil {
		t.Fatal(err)
	}
	got := Collect(t, s.Model(t, sc).Stream(t.Context(), sc.Request))
	if diff := cmp.Diff(sc.Want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	after, err := json.Marshal(sc.Request)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Errorf("the request was changed:\n%s\n%s", before, after)
	}
}

func (s Suite) concurrent(t *testing.T, sc Scenario) {
	model := s.Model(t, sc)
	answers := make([]Answer, 4)
	var callers sync.WaitGroup
	for i := range answers {
		callers.Go(func() { answers[i] = Collect(t, model.Stream(t.Context(), sc.Request)) })
	}
	callers.Wait()
	for _, got := range answers {
		if diff := cmp.Diff(sc.Want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
	}
}

func (s Suite) leaving(t *testing.T, sc Scenario) {
	model := s.Model(t, sc)
	for leaveAt := 1; ; leaveAt++ {
		seen := 0
		// Called without range, which would panic by itself on a further yield.
		model.Stream(t.Context(), sc.Request)(func(provider.Chunk, error) bool {
			seen++
			return seen < leaveAt
		})
		if seen < leaveAt {
			return // the whole answer is shorter
		}
		if seen > leaveAt {
			t.Fatalf("yielded again after the caller left at %d", leaveAt)
		}
	}
}

func (s Suite) cancelledBefore(t *testing.T, sc Scenario) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for chunk, err := range s.Model(t, sc).Stream(ctx, sc.Request) {
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %+v, %v; want the context's error alone", chunk, err)
		}
	}
}

func (s Suite) cancelledAfter(t *testing.T, sc Scenario) {
	limit := 100 * time.Millisecond
	if s.Real {
		limit = time.Second // room for a busy machine; the bubbles of the dialects' own tests are exact
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var (
		at    time.Time
		first provider.Chunk
		last  error
	)
	for chunk, err := range s.Model(t, sc).Stream(ctx, sc.Request) {
		if at.IsZero() {
			first, last = chunk, err
			cancel()
			at = time.Now()
			continue
		}
		if err == nil {
			t.Fatalf("chunk %+v after the context was cancelled", chunk)
		}
		last = err
	}
	if took := time.Since(at); took > limit {
		t.Errorf("ended %v after the cancel, want at most %v", took, limit)
	}
	// An answer of one chunk is over before the cancel.
	whole := first.Finish != "" || first == (provider.Chunk{}) && last != nil
	if !whole && !errors.Is(last, context.Canceled) {
		t.Errorf("ended with %v, want the context's error", last)
	}
}

// Collect reads an answer to its end and proves the laws of a chunk sequence on the way.
func Collect(t *testing.T, seq iter.Seq2[provider.Chunk, error]) Answer {
	t.Helper()
	var a Answer
	for c, err := range seq {
		if a.Err != "" || a.Finish != "" {
			t.Errorf("chunk %+v, %v after the end", c, err)
		}
		if err != nil {
			known, ok := errors.AsType[*provider.Error](err)
			if !ok {
				t.Errorf("error %v is no provider.Error", err)
				a.Err = "unknown"
				continue
			}
			lawsOfError(t, known, a)
			a.Err = known.Code
			continue
		}
		a.add(t, c)
	}
	if a.Err == "" && a.Finish == "" {
		t.Error("the sequence ended without Finish and without an error")
	}
	return a
}

func lawsOfError(t *testing.T, e *provider.Error, a Answer) {
	t.Helper()
	if e.Message.IsZero() || e.Provider == "" {
		t.Errorf("error without words or provider: %+v", e)
	}
	if len(e.Raw) > provider.MaxRaw || !utf8.ValidString(e.Raw) {
		t.Errorf("Raw has %d bytes, valid UTF-8: %v", len(e.Raw), utf8.ValidString(e.Raw))
	}
	if e.Retryable && (a.Text != "" || a.Reasoning != "" || len(a.Calls) > 0) {
		t.Errorf("retryable after a chunk: %v", e)
	}
}

func (a *Answer) add(t *testing.T, c provider.Chunk) {
	t.Helper()
	groups := 0
	if c.Text != "" {
		groups++
		a.Text += c.Text
	}
	if c.Reasoning != "" {
		groups++
		a.Reasoning += c.Reasoning
	}
	if !utf8.ValidString(c.Text) || !utf8.ValidString(c.Reasoning) {
		t.Errorf("chunk is not whole UTF-8: %q %q", c.Text, c.Reasoning)
	}
	if c.Call != nil {
		groups++
		a.addCall(t, *c.Call)
	}
	if c.Usage != nil {
		groups++
		if a.Usage != nil {
			t.Errorf("usage twice")
		}
		a.Usage = c.Usage
	} else if a.Usage != nil && c.Finish == "" {
		t.Errorf("chunk %+v between usage and finish", c)
	}
	if c.Finish != "" {
		groups++
		a.Finish = c.Finish
	}
	if groups != 1 {
		t.Errorf("chunk with %d groups of fields: %+v", groups, c)
	}
}

func (a *Answer) addCall(t *testing.T, d provider.CallDelta) {
	t.Helper()
	switch {
	case d.Index == len(a.Calls) && d.Name != "":
		a.Calls = append(a.Calls, Call{Name: d.Name, Args: d.Args})
	case d.Index >= 0 && d.Index < len(a.Calls) && d.Name == "":
		a.Calls[d.Index].Args += d.Args
	default:
		t.Errorf("call piece %+v does not follow %d calls", d, len(a.Calls))
	}
	if !utf8.ValidString(d.Args) {
		t.Errorf("arguments are not whole UTF-8: %q", d.Args)
	}
}
