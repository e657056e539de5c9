package settings_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/core"
	"aalis/backend/settings"
	"aalis/backend/settings/field"
	"aalis/backend/text"
)

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, -want +got:\n%s", what, diff)
	}
}

func TestRows(t *testing.T) {
	at := func(n float64) *float64 { return &n }
	t.Run("SP-CONF-05 SP-CONF-30 composer, common, advanced, each by its order, those without last", func(t *testing.T) {
		spec := func(key string, p field.Prominence, order *float64) field.Field {
			return field.Field{Key: key, Session: field.Spec{Prominence: p, Order: order, Group: key}}
		}
		r := open(t, setup{plugins: plugin(
			spec("plain", "", nil), spec("adv", field.Advanced, at(1)), spec("com", field.Common, nil), spec("com2", field.Common, at(2)),
			spec("com1", field.Common, at(1)), spec("top", field.Composer, nil), spec("top0", field.Composer, at(0)),
		)})
		same(t, "order", keys(r.rows(r.session())), []string{"top0", "top", "com1", "com2", "com", "adv", "plain"})
	})
	t.Run("SP-CONF-31 at most two of a group stay in the composer", func(t *testing.T) {
		spec := func(key, group string, order float64) field.Field {
			return field.Field{Key: key, Session: field.Spec{Prominence: field.Composer, Order: &order, Group: group}}
		}
		r := open(t, setup{plugins: plugin(spec("c", "", 3), spec("b", "", 2), spec("x", "other", 9), spec("a", "", 1), spec("d", "", 4))})
		rows := r.rows(r.session())
		same(t, "order", keys(rows), []string{"a", "b", "x", "c", "d"})
		var got []field.Prominence
		for _, row := range rows.Items {
			got = append(got, row.Prominence)
			if row.Field.Session.Prominence != field.Composer {
				t.Error("SP-CONF-04 the declaration itself was changed")
			}
		}
		same(t, "prominence", got, []field.Prominence{field.Composer, field.Composer, field.Composer, field.Common, field.Common})
	})
	t.Run("SP-CONF-06 SP-CONF-08 SP-CONF-09 value is what stands here, effective what counts, source where it is from", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: plugin(field.Field{Key: "k", Default: field.Raw("d")}, field.Field{Key: "bare"})})
		s := r.session()
		same(t, "nothing set", show(r.rows(s), "k"), `- "d" default`)
		same(t, "nothing at all", show(r.rows(s), "bare"), "- -")
		for _, step := range []struct {
			at    any
			want  string
			value string
		}{{global, `- "1" global`, "1"}, {webui, `- "2" platform`, "2"}, {home, `- "3" place`, "3"}, {s, `"4" "4" session`, "4"}} {
			r.set(step.at, "k", step.value)
			same(t, "session", show(r.rows(s), "k"), step.want)
		}
		same(t, "global", show(r.layer(global), "k"), `"1" "1" global`)
		same(t, "platform", show(r.layer(webui), "k"), `"2" "2" platform`)
		same(t, "SP-CONF-37 a workspace stands on global alone", show(r.layer(home), "k"), `"3" "3" place`)
		r.set(home, "k", nil)
		same(t, "SP-CONF-37 a workspace stands on global alone", show(r.layer(home), "k"), `- "1" global`)
	})
	t.Run("SP-CONF-07 an invalid value is shown and never counts", func(t *testing.T) {
		r := open(t, setup{
			types: platform, plugins: plugin(field.Field{Key: "n", Type: field.Number, Max: at(9), Default: field.Raw(1)}),
			document: "settings: {global: {p: {n: 10}}, platforms: {webui: {p: {n: 5}}}}\n",
		})
		same(t, "global", show(r.layer(global), "n"), "10 1 default")
		same(t, "session", show(r.rows(r.session()), "n"), "- 5 platform")
	})
	t.Run("SP-CONF-10 actual only where nothing counts", func(t *testing.T) {
		known := true
		f := field.Field{Key: "k", Actual: func() (field.Actual, bool) {
			return field.Actual{Value: field.Raw("now"), Label: text.Plain("follows")}, known
		}}
		r := open(t, setup{plugins: plugin(f)})
		got := r.layer(global).Items[0].Actual
		if got == nil || string(got.Value) != `"now"` {
			t.Errorf("actual: %+v", got)
		}
		known = false
		if got := r.layer(global).Items[0].Actual; got != nil {
			t.Errorf("what is not known is told: %+v", got)
		}
		known = true
		if got := r.set(global, "k", "x").Items[0].Actual; got != nil {
			t.Errorf("beside an effective value: %+v", got)
		}
	})
	t.Run("SP-CONF-26 SP-CONF-27 SP-CONF-28 which places list which fields", func(t *testing.T) {
		spec := func(key string, kinds ...field.Kind) field.Field {
			return field.Field{Key: key, Session: field.Spec{AppliesTo: kinds}}
		}
		none := field.Field{Key: "none", Session: field.Spec{AppliesTo: []field.Kind{}}}
		wide := field.Field{Key: "wide", Session: field.Spec{PlaceOnly: true}}
		r := open(t, setup{types: platform, plugins: plugin(spec("all"), none, spec("owner", field.Owner), spec("room", field.Room), spec("task", field.Task), wide)})
		s, room := r.session(), r.room("1")
		task, all := r.child(room), []string{"all", "none", "owner", "room", "task", "wide"}
		same(t, "an owner's session", keys(r.rows(s)), []string{"all", "owner"})
		same(t, "a room", keys(r.rows(room)), []string{"all", "room"})
		same(t, "a sub-session", keys(r.rows(task)), []string{"all", "task"})
		same(t, "global", keys(r.layer(global)), all)
		same(t, "platform", keys(r.layer(onebot)), all)
		same(t, "platform type", keys(r.layer(groups)), []string{"all", "room", "task", "wide"})
		same(t, "window", keys(r.layer(window(room))), []string{"all", "room", "wide"})
		same(t, "workspace", keys(r.layer(home)), []string{"all", "owner", "wide"})
	})
	t.Run("SP-CONF-29 fields of a plugin that is away are not listed, and their values wait", func(t *testing.T) {
		r := open(t, setup{plugins: plugin(field.Field{Key: "k"})})
		s := r.session()
		r.set(global, "k", "g")
		r.set(s, "k", "s")
		r.s.Withdraw("p")
		if got := append(keys(r.rows(s)), keys(r.layer(global))...); len(got) != 0 {
			t.Errorf("listed: %v", got)
		}
		_, err := r.try(s, "k", "x")
		invalid(t, err)
		if err := r.s.Register(plugin(field.Field{Key: "k"})[0]); err != nil {
			t.Fatal(err)
		}
		same(t, "session", show(r.rows(s), "k"), `"s" "s" session`)
		same(t, "global", show(r.layer(global), "k"), `"g" "g" global`)
	})
}

