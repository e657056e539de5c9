package text

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"
)

var param = regexp.MustCompile(`\{[a-z_]+\}`)

func TestEverySentenceStandsInBothLanguagesWithTheSameParameters(t *testing.T) {
	for key, e := range catalogue {
		en, zh := param.FindAllString(e.en, -1), param.FindAllString(e.zh, -1)
		slices.Sort(en)
		slices.Sort(zh)
		if e.en == "" || e.zh == "" || !slices.Equal(slices.Compact(en), slices.Compact(zh)) {
			t.Errorf("%s: en %q, zh %q", key, e.en, e.zh)
		}
	}
}

func TestRendering(t *testing.T) {
	inner := New("place.default")
	cases := []struct {
		name string
		text Text
		lang Language
		want string
	}{
		{"English", New("session.not-found", "id", "x"), English, "There is no session x."},
		{"Chinese", New("session.not-found", "id", "x"), Chinese, "没有会话 x。"},
		{"a number", New("session.title-long", "max", 200, "n", 201), English, "A title may have at most 200 characters; this one has 201."},
		{"a sentence inside another", New("session.default-name", "time", inner), Chinese, "会话 默认工作区"},
		{"words of others", Plain("429 slow down"), Chinese, "429 slow down"},
		{"a parameter that looks like one", New("session.not-found", "id", "{id}"), English, "There is no session {id}."},
		{"a key of a newer program", Text{Key: "from.tomorrow"}, English, "from.tomorrow"},
		{"nothing", Text{}, English, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.text.In(c.lang); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			// What has been through the log reads the same.
			b, err := json.Marshal(c.text)
			if err != nil {
				t.Fatal(err)
			}
			var back Text
			if err := json.Unmarshal(b, &back); err != nil {
				t.Fatal(err)
			}
			if got := back.In(c.lang); got != c.want {
				t.Errorf("through the log: got %q, want %q", got, c.want)
			}
		})
	}
}

func TestParseLanguage(t *testing.T) {
	for in, want := range map[string]Language{"zh_CN.UTF-8": Chinese, "zh": Chinese, "zh-Hant-TW": Chinese, "en_GB": English, "EN": English, "de_DE": "", "": "", "C.UTF-8": ""} {
		if got, _ := ParseLanguage(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}
