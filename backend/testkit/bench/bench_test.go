//go:build linux

package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"aalis/backend/provider"
	"aalis/backend/provider/openai"
	"aalis/backend/store"
	"aalis/backend/testkit"
)

func TestPercentile(t *testing.T) {
	var hundred []float64
	for i := 100; i > 0; i-- {
		hundred = append(hundred, float64(i))
	}
	for _, c := range []struct {
		values []float64
		p      float64
		want   float64
	}{
		{hundred, 50, 50},
		{hundred, 95, 95},
		{hundred, 100, 100},
		{hundred, 0, 1},
		{[]float64{3, 1, 2}, 50, 2},
		{[]float64{3, 1, 2}, 95, 3},
		{[]float64{7}, 50, 7},
	} {
		if got := percentile(c.values, c.p); got != c.want {
			t.Errorf("percentile %v of %v is %v, want %v", c.p, c.values, got, c.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("the values were sorted in place")
	}
	if !math.IsNaN(percentile(nil, 50)) || !math.IsNaN(median(nil)) {
		t.Error("nothing has a percentile")
	}
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("the median is %v", got)
	}
	if got := median([]float64{9, 1, 3}); got != 3 {
		t.Errorf("the median is %v", got)
	}
}

func TestTable(t *testing.T) {
	var s sheet
	for _, round := range [][2]float64{{0.3, 0.2}, {0.5, 0.1}, {0.4, 0.3}} {
		s.of("a delay", "ms", 0.5).add(serverName, round[0])
		s.of("a delay", "ms", 0.5).add(floorName, round[1])
	}
	s.of("time", "µs", 0).add(serverName, 1234.4)
	s.of("never measured", "MB", 30)
	s.of("by the floor only", "B", 0).add(floorName, 10)
	var b strings.Builder
	if err := s.print(&b); err != nil {
		t.Fatal(err)
	}
	want := `
                   measured          aim     floor  ratio  lowest to highest
a delay            0.400 ms  <= 0.500 ms  0.200 ms  2.00x  0.300 to 0.500 ms
time                1234 µs            -         -      -                  -
never measured            -   <= 30.0 MB         -      -                  -
by the floor only         -            -    10.0 B      -                  -
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
}

// TestCompare: a piece arrives with the frame that brings its last character, and whatever is lost,
// doubled or out of order is no measurement.
func TestCompare(t *testing.T) {
	began := time.Now()
	s := &script{pieces: 3}
	for i := range s.pieces {
		s.sent = append(s.sent, began.Add(time.Duration(i)*10*time.Millisecond))
	}
	arrived := func(ms int, text string) arrival {
		return arrival{began.Add(time.Duration(ms) * time.Millisecond), []byte(text)}
	}
	plain := (&floorSubject{}).piece
	half := s.piece(2)[:5]
	delays, wire, err := compare([]arrival{arrived(1, s.piece(0)), arrived(15, s.piece(1)+half), arrived(27, s.last()[5:])}, s, plain)
	if err != nil || len(delays) != 3 || delays[0] != 1 || delays[1] != 5 || delays[2] != 7 {
		t.Errorf("the delays are %v, %v", delays, err)
	}
	if want := 3*pieceSize + 3*2; wire != want {
		t.Errorf("%d bytes, want %d", wire, want)
	}
	for name, got := range map[string][]arrival{
		"lost":         {arrived(1, s.piece(0)), arrived(2, s.last())},
		"doubled":      {arrived(1, s.piece(0)+s.piece(1)), arrived(2, s.piece(1)), arrived(3, s.last())},
		"out of order": {arrived(1, s.piece(1)), arrived(2, s.piece(0)), arrived(3, s.last())},
	} {
		if _, _, err := compare(got, s, plain); err == nil {
			t.Errorf("a piece that was %s was not noticed", name)
		}
	}
	for n, want := range map[int]int{0: 2, 125: 127, 126: 130, 65535: 65539, 65536: 65546} {
		if got := frameSize(n); got != want {
			t.Errorf("a frame of %d is %d on the wire, want %d", n, got, want)
		}
	}
}

func TestServerPiece(t *testing.T) {
	s := &serverSubject{session: "s"}
	for frame, want := range map[string]string{
		`{"jsonrpc":"2.0","method":"item/delta","params":{"sessionId":"s","epoch":"e","seq":1,"itemId":"i","text":"a \"b\""}}`: `a "b"`,
		`{"jsonrpc":"2.0","method":"item/delta","params":{"sessionId":"other","text":"a"}}`:                                    "",
		`{"jsonrpc":"2.0","method":"item/completed","params":{"sessionId":"s","item":{"kind":"agent-message","text":"a"}}}`:    "",
		`{"jsonrpc":"2.0","id":1,"result":{}}`: "",
	} {
		if text, carries := s.piece([]byte(frame)); carries != (want != "") || carries && text != want {
			t.Errorf("%s carries %q", frame, text)
		}
	}
}

// TestModel: the model speaks what the server's own dialect reads.
func TestModel(t *testing.T) {
	m, err := openModel()
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	var order []string
	s := &script{pieces: 50, sent: make([]time.Time, 50)}
	s.before = func() { order = append(order, "before") }
	s.after = func() { order = append(order, "after") }
	m.scripts <- s
	source := openai.Open(provider.Settings{ID: "bench", BaseURL: m.url, IdleTimeout: 10 * time.Second})
	var text strings.Builder
	var finish provider.FinishReason
	for chunk, err := range source.Model("bench").Stream(t.Context(), provider.Request{Messages: []provider.Message{{Role: provider.RoleUser, Text: "Speak."}}}) {
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(chunk.Text)
		if chunk.Finish != "" {
			finish = chunk.Finish
		}
	}
	if text.String() != s.text() || len(s.piece(1)) != pieceSize || len(s.last()) != pieceSize || finish != provider.FinishStop {
		t.Errorf("got %q, finished by %q", text.String(), finish)
	}
	if len(order) != 2 || order[0] != "before" || s.sent[0].IsZero() || s.sent[49].Before(s.sent[0]) {
		t.Errorf("called %v; sent %v", order, s.sent)
	}
}

// TestSeed: what is measured over is a log as the program writes it.
func TestSeed(t *testing.T) {
	dir := t.TempDir()
	var long string
	err := open(dir, func(s *seeder) (err error) {
		if long, err = s.long(50); err != nil {
			return err
		}
		return s.sessions(60)
	})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	testkit.Check(t, st)
	if err := st.Read(t.Context(), func(tx *store.ReadTx) error {
		all, err := tx.AllSessions()
		if len(all) != 61 {
			t.Errorf("%d sessions", len(all))
		}
		if s, err := tx.Session(long); err != nil || s.ID != long {
			t.Errorf("the long session: %+v, %v", s, err)
		}
		wrong, headsErr := tx.HeadsAgree()
		if headsErr != nil || len(wrong) > 0 {
			t.Errorf("heads disagree: %v, %v", wrong, headsErr)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
