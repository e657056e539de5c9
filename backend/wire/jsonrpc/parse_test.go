package jsonrpc

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name  string
		frame string
		code  int // 0: a request
		id    ID
	}{
		{"SP-FRAME-01 a whole request", `{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`, 0, "1"},
		{"SP-FRAME-02 params may be left out", `{"jsonrpc":"2.0","id":"a","method":"m"}`, 0, `"a"`},
		{"SP-PKG-10 unknown keys beside the four are no mistake", `{"jsonrpc":"2.0","id":1,"method":"m","meta":{"a":1}}`, 0, "1"},
		{"space around everything", " {\n\"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"method\" : \"m\" }\t", 0, "1"},

		{"SP-FRAME-09 not JSON", `{`, ParseError, ""},
		{"SP-FRAME-09 empty", ``, ParseError, ""},
		{"SP-FRAME-09 two values", `{"jsonrpc":"2.0","id":1,"method":"m"} {}`, ParseError, ""},
		{"SP-FRAME-09 not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", ParseError, ""},

		{"SP-FRAME-10 without id", `{"jsonrpc":"2.0","method":"m"}`, InvalidRequest, ""},
		{"SP-FRAME-10 id null", `{"jsonrpc":"2.0","id":null,"method":"m"}`, InvalidRequest, ""},
		{"SP-FRAME-10 id true", `{"jsonrpc":"2.0","id":true,"method":"m"}`, InvalidRequest, ""},
		{"SP-FRAME-10 id an object", `{"jsonrpc":"2.0","id":{},"method":"m"}`, InvalidRequest, ""},
		{"keys are matched by case", `{"jsonrpc":"2.0","ID":1,"method":"m"}`, InvalidRequest, ""},

		{"SP-FRAME-11 without jsonrpc", `{"id":7,"method":"m"}`, InvalidRequest, "7"},
		{"SP-FRAME-11 jsonrpc 1.0", `{"jsonrpc":"1.0","id":"x","method":"m"}`, InvalidRequest, `"x"`},
		{"SP-FRAME-11 jsonrpc a number", `{"jsonrpc":2.0,"id":7,"method":"m"}`, InvalidRequest, "7"},

		{"SP-FRAME-12 params an array", `{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`, InvalidRequest, "1"},
		{"SP-FRAME-12 params a string", `{"jsonrpc":"2.0","id":1,"method":"m","params":"{}"}`, InvalidRequest, "1"},
		{"SP-FRAME-12 params a number", `{"jsonrpc":"2.0","id":1,"method":"m","params":0}`, InvalidRequest, "1"},
		{"SP-FRAME-12 params false", `{"jsonrpc":"2.0","id":1,"method":"m","params":false}`, InvalidRequest, "1"},
		{"SP-FRAME-12 params null", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, InvalidRequest, "1"},

		{"SP-FRAME-13 without method", `{"jsonrpc":"2.0","id":1}`, InvalidRequest, "1"},
		{"SP-FRAME-13 method a number", `{"jsonrpc":"2.0","id":1,"method":5}`, InvalidRequest, "1"},

		{"SP-FRAME-14 a batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, InvalidRequest, ""},
		{"SP-FRAME-14 an empty batch", `[]`, InvalidRequest, ""},
		{"SP-FRAME-14 a string", `"m"`, InvalidRequest, ""},
		{"SP-FRAME-14 a number", `5`, InvalidRequest, ""},
		{"SP-FRAME-14 null", `null`, InvalidRequest, ""},

		{"a key twice", `{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}`, InvalidRequest, "1"},
		{"a key twice, once with an escape", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"\u0061":2}}`, InvalidRequest, "1"},
		{"the id twice: none is the request's", `{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`, InvalidRequest, ""},
		{"the id three times", `{"jsonrpc":"2.0","id":1,"id":2,"id":3,"method":"m"}`, InvalidRequest, ""},
		{"the same key in two objects", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"x":1},"b":[{"x":1},{"x":2}]}}`, 0, "1"},
		{"a key twice deep inside", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"b":[{"x":1,"x":2}]}]}}`, InvalidRequest, "1"},
		{"a key twice among many", `{"jsonrpc":"2.0","id":1,"method":"m","params":{` + manyKeys(40) + `,"k3":0}}`, InvalidRequest, "1"},
		{"many keys", `{"jsonrpc":"2.0","id":1,"method":"m","params":{` + manyKeys(40) + `}}`, 0, "1"},
		{"half a surrogate pair", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\ud83d"}}`, InvalidRequest, "1"},
		{"the other half", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\ude00"}}`, InvalidRequest, "1"},
		{"the halves the wrong way round", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\ude00\ud83d"}}`, InvalidRequest, "1"},
		{"half a pair as a key", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"\ud83d":1}}`, InvalidRequest, "1"},
		{"half a pair before an escaped u", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\ud83d\\ude00"}}`, InvalidRequest, "1"},
		{"a whole pair", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\ud83d\ude00"}}`, 0, "1"},
		{"an escaped backslash before ud83d", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\\ud83d"}}`, 0, "1"},
		{"nested as deep as allowed", `{"jsonrpc":"2.0","id":1,"method":"m","params":` + nested(maxDepth-1) + `}`, 0, "1"},
		{"nested deeper", `{"jsonrpc":"2.0","method":"m","params":` + nested(maxDepth) + `,"id":1}`, InvalidRequest, "1"},
		{"nested deeper with more after it", `{"jsonrpc":"2.0","method":"m","params":{"a":` + nested(5000) + `,"b":"]}"},"id":1}`, InvalidRequest, "1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req, fail := Parse([]byte(test.frame))
			code := 0
			if fail != nil {
				code = fail.Code
			}
			if code != test.code || req.ID != test.id {
				t.Errorf("code %d id %q, want %d %q", code, req.ID, test.code, test.id)
			}
			if fail == nil && req.Method != "m" {
				t.Errorf("method %q", req.Method)
			}
		})
	}
}

