// Package text owns every sentence the program says to people: keys, the zh-CN and en catalogues,
// and rendering in the reader's language. It never decides which language a reader has. Raw data (tool
// arguments, output, facts) is kept as it came; where it is shown, Visible and Brief make it readable
// without deceit.
//
// A sentence is kept as a Text (key and parameters) inside the program and in the log, and becomes
// a string only when a frame is sent (Spec SP-I18N-01), so a change of language reaches the next
// frame. To add one: a line in the catalogue_<area>.go whose area says it; both languages stand in
// that one line, so neither can be forgotten.
package text

import (
	"fmt"
	"strings"
)

// Language is a BCP 47 tag the catalogues speak.
type Language string

// The languages of the catalogues.
const (
	Chinese Language = "zh-CN"
	English Language = "en"
)

// ParseLanguage maps a host setting or a locale such as "zh_CN.UTF-8" to a catalogue language.
// ok is false for a language no catalogue speaks.
func ParseLanguage(s string) (lang Language, ok bool) {
	s = strings.ToLower(strings.ReplaceAll(s, "_", "-"))
	if cut := strings.IndexAny(s, ".@"); cut >= 0 {
		s = s[:cut]
	}
	switch {
	case s == "zh" || strings.HasPrefix(s, "zh-"):
		return Chinese, true
	case s == "en" || strings.HasPrefix(s, "en-"):
		return English, true
	}
	return "", false
}

// Key names a sentence of the catalogues, for example "session.not-found".
type Key string

// Text is one sentence for people. The zero value renders as the empty string.
// Exactly one of Key and Raw is set; Raw is for words that come from elsewhere (a model server's
// own message) and are the same in every language.
type Text struct {
	Key    Key            `json:"key,omitempty"`
	Params map[string]any `json:"params,omitempty"`
	Raw    string         `json:"raw,omitempty"`
}

// New makes a Text from a key and alternating parameter names and values. Values may be strings,
// numbers or other Texts. It panics on an odd number of arguments, a name that is not a string, or
// a key no catalogue has: all three are mistakes of the program.
func New(key Key, args ...any) Text {
	if _, known := catalogue[key]; !known {
		panic("text: unknown key " + string(key))
	}
	if len(args) == 0 {
		return Text{Key: key}
	}
	if len(args)%2 != 0 {
		panic("text: odd arguments for " + string(key))
	}
	params := make(map[string]any, len(args)/2)
	for i := 0; i < len(args); i += 2 {
		params[args[i].(string)] = args[i+1]
	}
	return Text{Key: key, Params: params}
}

// Plain wraps words that are not ours to translate.
func Plain(s string) Text { return Text{Raw: s} }

// IsZero reports whether there is nothing to say.
func (t Text) IsZero() bool { return t.Key == "" && t.Raw == "" }

// In renders t in the given language. A key that this build does not know (written by a newer one)
// renders as the key itself, so that nothing is silently empty.
func (t Text) In(lang Language) string {
	if t.Key == "" {
		return t.Raw
	}
	entry, known := catalogue[t.Key]
	if !known {
		return string(t.Key)
	}
	pattern := entry.en
	if lang == Chinese {
		pattern = entry.zh
	}
	if len(t.Params) == 0 {
		return pattern
	}
	pairs := make([]string, 0, 2*len(t.Params))
	for name, value := range t.Params {
		pairs = append(pairs, "{"+name+"}", render(value, lang))
	}
	return strings.NewReplacer(pairs...).Replace(pattern)
}

// String renders in English, for logs and test failures.
func (t Text) String() string { return t.In(English) }

func render(value any, lang Language) string {
	switch v := value.(type) {
	case Text:
		return v.In(lang)
	case string:
		return v
	case map[string]any: // a Text that has been through the log
		t := Text{}
		if key, ok := v["key"].(string); ok {
			t.Key = Key(key)
		}
		t.Raw, _ = v["raw"].(string)
		t.Params, _ = v["params"].(map[string]any)
		return t.In(lang)
	case float64:
		if v == float64(int64(v)) {
			return fmt.Sprint(int64(v))
		}
	}
	return fmt.Sprint(value)
}
