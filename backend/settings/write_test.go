package settings_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/settings"
	"aalis/backend/settings/field"
	"aalis/backend/store"
	"aalis/backend/text"
)

func TestWriting(t *testing.T) {
	one := plugin(field.Field{Key: "k"}, field.Field{Key: "own", Preference: true}, field.Field{Key: "named", Preference: true, Path: []string{"default_k"}})
	t.Run("SP-CONF-46 SP-CONF-47 a value stands at its place and nowhere else, until it is taken out", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: one})
		s, room := r.session(), r.room("1")
		places := []any{global, webui, onebot, groups, home, window(room), s, room}
		for i, at := range places {
			r.set(at, "k", fmt.Sprint("v", i))
			for j, other := range places {
				if written := show(r.at(other), "k")[:1] != "-"; written != (j == i) {
					t.Errorf("after %v: written at %v: %v", at, other, written)
				}
			}
			r.set(at, "k", nil)
			if got := show(r.at(at), "k"); got != "- -" {
				t.Errorf("taken out of %v: %s", at, got)
			}
		}
	})
	t.Run("SP-CONF-44 SP-CONF-45 the answer is what a read would give", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: one})
		s := r.session()
		same(t, "session", show(r.set(s, "k", "x"), "k"), show(r.rows(s), "k"))
		same(t, "layer", show(r.set(global, "k", "y"), "k"), show(r.layer(global), "k"))
		same(t, "platform", r.set(s, "k", "z").Platform, "webui")
	})
	t.Run("SP-CONF-47 to take out what is not there is fine", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: one})
		s := r.session()
		for _, at := range []any{global, onebot, groups, home, s} {
			r.set(at, "k", nil)
		}
		if r.file() != "" {
			t.Errorf("the document: %s", r.file())
		}
	})
	t.Run("SP-CONF-56 where each layer stands in the document", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: one})
		for _, at := range []settings.Layer{global, onebot, groups} {
			for _, key := range []string{"k", "own", "named"} {
				r.set(at, key, "v")
			}
		}
		same(t, "document", r.file(), `settings:
  global:
    p:
      k: v
  platforms:
    onebot:
      p:
        k: v
        own: v
        named: v
  types:
    onebot:
      group:
        p:
          k: v
          own: v
          named: v
plugins:
  p:
    own: v
default_k: v
`)
	})
	t.Run("SP-CONF-60 places and sessions are rows, and touch no document", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: one, document: "# mine\n"})
		s := r.session()
		r.set(s, "k", "x")
		r.set(home, "k", "y")
		same(t, "document", r.file(), "# mine\n")
		var rows []store.Setting
		if err := r.loop.Read(t.Context(), func(tx *store.ReadTx) (err error) {
			found, err := tx.Session(s)
			if err == nil {
				rows, err = tx.SessionSettings(found.SID)
			}
			return err
		}); err != nil || len(rows) != 1 || string(rows[0].Value) != `"x"` {
			t.Errorf("%v %v", rows, err)
		}
	})
	t.Run("SP-I18N-14 a value that looks like a sentence stays what it is", func(t *testing.T) {
		r := open(t, setup{plugins: plugin(field.Field{Key: "m", Type: field.Map})})
		s := r.session()
		value := map[string]string{"key": "internal", "raw": "x", "<b>": "&"}
		for _, at := range []any{global, s} {
			got := map[string]string{}
			if err := json.Unmarshal(r.set(at, "m", value).Items[0].Value, &got); err != nil {
				t.Fatal(err)
			}
			same(t, "value", got, value)
		}
	})
}

func (r *rig) at(where any) settings.Rows {
	r.t.Helper()
	if session, is := where.(string); is {
		return r.rows(session)
	}
	return r.layer(where.(settings.Layer))
}