func TestWhichLayers(t *testing.T) {
	one := plugin(field.Field{Key: "k"})
	t.Run("SP-CONF-37 each layer on top of those that it stands on", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: one})
		room := r.room("1")
		r.set(window(room), "k", "place")
		r.set(groups, "k", "type")
		r.set(onebot, "k", "platform")
		r.set(global, "k", "global")
		for _, step := range []struct {
			clear settings.Layer
			want  []string // window, type, platform
		}{
			{settings.Layer{}, []string{`"place" "place" place`, `"type" "type" platformType`, `"platform" "platform" platform`}},
			{window(room), []string{`- "type" platformType`, `"type" "type" platformType`, `"platform" "platform" platform`}},
			{groups, []string{`- "platform" platform`, `- "platform" platform`, `"platform" "platform" platform`}},
			{onebot, []string{`- "global" global`, `- "global" global`, `- "global" global`}},
		} {
			if step.clear != (settings.Layer{}) {
				r.set(step.clear, "k", nil)
			}
			got := []string{show(r.layer(window(room)), "k"), show(r.layer(groups), "k"), show(r.layer(onebot), "k")}
			same(t, "window, type, platform", got, step.want)
		}
	})
	t.Run("SP-CONF-38 SP-CONF-40 SP-CONF-41 a sub-session goes by its root, and by itself last", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: one})
		room := r.room("1")
		child := r.child(r.child(room))
		for _, step := range []struct {
			at   any
			want string
		}{
			{onebot, `- "a" platform`}, {groups, `- "a" platformType`}, {window(room), `- "a" place`}, {room, `- "a" session`}, {child, `"a" "a" session`},
		} {
			r.set(step.at, "k", "a")
			rows := r.rows(child)
			same(t, "the grandchild", show(rows, "k"), step.want)
			same(t, "its platform", rows.Platform, "onebot")
		}
		r.set(child, "k", "own")
		same(t, "the root", show(r.rows(room), "k"), `"a" "a" session`)
	})
	t.Run("SP-CONF-13 SP-CONF-39 birth platform, else who claims the id, else who asks", func(t *testing.T) {
		claimed := ""
		r := open(t, setup{types: platform, plugins: one, claims: func(id string) string {
			if id == claimed {
				return "terminal"
			}
			return ""
		}})
		ask := func(id string) string {
			rows, err := r.s.Session(context.Background(), id, "cli")
			if err != nil {
				t.Fatal(err)
			}
			return rows.Platform
		}
		s, room := r.session(), r.room("1")
		child := r.child(s)
		same(t, "born on a platform", ask(room), "onebot")
		same(t, "of the connection", ask(child), "cli")
		claimed = s
		same(t, "of the adapter that claims the root", ask(child), "terminal")
		r.set(webui, "k", "w")
		values, err := r.s.Resolve(t.Context(), child, "", "p")
		if err != nil || values["k"] != nil {
			t.Errorf("%s %v", values["k"], err)
		}
		claimed = ""
		if values, err = r.s.Resolve(t.Context(), child, "", "p"); err != nil || string(values["k"]) != `"w"` {
			t.Errorf("of nobody, so of the host: %s %v", values["k"], err)
		}
	})
	t.Run("SP-CONF-40 a type's layer counts only in windows of the type", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: one, document: "settings: {types: {webui: {group: {p: {k: x}}}, onebot: {private: {p: {k: y}}}}}\n"})
		same(t, "no window", show(r.rows(r.session()), "k"), "- -")
		same(t, "another type", show(r.rows(r.room("1")), "k"), "- -")
	})
	t.Run("SP-CONF-41 SP-CONF-42 a session that nobody filed has rows and no place", func(t *testing.T) {
		r := open(t, setup{types: platform, plugins: one})
		r.set(home, "k", "place")
		same(t, "a filed one", show(r.rows(r.session()), "k"), `- "place" place`)
		same(t, "a stranger", show(r.rows("nobody"), "k"), "- -")
		r.set(webui, "k", "platform")
		same(t, "a stranger", show(r.rows("nobody"), "k"), `- "platform" platform`)
	})
	t.Run("SP-CONF-15 the table of layers", func(t *testing.T) {
		var got []settings.Scope
		for _, l := range settings.Order() {
			got = append(got, l.Scope)
			if l.Label.In(text.Chinese) == l.Label.In(text.English) {
				t.Errorf("%s is called %q in both languages", l.Scope, l.Label)
			}
		}
		same(t, "order", got, []settings.Scope{"global", "platform", "platformType", "place", "session"})
	})
}

