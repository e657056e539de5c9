package field

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"

	"aalis/backend/fault"
	"aalis/backend/text"
)

// MaxValue bounds one value as JSON, in bytes.
const MaxValue = 64 << 10

// Check refuses a value the field does not take, as fault.Invalid with a sentence that says what it
// takes. Options are suggestions and refuse nothing (Spec SP-CONF-50, domain 8.1).
func (f Field) Check(raw json.RawMessage) error {
	if len(raw) > MaxValue {
		return f.refuse("settings.value-large", "max", MaxValue)
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return f.refuse("settings.value-json")
	}
	if err := f.checkType(value); err != nil {
		return err
	}
	if f.Fits != nil && !f.Fits(raw) {
		return f.refuse("settings.value-unknown", "value", short(raw))
	}
	if f.Wrong != nil {
		if why := f.Wrong(raw); !why.IsZero() {
			return f.refuse("settings.value-wrong", "why", why)
		}
	}
	return nil
}

func (f Field) refuse(key text.Key, args ...any) error {
	label := f.Label
	if label.IsZero() {
		label = text.Plain(f.Key)
	}
	return fault.New(fault.Invalid, text.New(key, append([]any{"field", label}, args...)...))
}

func short(raw json.RawMessage) string {
	if len(raw) > 80 {
		return strings.ToValidUTF8(string(raw[:80]), "") + "…"
	}
	return string(raw)
}

func (f Field) checkType(value any) error {
	switch f.Type {
	case String, TextArea:
		return f.checkString(value)
	case Number:
		return f.checkNumber(value)
	case Boolean:
		if _, ok := value.(bool); !ok {
			return f.refuse("settings.want-boolean")
		}
	case Select:
		return f.checkScalar(value)
	case MultiSelect:
		return f.each(value, f.checkScalar)
	case List:
		return f.each(value, f.checkString)
	case Map:
		return f.checkMap(value)
	case LLMRef:
		provider, model, _ := strings.Cut(asString(value), "/")
		if provider == "" || model == "" {
			return f.refuse("settings.want-model")
		}
	}
	return nil
}

func asString(value any) string {
	s, _ := value.(string)
	return s
}

func (f Field) checkString(value any) error {
	s, ok := value.(string)
	if !ok {
		return f.refuse("settings.want-text")
	}
	if f.Required && strings.TrimSpace(s) == "" {
		return f.refuse("settings.want-something")
	}
	if f.Pattern != "" && !regexp.MustCompile(f.Pattern).MatchString(s) { // Verify has compiled it
		return f.refuse("settings.want-form", "form", f.Pattern)
	}
	return nil
}

func (f Field) checkNumber(value any) error {
	n, ok := value.(float64)
	switch {
	case !ok:
		return f.refuse("settings.want-number")
	case f.Integer && n != math.Trunc(n):
		return f.refuse("settings.want-integer")
	case f.Min != nil && n < *f.Min:
		return f.refuse("settings.want-least", "min", *f.Min)
	case f.Max != nil && n > *f.Max:
		return f.refuse("settings.want-most", "max", *f.Max)
	}
	return nil
}

// checkScalar takes what a select offers. One with a form offers texts alone.
func (f Field) checkScalar(value any) error {
	switch v := value.(type) {
	case string:
		return f.checkString(v)
	}
	if f.Pattern != "" {
		return f.refuse("settings.want-text")
	}
	switch v := value.(type) {
	case float64:
		return f.checkNumber(v)
	case bool:
		return nil
	}
	return f.refuse("settings.want-choice")
}

func (f Field) each(value any, check func(any) error) error {
	list, ok := value.([]any)
	if !ok {
		return f.refuse("settings.want-list")
	}
	if f.Required && len(list) == 0 {
		return f.refuse("settings.want-something")
	}
	for _, v := range list {
		if err := check(v); err != nil {
			return err
		}
	}
	return nil
}

func (f Field) checkMap(value any) error {
	object, ok := value.(map[string]any)
	if !ok {
		return f.refuse("settings.want-map")
	}
	if f.Required && len(object) == 0 {
		return f.refuse("settings.want-something")
	}
	for _, v := range object {
		if err := f.checkString(v); err != nil {
			return err
		}
	}
	return nil
}
