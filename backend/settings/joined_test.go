package settings_test

import (
	"testing"

	"aalis/backend/settings/field"
)

func TestJoined(t *testing.T) {
	rules := func() []field.Plugin {
		return plugin(field.Field{Key: "r", Type: field.List, Joined: true}, field.Field{Key: "place", Type: field.List, Joined: true, Session: field.Spec{PlaceOnly: true}})
	}
	t.Run("FAIL-B16 what every layer says counts together, the widest first, and twice is once", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: rules()})
		s := r.session()
		same(t, "nothing", show(r.rows(s), "r"), "- -")
		r.set(s, "r", []string{"d", "a"})
		same(t, "session", show(r.rows(s), "r"), `["d","a"] ["d","a"] session`)
		r.set(global, "r", []string{"a"})
		r.set(webui, "r", []string{"b"})
		r.set(home, "r", []string{"c", "b"})
		same(t, "all", show(r.rows(s), "r"), `["d","a"] ["a","b","c","d"] session`)
		same(t, "a child has its root's, too", show(r.rows(r.child(s)), "r"), `- ["a","b","c","d"] session`)
		r.set(s, "r", nil)
		same(t, "without the session's", show(r.rows(s), "r"), `- ["a","b","c"] place`)
		r.set(s, "r", []string{})
		same(t, "an empty list takes nothing away", show(r.rows(s), "r"), `[] ["a","b","c"] session`)
	})
	t.Run("FAIL-B16 what a hand edit left that is no list is not lost", func(t *testing.T) {
		r := open(t, setup{plugins: rules(), document: "settings: {global: {p: {r: 'prefix: rm'}}}\n"})
		same(t, "a bare string", show(r.rows(r.session()), "r"), `- ["prefix: rm"] global`)
		r = open(t, setup{plugins: rules(), document: "settings: {global: {p: {r: [a, 3]}}}\n"})
		same(t, "a list of other things", show(r.rows(r.session()), "r"), `- ["[\"a\",3]"] global`)
	})
}