func TestTheListOfLayers(t *testing.T) {
	r := open(t, setup{types: platform, plugins: plugin(field.Field{Key: "k"}), document: `settings:
  platforms: {gone: {p: {k: x}}}
  types: {onebot: {channel: {p: {k: x}}}, other: {wide: {p: {k: x}}}}
`})
	r.session()
	room := r.room("1")
	r.do(core.SetPlaceSetting{Place: "workspace:books", Plugin: "p", Key: "k", Value: field.Raw("v")})
	r.do(core.SetPlaceSetting{Place: "window:onebot:7:private:9", Plugin: "p", Key: "k", Value: field.Raw("v")})
	layers := func() (all []string) {
		list, err := r.s.Layers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list {
			all = append(all, string(l.Layer.Scope)+" "+l.Layer.Platform+l.Layer.Type+l.Layer.Place+" | "+l.Label.In(text.Chinese)+" | "+l.Platform+l.Type)
		}
		return all
	}
	want := []string{
		"global  |  | ",
		"platform webui |  | ", "platform onebot |  | ", "platform gone |  | ",
		"platformType onebotgroup | Group chat | ", "platformType onebotprivate |  | ", "platformType onebotchannel |  | ", "platformType otherwide |  | ",
		"place workspace:default | 默认工作区 | ", "place workspace:books | 工作区「books」 | ",
		"place window:onebot:7:group:1 | Group chat crew 1 | onebotgroup", "place window:onebot:7:private:9 | private window:onebot:7:private:9 | onebotprivate",
	}
	t.Run("SP-CONF-18 to SP-CONF-25 all of them, in order, by their names", func(t *testing.T) { same(t, "layers", layers(), want) })
	t.Run("SP-CONF-20 the layer of a platform that is away goes with its last value", func(t *testing.T) {
		gone := settings.Layer{Scope: settings.PlatformScope, Platform: "gone"}
		same(t, "its rows, once more", show(r.set(gone, "k", nil), "k"), "- -")
		same(t, "layers", layers(), slices.DeleteFunc(slices.Clone(want), func(l string) bool { return l == "platform gone |  | " }))
	})
	t.Run("SP-CONF-23 a deleted room's window stays only while something is set there", func(t *testing.T) {
		r.set(window(room), "k", "v")
		r.do(core.DeleteSession{Actor: owner, Session: room})
		if !slices.Contains(layers(), want[10]) {
			t.Errorf("lost with its value: %v", layers())
		}
		r.set(window(room), "k", nil)
		if slices.Contains(layers(), want[10]) {
			t.Error("still there with nothing in it")
		}
	})
}