func TestRefusedWrites(t *testing.T) {
	most := 9.0
	fields := plugin(
		field.Field{Key: "k"}, field.Field{Key: "n", Type: field.Number, Max: &most},
		field.Field{Key: "room", Session: field.Spec{AppliesTo: []field.Kind{field.Room}}},
		field.Field{Key: "owner", Session: field.Spec{AppliesTo: []field.Kind{field.Owner}}},
		field.Field{Key: "wide", Session: field.Spec{PlaceOnly: true}},
	)
	r := open(t, setup{types: platform, plugins: fields, document: "# mine\n"})
	s, room := r.session(), r.room("1")
	r.notes()
	for name, c := range map[string]struct {
		at    any
		key   string
		value any
		null  bool // null is refused, too
	}{
		"SP-CONF-49 no such field":                            {s, "nothing", "x", true},
		"SP-CONF-49 no such plugin":                           {global, "q/k", "x", true},
		"SP-CONF-50 a value of another type":                  {s, "k", 1, false},
		"SP-CONF-50 a value out of bounds":                    {global, "n", 10, false},
		"SP-CONF-51 not for sessions of this kind":            {s, "room", "x", false},
		"SP-CONF-51 not for a workspace":                      {home, "room", "x", false},
		"SP-CONF-51 not for a window":                         {window(room), "owner", "x", false},
		"SP-CONF-51 not for a type":                           {groups, "owner", "x", false},
		"SP-CONF-52 for places only":                          {s, "wide", "x", false},
		"SP-CONF-53 no such scope":                            {settings.Layer{Scope: "session"}, "k", "x", true},
		"SP-CONF-53 a platform that is neither here nor said": {settings.Layer{Scope: settings.PlatformScope, Platform: "icq"}, "k", "x", true},
		"SP-CONF-53 a platform without a name":                {settings.Layer{Scope: settings.PlatformScope}, "k", "x", true},
		"SP-CONF-53 a type that is neither declared nor said": {settings.Layer{Scope: settings.TypeScope, Platform: "onebot", Type: "fax"}, "k", "x", true},
		"SP-CONF-53 a place without a record":                 {place("workspace:nowhere"), "k", "x", true},
	} {
		t.Run(name+"; SP-CONF-54 nothing changes", func(t *testing.T) {
			before := r.everything(s, room)
			_, err := r.try(c.at, c.key, c.value)
			invalid(t, err)
			_, err = r.try(c.at, c.key, nil)
			if c.null {
				invalid(t, err)
			} else if err != nil {
				t.Errorf("SP-CONF-55 null: %v", err)
			}
			same(t, "everything", r.everything(s, room), before)
			if n := r.notes(); n != 0 {
				t.Errorf("%d changes were told", n)
			}
		})
	}
	t.Run("SP-CONF-53 reads of such layers", func(t *testing.T) {
		for _, l := range []settings.Layer{{Scope: "session"}, {Scope: settings.PlatformScope, Platform: "icq"}, place("workspace:nowhere")} {
			_, err := r.s.Layer(t.Context(), l)
			invalid(t, err)
		}
	})
	t.Run("SP-ERR-04 a session that is not there", func(t *testing.T) {
		if _, err := r.try("nobody", "k", "x"); !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
	})
	t.Run("decisions C8 the layer is looked at before the field, the field before the value", func(t *testing.T) {
		for key, c := range map[text.Key]struct {
			at  any
			key string
			of  any
		}{
			"settings.no-layer": {settings.Layer{Scope: "x"}, "nothing", 1}, "settings.no-place": {place("workspace:x"), "nothing", 1},
			"settings.no-field": {s, "nothing", 1}, "settings.not-for-kind": {s, "room", 1}, "settings.place-only": {s, "wide", 1},
			"settings.not-for-layer": {home, "room", 1}, "settings.want-text": {s, "k", 1},
		} {
			_, err := r.try(c.at, c.key, c.of)
			if got := fault.Of(err).Message.Key; got != key {
				t.Errorf("got %s, want %s", got, key)
			}
		}
	})
	t.Run("SP-CONF-27 a value at a session of a field for places does not count", func(t *testing.T) {
		r.do(core.SetSessionSetting{Session: s, Plugin: "p", Key: "wide", Value: field.Raw("x")})
		r.set(home, "wide", "place")
		values, err := r.s.Resolve(t.Context(), s, "", "p")
		if err != nil || string(values["wide"]) != `"place"` {
			t.Errorf("%s %v", values["wide"], err)
		}
		r.set(home, "wide", nil)
	})
	t.Run("SP-CONF-55 null takes out what could not be written here", func(t *testing.T) {
		r.do(core.SetSessionSetting{Session: s, Plugin: "p", Key: "wide", Value: field.Raw("x")})
		r.do(core.SetPlaceSetting{Place: core.DefaultPlace, Plugin: "p", Key: "room", Value: field.Raw("x")})
		r.set(s, "wide", nil)
		r.set(home, "room", nil)
		all, err := r.s.Overrides(t.Context(), "p")
		if err != nil || len(all) != 0 {
			t.Errorf("%v %v", all, err)
		}
	})
}

