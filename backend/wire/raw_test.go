package wire

import (
	"encoding/json"
	"testing"
)

func TestRawPassesUnchanged(t *testing.T) {
	type holder struct {
		Object Object `json:"object"`
		Value  Value  `json:"value,omitzero"`
	}
	for _, text := range []string{
		`{"object":{"key":"session.not-found","params":{"id":1.0}},"value":[12345678901234567890,"\u003c",null]}`,
		`{"object":{},"value":null}`,
		`{"object":{"z":1,"a":2}}`,
	} {
		var h holder
		if err := json.Unmarshal([]byte(text), &h); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(h); err != nil || string(got) != text {
			t.Errorf("%s %v, want %s", got, err, text)
		}
	}
	t.Run("an object that was never set is empty, a value absent", func(t *testing.T) {
		if got, err := json.Marshal(holder{}); err != nil || string(got) != `{"object":{}}` {
			t.Errorf("%s %v", got, err)
		}
	})
	t.Run("only an object is an object", func(t *testing.T) {
		for _, text := range []string{`{"object":[]}`, `{"object":"{}"}`, `{"object":null}`} {
			if err := json.Unmarshal([]byte(text), new(holder)); err == nil {
				t.Errorf("%s was taken", text)
			}
		}
	})
}