func TestOverrides(t *testing.T) {
	r := open(t, setup{types: platform, plugins: append(plugin(field.Field{Key: "b"}, field.Field{Key: "a"}), field.Plugin{ID: "q", Fields: []field.Field{{Key: "a", Type: field.String}}})})
	s, room := r.session(), r.room("1")
	child := r.child(s)
	for _, at := range []any{global, onebot, groups, home, window(room), s, child} {
		r.set(at, "a", "v")
	}
	r.set(s, "b", "x")
	r.set(s, "q/a", "other plugin's")
	overrides := func(plugin string) []string {
		all, err := r.s.Overrides(t.Context(), plugin)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, o := range all {
			for _, e := range o.Entries {
				line := o.Key + " " + string(e.Value) + " "
				if e.Layer != nil {
					line += string(e.Layer.Layer.Scope) + " " + e.Layer.Layer.Platform + e.Layer.Layer.Type + e.Layer.Layer.Place
				} else {
					line += "session " + e.Session.ID
					if e.Parent != nil {
						line += " below " + e.Parent.ID
					}
				}
				got = append(got, line)
			}
		}
		return got
	}
	t.Run("SP-CONF-63 SP-CONF-64 SP-CONF-65 every place but global, by field, sub-sessions one by one", func(t *testing.T) {
		same(t, "overrides", overrides("p"), []string{
			`b "x" session ` + s,
			`a "v" platform onebot`, `a "v" platformType onebotgroup`, `a "v" place window:` + room, `a "v" place workspace:default`,
			`a "v" session ` + s, `a "v" session ` + child + " below " + s,
		})
	})
	t.Run("SP-CONF-66 of nobody, or of nothing", func(t *testing.T) {
		same(t, "unknown", overrides("nobody"), []string{})
		r.set(s, "q/a", nil)
		same(t, "nothing written", overrides("q"), []string{})
	})
	t.Run("those of deleted sessions are gone with them", func(t *testing.T) {
		r.do(core.DeleteSession{Actor: owner, Session: s})
		same(t, "overrides", overrides("p"), []string{
			`a "v" platform onebot`, `a "v" platformType onebotgroup`, `a "v" place window:` + room, `a "v" place workspace:default`,
		})
	})
}