// everything is all that is set, however it is.
func (r *rig) everything(sessions ...string) string {
	r.t.Helper()
	all := r.file()
	for _, s := range sessions {
		all += fmt.Sprint(r.rows(s).Items)
	}
	over, err := r.s.Overrides(r.t.Context(), "p")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, o := range over {
		all += o.Key + fmt.Sprint(len(o.Entries))
	}
	return all
}

func TestChanged(t *testing.T) {
	fields := plugin(field.Field{Key: "k"})
	watched := func(t *testing.T, do func(r *rig, s string)) int {
		r := open(t, setup{types: platform, plugins: fields, document: "name: x\n"})
		s := r.session()
		r.set(s, "k", "old")
		r.notes()
		do(r, s)
		return r.notes()
	}
	for name, c := range map[string]struct {
		do   func(r *rig, s string)
		want int
	}{
		"SP-CONF-68 a value at a session":             {func(r *rig, s string) { r.set(s, "k", "new") }, 1},
		"SP-CONF-68 a value taken out of a session":   {func(r *rig, s string) { r.set(s, "k", nil) }, 1},
		"SP-CONF-68 a value at a place":               {func(r *rig, _ string) { r.set(home, "k", "new") }, 1},
		"SP-CONF-68 fields registered":                {func(r *rig, _ string) { _ = r.s.Register(field.Plugin{ID: "more"}) }, 1},
		"SP-CONF-68 fields withdrawn":                 {func(r *rig, _ string) { r.s.Withdraw("p") }, 1},
		"SP-CONF-68 the host document, written":       {func(r *rig, _ string) { r.set(global, "k", "new") }, 1},
		"SP-CONF-68 the host document, edited":        {func(r *rig, _ string) { r.write("name: y\n"); r.doc.Reload() }, 1},
		"nothing: what was so already, at a session":  {func(r *rig, s string) { r.set(s, "k", "old") }, 0},
		"nothing: a comment in the host document":     {func(r *rig, _ string) { r.write("name: x # me\n"); r.doc.Reload() }, 0},
		"nothing: a mistake in the host document":     {func(r *rig, _ string) { r.write("name: [\n"); r.doc.Reload() }, 0},
		"nothing: withdrawn what was never there":     {func(r *rig, _ string) { r.s.Withdraw("q") }, 0},
		"nothing: a plugin that is refused":           {func(r *rig, _ string) { _ = r.s.Register(fields[0]) }, 0},
		"nothing: what was so already, in a document": {func(r *rig, _ string) { r.set(global, "k", nil) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := watched(t, c.do); got != c.want {
				t.Errorf("told %d times, want %d", got, c.want)
			}
		})
	}
}

func TestRegistration(t *testing.T) {
	r := open(t, setup{})
	for name, p := range map[string]field.Plugin{
		"decisions C5 a secret":    plugin(field.Field{Key: "k", Secret: true})[0],
		"a key twice":              plugin(field.Field{Key: "k"}, field.Field{Key: "k"})[0],
		"a default that is no fit": plugin(field.Field{Key: "k", Type: field.Number, Default: field.Raw("x")})[0],
		"a pattern that is none":   plugin(field.Field{Key: "k", Pattern: "("})[0],
		"a type that is none":      plugin(field.Field{Key: "k", Type: "color"})[0],
		"an id out of form":        {ID: "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := r.s.Register(p); err == nil {
				t.Error("taken")
			}
		})
	}
	t.Run("what counts for the host follows the document and the fields", func(t *testing.T) {
		r := open(t, setup{plugins: plugin(field.Field{Key: "k", Default: field.Raw("d")}), document: "settings: {global: {p: {k: a}}}\n"})
		got := []string{}
		ask := func() { got = append(got, string(r.s.Global("p", "k"))) }
		ask()
		ask()
		r.set(global, "k", nil)
		ask()
		r.s.Withdraw("p")
		ask()
		if err := r.s.Register(plugin(field.Field{Key: "k", Default: field.Raw("e")})[0]); err != nil {
			t.Fatal(err)
		}
		ask()
		same(t, "values", got, []string{`"a"`, `"a"`, `"d"`, "", `"e"`})
	})
	t.Run("an id that is taken panics at the start", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("it went on")
			}
		}()
		settings.New(settings.Options{Document: r.doc, Plugins: []field.Plugin{{ID: "p"}, {ID: "p"}}})
	})
}

