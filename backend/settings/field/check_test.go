package field_test

import (
	"encoding/json"
	"strings"
	"testing"

	"aalis/backend/fault"
	"aalis/backend/settings/field"
	"aalis/backend/text"
)

func TestCheck(t *testing.T) {
	at := func(n float64) *float64 { return &n }
	bounded := field.Field{Type: field.Number, Min: at(1), Max: at(3), Integer: true}
	formed := field.Field{Type: field.String, Pattern: "^a+$"}
	needed := field.Field{Type: field.String, Required: true}
	options := []field.Option{{Value: field.Raw("a")}}
	for name, c := range map[string]struct {
		f        field.Field
		yes, no  string // JSON values, separated by spaces
		sentence text.Key
	}{
		"string":          {field.Field{Type: field.String}, `"" "x" "a\nb"`, `1 true null [] {}`, "settings.want-text"},
		"textarea":        {field.Field{Type: field.TextArea}, `"" "a\nb"`, `1 []`, "settings.want-text"},
		"number":          {field.Field{Type: field.Number}, `0 -1.5 1e3`, `"1" true null`, "settings.want-number"},
		"boolean":         {field.Field{Type: field.Boolean}, `true false`, `0 "true" null`, "settings.want-boolean"},
		"select":          {field.Field{Type: field.Select, Options: options}, `"a" "other" 3 true`, `[] {} null`, "settings.want-choice"},
		"multiselect":     {field.Field{Type: field.MultiSelect, Options: options}, `[] ["a"] ["other",3,true]`, `"a" {} null`, "settings.want-list"},
		"of multiselect":  {field.Field{Type: field.MultiSelect}, `[]`, `[[]] [null] [{}]`, "settings.want-choice"},
		"list":            {field.Field{Type: field.List}, `[] ["a","a"]`, `"a" {}`, "settings.want-list"},
		"of list":         {field.Field{Type: field.List}, `[]`, `[1] [null]`, "settings.want-text"},
		"map":             {field.Field{Type: field.Map}, `{} {"a":"b"}`, `[] "a" null`, "settings.want-map"},
		"of map":          {field.Field{Type: field.Map}, `{}`, `{"a":1} {"a":null}`, "settings.want-text"},
		"llm-ref":         {field.Field{Type: field.LLMRef}, `"local/m" "a/b/c"`, `"m" "/m" "local/" 1 {"provider":"local","model":"m"}`, "settings.want-model"},
		"whole numbers":   {bounded, `1 2.0 3`, `1.5`, "settings.want-integer"},
		"least":           {bounded, `1`, `0 -1`, "settings.want-least"},
		"most":            {bounded, `3`, `4 1e9`, "settings.want-most"},
		"form":            {formed, `"a" "aa"`, `"" "ab"`, "settings.want-form"},
		"form, anywhere":  {field.Field{Type: field.String, Pattern: "b"}, `"abc"`, `"ac"`, "settings.want-form"},
		"form of a list":  {field.Field{Type: field.List, Pattern: "^a"}, `["a"]`, `["b"]`, "settings.want-form"},
		"form, selected":  {field.Field{Type: field.Select, Pattern: "^a"}, `"a"`, `"b"`, "settings.want-form"},
		"texts, selected": {field.Field{Type: field.Select, Pattern: "^a"}, `"a"`, `1 true`, "settings.want-text"},
		"something":       {needed, `"x"`, `"" "__"`, "settings.want-something"},
		"something of it": {field.Field{Type: field.List, Required: true}, `["x"]`, `[]`, "settings.want-something"},
		"what fits":       {field.Field{Type: field.String, Fits: func(v json.RawMessage) bool { return string(v) == `"x"` }}, `"x"`, `"y"`, "settings.value-unknown"},
		"JSON":            {field.Field{Type: field.String}, `"x"`, `x`, "settings.value-json"},
		"size":            {field.Field{Type: field.String}, `"x"`, `"` + strings.Repeat("x", field.MaxValue) + `"`, "settings.value-large"},
	} {
		t.Run("SP-CONF-50 "+name, func(t *testing.T) {
			c.f.Key = "k"
			for _, v := range strings.Fields(c.yes) {
				if err := c.f.Check(json.RawMessage(v)); err != nil {
					t.Errorf("%s: %v", v, err)
				}
			}
			for _, v := range strings.Fields(c.no) {
				v = strings.ReplaceAll(v, "__", "  ")
				err := c.f.Check(json.RawMessage(v))
				if !fault.Is(err, fault.Invalid) || fault.Of(err).Message.Key != c.sentence {
					t.Errorf("%.40s: %v, want %s", v, err, c.sentence)
				}
			}
		})
	}
}

func TestListing(t *testing.T) {
	all := field.Choices{Choices: []field.Choice{{Value: "a", Label: text.New("settings.language")}, {Value: "b"}}, Problems: []text.Text{text.Plain("down")}}
	got, err := json.Marshal(all.In(text.Chinese))
	if want := `{"models":["a","b"],"details":[{"value":"a","label":"语言"},{"value":"b","label":"b"}],"problems":["down"]}`; string(got) != want || err != nil {
		t.Errorf("decisions C16: %s %v", got, err)
	}
	if got, err := json.Marshal(field.Choices{}.In(text.English)); string(got) != `{"models":[]}` || err != nil {
		t.Errorf("nothing: %s %v", got, err)
	}
}
