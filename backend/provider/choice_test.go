package provider_test

import (
	"slices"
	"testing"

	"aalis/backend/provider"
	"aalis/backend/provider/demo"
	"aalis/backend/provider/scripted"
)

func TestWhatIsKnownOfASet(t *testing.T) {
	kinds := map[string]provider.Kind{"scripted": scripted.New().Kind(), provider.DemoType: demo.Kind()}
	models, err := provider.NewSet(provider.Config{DefaultModel: "named/b", Providers: []provider.ProviderConfig{
		{ID: "asked", Type: "scripted"}, {ID: "named", Type: "demo", Models: []provider.ModelConfig{{Name: "a"}, {Name: "b"}}},
	}}, kinds)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("the default as far as it is known without asking", func(t *testing.T) {
		if id, known := models.DefaultNow(); id != "named/b" || !known {
			t.Errorf("named: %s %v", id, known)
		}
		first := models.WithDefault("")
		if id, known := first.DefaultNow(); known {
			t.Errorf("nobody was asked, and yet: %s", id)
		}
		if e, err := first.Default(t.Context()); err != nil || e.ID != "asked/script" {
			t.Fatalf("%+v %v", e, err)
		}
		if id, known := first.DefaultNow(); id != "asked/script" || !known {
			t.Errorf("asked: %s %v", id, known)
		}
		if id, _ := models.DefaultNow(); id != "named/b" {
			t.Errorf("the other set is now %s", id)
		}
	})
	t.Run("which ids it takes", func(t *testing.T) {
		for id, want := range map[string]bool{"named/a": true, "named/c": false, "asked/any": true, "nobody/a": false, "named": false, "": false} {
			if got := models.Takes(id); got != want {
				t.Errorf("%q: %v", id, got)
			}
		}
	})
	t.Run("how long its models can think", func(t *testing.T) {
		if got := models.Thinking("named/a"); !slices.Equal(got, []string{"none", "low", "high"}) {
			t.Errorf("%v", got)
		}
		if got := append(models.Thinking("asked/x"), models.Thinking("nobody/x")...); len(got) != 0 {
			t.Errorf("%v", got)
		}
	})
}