// Whatever is written where, in any order: what counts is what the narrowest layer says.
func TestAnyWrites(t *testing.T) {
	fields := plugin(field.Field{Key: "a", Default: field.Raw("d")}, field.Field{Key: "b"})
	r := open(t, setup{types: platform, plugins: fields})
	s, room := r.session(), r.room("1")
	child := r.child(room)
	// What each stands on, narrowest first.
	chains := map[string][]any{
		s: {s, home, webui, global}, room: {room, window(room), groups, onebot, global}, child: {child, room, window(room), groups, onebot, global},
	}
	places := []any{global, webui, onebot, groups, home, window(room), s, room, child}
	rapid.Check(t, func(rt *rapid.T) {
		model := map[any]map[string]string{}
		for _, at := range places {
			for _, key := range []string{"a", "b"} {
				r.set(at, key, nil)
			}
		}
		for range rapid.IntRange(1, 20).Draw(rt, "writes") {
			at := rapid.SampledFrom(places).Draw(rt, "at")
			key := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "key")
			value := rapid.SampledFrom([]any{nil, "x", "y", "two\nlines", "# z"}).Draw(rt, "value")
			r.set(at, key, value)
			if model[at] == nil {
				model[at] = map[string]string{}
			}
			delete(model[at], key)
			if value != nil {
				model[at][key] = string(field.Raw(value))
			}
		}
		again, err := settings.OpenDocument(settings.DocumentOptions{Path: r.path})
		if err != nil {
			rt.Fatal(err)
		}
		for id, chain := range chains {
			for _, key := range []string{"a", "b"} {
				want := map[string]string{"a": `"d"`}[key]
				for i := len(chain) - 1; i >= 0; i-- {
					if v, set := model[chain[i]][key]; set {
						want = v
					}
				}
				values, err := r.s.Resolve(t.Context(), id, "webui", "p")
				if err != nil || string(values[key]) != want {
					rt.Fatalf("%s of %s: %s (%v), want %s", key, id, values[key], err, want)
				}
			}
		}
		for key, v := range model[global] {
			if got := fmt.Sprintf("%q", again.Get("settings", "global", "p", key)); got != fmt.Sprintf("%q", unquote(v)) {
				rt.Fatalf("the file has %s for %s", got, v)
			}
		}
	})
}

func unquote(v string) (s string) {
	_ = json.Unmarshal([]byte(v), &s)
	return s
}

func TestATurnRecordsWhatItBeganWith(t *testing.T) {
	dir := t.TempDir()
	st, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	doc, err := settings.OpenDocument(settings.DocumentOptions{Path: dir + "/config.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	s := settings.New(settings.Options{Document: doc, Plugins: plugin(field.Field{Key: "k"}, field.Field{Key: "long"}, field.Field{Key: "none"})})
	loop, err := core.New(core.Options{Store: st, Effective: func(rows core.SettingRows, session store.Session, platform string) (map[string]json.RawMessage, error) {
		return s.Effective(rows, session, platform, "p")
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Attach(loop)
	done := make(chan error, 1)
	go func() { done <- loop.Run(t.Context()) }()
	t.Cleanup(func() { <-done })
	r := &rig{t: t, loop: loop, s: s}
	id := r.session()
	r.set(id, "k", "v")
	r.set(id, "long", strings.Repeat("x", 1000))
	turn := r.do(core.SendInput{Actor: owner, Session: id, Input: event.Input{Text: "hi"}}).TurnID
	var start event.TurnStart
	if err := loop.Read(t.Context(), func(tx *store.ReadTx) error {
		row, err := tx.Turn(turn)
		if err != nil {
			return err
		}
		e, _, err := tx.EventAt(row.SID, row.StartedSeq)
		start, _ = e.Payload.(event.TurnStart)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if start.Platform != "webui" || string(start.Settings["k"]) != `"v"` || len(start.Settings) != 2 {
		t.Errorf("%+v", start)
	}
	if long := string(start.Settings["long"]); len(long) > 120 || !strings.Contains(long, `"bytes":1002`) {
		t.Errorf("a long text is repeated: %s", long)
	}
}