func TestParseIDs(t *testing.T) {
	for _, id := range []string{`1`, `0`, `-3`, `1.5`, `1e3`, `9007199254740993`, `"1"`, `""`, `"\u0041"`, `"ü"`} {
		t.Run("SP-FRAME-08 the id "+id+" keeps its type and notation", func(t *testing.T) {
			req, fail := Parse([]byte(`{"jsonrpc":"2.0","id": ` + id + ` ,"method":"m"}`))
			if fail != nil {
				t.Fatal(fail)
			}
			got, err := Result(req.ID, struct{}{})
			if want := `{"jsonrpc":"2.0","id":` + id + `,"result":{}}`; err != nil || got != want {
				t.Errorf("%s %v, want %s", got, err, want)
			}
		})
	}
}

func manyKeys(n int) string {
	var all []string
	for i := range n {
		all = append(all, `"k`+string(rune('0'+i/10))+string(rune('0'+i%10))+`":1`)
	}
	all[3] = `"k3":1`
	return strings.Join(all, ",")
}

func nested(n int) string {
	return strings.Repeat(`{"a":`, n-1) + `{}` + strings.Repeat(`}`, n-1)
}

// FuzzParse holds Parse to what the rest of the program relies on.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,"x",null,true,{"b":"\ud83d\ude00"}]}}`,
		`{"jsonrpc":"2.0","id":"a","id":1}`, `[]`, `"\ud83d"`, `{`, `{"a":"\\"}`, "\xff", `{"\u0069d":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		before := bytes.Clone(frame)
		req, fail := Parse(frame)
		if !bytes.Equal(before, frame) {
			t.Fatal("Parse changed the frame")
		}
		if req.ID != "" {
			if !json.Valid([]byte(req.ID)) || !strings.ContainsRune(`"-0123456789`, rune(req.ID[0])) {
				t.Fatalf("id %q is neither a string nor a number", req.ID)
			}
		}
		if fail != nil {
			if fail.Code != ParseError && fail.Code != InvalidRequest {
				t.Fatalf("code %d", fail.Code)
			}
			if fail.Code == ParseError && req.ID != "" {
				t.Fatal("an id out of a frame that is not JSON")
			}
			if reply := Failure(req.ID, fail, "en"); !json.Valid([]byte(reply)) {
				t.Fatalf("reply %s", reply)
			}
			return
		}
		if req.ID == "" || !utf8.Valid(frame) || !json.Valid(frame) {
			t.Fatalf("taken for a request: %q", frame)
		}
		var whole map[string]json.RawMessage
		if err := json.Unmarshal(frame, &whole); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(whole["id"]), string(req.ID)); diff != "" {
			t.Fatal(diff)
		}
		if string(whole["params"]) != string(req.Params) {
			t.Fatalf("params %q, want %q", req.Params, whole["params"])
		}
		if req.Params != nil && req.Params[0] != '{' {
			t.Fatalf("params %q", req.Params)
		}
	})
}
