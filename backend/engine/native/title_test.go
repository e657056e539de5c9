package native_test

import (
	"strings"
	"testing"

	"aalis/backend/engine"
	"aalis/backend/engine/native"
	"aalis/backend/provider"
	"aalis/backend/provider/demo"
)

func TestTitle(t *testing.T) {
	t.Run("the model is asked once, without tools, about the heads of both sides", func(t *testing.T) {
		e, model := open(t, "call\nreasoning hm\ntext Trips\ntext -to-Rome\nusage 3 2")
		got, err := e.(engine.Titler).Title(t.Context(), engine.Turn{}, strings.Repeat("q", 3000), "There")
		if err != nil || got != "Trips-to-Rome" {
			t.Fatal(got, err)
		}
		calls := model.Requests()
		if len(calls) != 1 || len(calls[0].Tools) != 0 || len(calls[0].Messages) != 1 {
			t.Fatalf("%+v", calls)
		}
		said := calls[0].Messages[0].Text
		if strings.Count(said, "q") != 2000 || !strings.HasSuffix(said, "The answer: There") {
			t.Error(said)
		}
	})
	t.Run("a failing model is told", func(t *testing.T) {
		e, _ := open(t, "call\nerror server no")
		if got, err := e.(engine.Titler).Title(t.Context(), engine.Turn{}, "a", "b"); err == nil {
			t.Error(got)
		}
	})
	t.Run("the demo engine is not asked", func(t *testing.T) {
		set, err := provider.NewSet(provider.Config{}, map[string]provider.Kind{"demo": demo.Kind()})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := native.New(native.Config{Models: set}).Title(t.Context(), engine.Turn{}, "a", "b"); got != "" || err != nil {
			t.Error(got, err)
		}
	})
}
