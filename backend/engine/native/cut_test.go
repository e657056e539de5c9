package native

import (
	"strings"
	"testing"

	"aalis/backend/engine"
	"aalis/backend/provider"
	"aalis/backend/provider/scripted"
)

// words is some n tokens.
func words(n int) string { return strings.Repeat("abcd", n) }

func user(n int) engine.Entry {
	return engine.Entry{Kind: engine.EntryUser, TurnID: "t", Text: words(n)}
}

func step(kind engine.EntryKind, step, n int) engine.Entry {
	e := engine.Entry{Kind: kind, TurnID: "t", Step: step, Text: words(n)}
	if kind == engine.EntryTool {
		e.Status = engine.ToolSucceeded
	}
	return e
}

func running(e engine.Entry) engine.Entry {
	e.Status = ""
	return e
}

func TestWhereAConversationIsCut(t *testing.T) {
	many := make([]engine.Entry, 30)
	for i := range many {
		many[i] = user(1)
	}
	for name, c := range map[string]struct {
		said []engine.Entry
		most int
		want int
	}{
		"the newest twenty messages stay":                       {many, 1000, 10},
		"fewer where they are long":                             {[]engine.Entry{user(50), user(50), user(50)}, 100, 1},
		"the newest whatever it fills":                          {[]engine.Entry{user(5), user(500)}, 100, 1},
		"what came of one call of the model is one message":     {[]engine.Entry{user(5), step(engine.EntryAgent, 1, 5), step(engine.EntryTool, 1, 60), step(engine.EntryTool, 1, 60)}, 100, 1},
		"two calls of it are two":                               {[]engine.Entry{user(5), step(engine.EntryTool, 1, 60), step(engine.EntryTool, 2, 60)}, 100, 2},
		"a call that runs stays, with all from it on":           {[]engine.Entry{user(5), step(engine.EntryAgent, 1, 5), running(step(engine.EntryTool, 1, 60)), user(60), user(60)}, 100, 1},
		"a summary never stays beside another":                  {[]engine.Entry{{Kind: engine.EntrySummary, Text: words(5)}, user(5)}, 100, 1},
		"nothing was said":                                      {nil, 100, 0},
		"thinking is not sent back, so it fills nothing either": {[]engine.Entry{user(50), step(engine.EntryReasoning, 1, 500), step(engine.EntryAgent, 1, 40)}, 100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cut(c.said, c.most); got != c.want {
				t.Errorf("cut at %d, want %d", got, c.want)
			}
		})
	}
}

func TestWhatIsGained(t *testing.T) {
	set, err := provider.NewSet(provider.Config{
		Providers: []provider.ProviderConfig{{ID: "test", Type: "scripted", Models: []provider.ModelConfig{{Name: "m", ContextWindow: 10_000}}}},
	}, map[string]provider.Kind{"scripted": scripted.New().Kind()})
	if err != nil {
		t.Fatal(err)
	}
	e := New(Config{Models: set})
	said := func(gone int) []engine.Entry { return []engine.Entry{user(gone), user(2200), user(200)} } // a quarter stays
	for _, c := range []struct {
		name string
		turn string
		gone int
		want bool
	}{
		{"a person may have little shortened", "", 250, true},
		{"but not next to nothing", "", 150, false},
		{"FAIL-F1 by itself it must be a twentieth of the window", "t", 450, false},
		{"and then it is done", "t", 550, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			keep, ok, err := e.Keep(t.Context(), engine.Turn{TurnID: c.turn}, said(c.gone))
			if err != nil || ok != c.want || keep > 2 {
				t.Errorf("%d %v %v", keep, ok, err)
			}
		})
	}
	t.Run("a summary that would only be written again is no gain", func(t *testing.T) {
		again := append([]engine.Entry{{Kind: engine.EntrySummary, Text: words(600)}}, user(2200), user(200))
		if _, ok, err := e.Keep(t.Context(), engine.Turn{}, again); ok || err != nil {
			t.Errorf("%v %v", ok, err)
		}
	})
}

func TestTranscript(t *testing.T) {
	said := []engine.Entry{user(4000), step(engine.EntryTool, 1, 10), user(30)}
	said[1].Tool, said[1].Args, said[1].Result = "exec", []byte(`{"command":"ls"}`), "begin "+words(4000)+" end"
	long := transcript(said, 5000)
	if !strings.Contains(long, "A person: abcd") || !strings.Contains(long, `Assistant called exec({"command":"ls"})`) || !strings.Contains(long, "[…]") || !strings.Contains(long, " end") {
		t.Errorf("%.200s … %s", long, long[max(0, len(long)-100):])
	}
	if n := tokens(len(long)); n > 5000 {
		t.Errorf("%d tokens", n)
	}
	few := transcript(said, 60)
	if n := tokens(len([]rune(few))); n > 160 || !strings.Contains(few, "earlier entries are left out") || !strings.HasSuffix(few, "A person: "+said[2].Text) {
		t.Errorf("%d tokens: %s", n, few)
	}
}
