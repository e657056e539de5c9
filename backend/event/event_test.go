package event

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
)

var update = flag.Bool("update", false, "add kinds that the golden file lacks; it never changes a line that is there")

const golden = "testdata/payloads.json"

// Whatever was once written is read for ever: the file has a payload of every kind as the first
// release that had the kind wrote it, with every field set.
func TestEveryKindIsReadForEver(t *testing.T) {
	stored := map[Kind]json.RawMessage{}
	b, err := os.ReadFile(golden)
	if err == nil {
		err = json.Unmarshal(b, &stored)
	}
	if err != nil && !*update {
		t.Fatal(err)
	}
	for _, s := range kinds {
		if _, ok := stored[s.kind]; !ok {
			if !*update {
				t.Errorf("%s has no payload in %s: run go test ./backend/event -update", s.kind, golden)
				continue
			}
			p, err := s.decode([]byte("{}"))
			if err != nil {
				t.Fatal(err)
			}
			v := reflect.New(reflect.TypeOf(p)).Elem()
			fill(v, 0)
			if stored[s.kind], err = json.Marshal(v.Interface()); err != nil {
				t.Fatal(err)
			}
		}
		p, err := Decode(s.kind, stored[s.kind])
		if err != nil {
			t.Errorf("%s: %v", s.kind, err)
			continue
		}
		if p.EventKind() != s.kind {
			t.Errorf("%s is read as %s", s.kind, p.EventKind())
		}
		again, err := Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		if !sameJSON(t, again, stored[s.kind]) {
			t.Errorf("%s loses something:\nstored %s\n  read %s", s.kind, stored[s.kind], again)
		}
	}
	if *update {
		b, err := json.MarshalIndent(stored, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// fill sets every field, so that a field that is no longer read shows.
func fill(v reflect.Value, depth int) {
	if depth > 8 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("words")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Interface:
		v.Set(reflect.ValueOf("anything"))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"raw":1}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		one := reflect.New(v.Type().Elem()).Elem()
		fill(one, depth+1)
		v.SetMapIndex(reflect.ValueOf("key"), one)
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		t.Fatalf("no JSON: %s / %s", a, b)
	}
	return reflect.DeepEqual(x, y)
}

func TestKindsThisBuildDoesNotKnow(t *testing.T) {
	p, err := Decode("from.tomorrow", []byte(`{"a":[1,2]}`))
	if err != nil || p.EventKind() != "from.tomorrow" || ChatVisible(p) {
		t.Errorf("%v %v", p, err)
	}
	b, err := Encode(p)
	if err != nil || string(b) != `{"a":[1,2]}` {
		t.Errorf("%s %v", b, err)
	}
	if p, err := Decode(AgentMessage, nil); p != nil || err != nil {
		t.Errorf("an erased payload is %v, %v", p, err)
	}
	if p, err := Decode(AgentMessage, []byte(`{"text":"a","added":"later"}`)); err != nil || p.(Message).Text != "a" {
		t.Errorf("a field of a newer program: %v, %v", p, err)
	}
}

func TestIDsAreReproducibleInATest(t *testing.T) {
	ids := func() (out []string) {
		synctest.Test(t, func(t *testing.T) {
			cryptotest.SetGlobalRandom(t, 1)
			out = []string{NewID(), NewID()}
		})
		return out
	}
	a, b := ids(), ids()
	if !reflect.DeepEqual(a, b) || a[0] == a[1] {
		t.Errorf("%v and %v", a, b)
	}
	if len(a[0]) != 36 || a[0][14] != '7' || !(a[0][19] >= '8' && a[0][19] <= 'b') {
		t.Errorf("%s is no UUIDv7", a[0])
	}
}
