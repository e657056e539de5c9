package server

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"aalis/backend/principal"
	"aalis/backend/text"
)

func TestOutbox(t *testing.T) {
	t.Run("SEC-09 whatever is sent and taken, frames keep their order and the bound holds", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			const most = 1000
			o := newOutbox(most)
			var sent, got []string
			var batch []waiting
			parted := false
			for range rapid.IntRange(1, 200).Draw(t, "steps") {
				if rapid.Bool().Draw(t, "send") {
					frame := strings.Repeat(rapid.StringMatching(`[a-z]`).Draw(t, "letter"), rapid.SampledFrom([]int{0, 1, 50, 300, 451, 452, 453, 3000}).Draw(t, "size"))
					over := o.send(frame, parting{code: 1013})
					switch {
					case parted && over:
						t.Fatal("parted twice")
					case over:
						parted = true
						sent = sent[:len(got)] // what waited is dropped
					case !parted:
						sent = append(sent, frame)
					}
				} else {
					var end *parting
					batch, end = o.take(batch, 400)
					for _, w := range batch {
						got = append(got, w.frame)
					}
					if end != nil && (!parted || end.code != 1013) {
						t.Fatalf("end %+v, parted %v", end, parted)
					}
					o.wrote()
				}
				if q := o.queued(); q < 0 || q > most {
					t.Fatalf("%d bytes wait, the bound is %d", q, most)
				}
			}
			for {
				if batch, _ = o.take(batch, 400); len(batch) == 0 {
					break
				}
				for _, w := range batch {
					got = append(got, w.frame)
				}
				o.wrote()
			}
			if diff := cmp.Diff(sent, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("sent and got (-want +got):\n%s", diff)
			}
			if o.queued() != 0 {
				t.Fatalf("%d bytes wait in an empty queue", o.queued())
			}
		})
	})
	t.Run("Room waits until a quarter of the bound is left, and ends with the connection or the caller", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o := newOutbox(1000)
			o.send(strings.Repeat("x", 500), parting{})
			results := make(chan bool, 3)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { results <- o.waitRoom(t.Context()) }()
			go func() { results <- o.waitRoom(ctx) }()
			synctest.Wait()
			if len(results) != 0 {
				t.Fatal("room although more than a quarter waits")
			}
			cancel()
			if <-results {
				t.Error("true for a caller that has left")
			}
			_, _ = o.take(nil, 1000)
			o.wrote()
			if !<-results {
				t.Error("no room in an empty queue")
			}
			o.send(strings.Repeat("x", 500), parting{})
			go func() { results <- o.waitRoom(t.Context()) }()
			synctest.Wait()
			o.kill()
			if <-results || o.waitRoom(t.Context()) {
				t.Error("room on a connection that has ended")
			}
		})
	})
	t.Run("parting with flush keeps what waits, without drops it; the first parting stands", func(t *testing.T) {
		for _, flush := range []bool{true, false} {
			o := newOutbox(1000)
			o.send("a", parting{})
			if !o.part(parting{1000, "first", flush}) || o.part(parting{1013, "second", !flush}) {
				t.Error("the wrong parting stands")
			}
			o.send("b", parting{})
			batch, end := o.take(nil, 1000)
			if flush {
				if len(batch) != 1 || batch[0].frame != "a" || end != nil {
					t.Errorf("batch %v, end %v", batch, end)
				}
				o.wrote()
				batch, end = o.take(batch, 1000)
			}
			if len(batch) != 0 || end == nil || end.reason != "first" {
				t.Errorf("batch %v, end %v", batch, end)
			}
		}
	})
}

func TestCutReason(t *testing.T) {
	t.Run("SP-TRANS-06 any reason is cut to a valid prefix of at most 123 bytes, and no further than needed", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			reason := rapid.String().Draw(t, "reason")
			cut := cutReason(reason)
			if len(cut) > 123 || !utf8.ValidString(cut) || !strings.HasPrefix(reason, cut) {
				t.Fatalf("cut to %q", cut)
			}
			if rest := reason[len(cut):]; rest != "" {
				if _, size := utf8.DecodeRuneInString(rest); len(cut)+size <= 123 {
					t.Fatalf("%q was cut before it had to be", reason)
				}
			}
		})
	})
}

func TestBucket(t *testing.T) {
	t.Run("SEC-09 burst at once, then the rate, and the wait that is told is enough", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			rate := rapid.Float64Range(0.1, 1000).Draw(t, "rate")
			burst := float64(rapid.IntRange(1, 50).Draw(t, "burst"))
			now := time.Unix(1_000_000, 0)
			var b bucket
			for i := range int(burst) {
				if wait := b.take(now, rate, burst); wait != 0 {
					t.Fatalf("the %d. of %v has to wait %v", i+1, burst, wait)
				}
			}
			for range 20 {
				wait := b.take(now, rate, burst)
				if wait <= 0 || wait > time.Duration(1.001/rate*float64(time.Second))+time.Microsecond {
					t.Fatalf("wait %v at rate %v", wait, rate)
				}
				now = now.Add(wait + time.Microsecond)
				if again := b.take(now, rate, burst); again != 0 {
					t.Fatalf("after waiting %v it is %v more", wait, again)
				}
			}
		})
	})
	t.Run("SEC-09 buckets of those who left are forgotten", func(t *testing.T) {
		b := newBuckets(Limits{Rate: 100, Burst: 10})
		now := time.Unix(1_000_000, 0)
		for i := range 5 * maxBuckets {
			b.take(strings.Repeat("x", i%7)+string(rune(i+0x4e00)), now)
			now = now.Add(time.Millisecond)
		}
		if len(b.byID) > 2*maxBuckets {
			t.Errorf("%d buckets are kept", len(b.byID))
		}
	})
}

// Every sentence that goes into a close frame fits it in both languages.
func TestCloseSentences(t *testing.T) {
	for _, key := range []text.Key{
		"door.slow", "door.binary", "door.not-utf8", "door.message-slow", "door.stopping", "door.credential-revoked", "door.credential-expired", "internal",
	} {
		for _, lang := range []text.Language{text.English, text.Chinese} {
			if s := text.New(key).In(lang); len(s) > maxReason || s == "" {
				t.Errorf("%s in %s has %d bytes", key, lang, len(s))
			}
		}
	}
	if s := text.New("door.message-large", "max", 72<<20).In(text.Chinese); len(s) > maxReason {
		t.Errorf("door.message-large has %d bytes", len(s))
	}
}

func TestRetract(t *testing.T) {
	t.Run("server.json of another instance stays", func(t *testing.T) {
		dir := t.TempDir()
		if err := publish(dir, Running{URL: "http://127.0.0.1:1", PID: os.Getpid(), Epoch: "later"}); err != nil {
			t.Fatal(err)
		}
		if err := retract(dir, "earlier"); err != nil {
			t.Fatal(err)
		}
		if _, err := principal.ReadPrivate(runningPath(dir)); err != nil {
			t.Errorf("it is gone: %v", err)
		}
	})
}
