package backend_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"aalis/backend/contract/schema"
	"aalis/backend/wire/v1"
)

// fits says what of a document is not as the published schema of that name has it.
func fits(t *testing.T, name, document string) error {
	t.Helper()
	raw, err := schema.V1.ReadFile("v1/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	ready, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal([]byte(document), &value); err != nil {
		return err
	}
	return ready.Validate(value)
}

func TestV1Contract(t *testing.T) {
	c := v1Start(t, t.TempDir())
	id := c.session("run: echo one\nthink: of boats")
	c.approve()
	c.stream(id, "", "", rest(1)) // what is said before the end would join the run
	c.say(id, "fail: no wind")
	seen := c.stream(id, "", "", rest(2))

	t.Run("V1-121 every event of a run validates against its schema", func(t *testing.T) {
		types := map[string]bool{}
		for _, f := range seen {
			types[f.name] = true
			if err := fits(t, v1.EventName, f.data); err != nil {
				t.Errorf("%v: %v", f, err)
			}
		}
		for _, kind := range []string{"message.user", "tool.call", "approval.requested", "execution.updated", "message.completed", "error", "run.state"} {
			if !types[kind] {
				t.Errorf("the run has no %s", kind)
			}
		}
	})
	t.Run("V1-121 what is not such an event does not", func(t *testing.T) {
		for _, wrong := range [][2]string{{`"v":1`, `"v":2`}, {`"type":"run.state"`, `"type":"run.stat"`}, {`"state":"running"`, `"state":"walking"`}, {`"sessionId"`, `"session"`}} {
			for _, f := range seen {
				if other := strings.Replace(f.data, wrong[0], wrong[1], 1); f.event.Data["state"] == "running" && fits(t, v1.EventName, other) == nil {
					t.Errorf("%s fits", other)
				}
			}
		}
	})
	t.Run("V1-121 every answer validates against the shape that the table names", func(t *testing.T) {
		execution := ""
		for _, f := range seen {
			if x, ok := f.event.Data["executionId"].(string); ok {
				execution = x
			}
		}
		path := strings.NewReplacer("{id}", id, "{executionId}", execution)
		for _, e := range v1.Endpoints() {
			if e.Method != "GET" || e.SSE {
				continue
			}
			if err := fits(t, e.Response, c.get(path.Replace(e.Path), nil)); err != nil {
				t.Errorf("%s: %v", e.Path, err)
			}
		}
		for want, at := range map[int]string{http.StatusNotFound: "/v1/sessions/none", http.StatusBadRequest: "/v1/sessions?limit=0", http.StatusMethodNotAllowed: "/v1/me/"} {
			status, body := c.ask("GET", at, c.token, nil)
			if err := fits(t, "ErrorEnvelope", body); err != nil || status < 400 {
				t.Errorf("%s: %d, wanted about %d: %v: %s", at, status, want, err, body)
			}
		}
		if status, body := c.ask("GET", "/v1/me", "", nil); status != http.StatusUnauthorized || fits(t, "ErrorEnvelope", body) != nil {
			t.Errorf("%d %s", status, body)
		}
	})
	t.Run("the OpenAPI document is served to anybody as it is published", func(t *testing.T) {
		want, err := schema.V1.ReadFile("v1/openapi.json")
		if err != nil {
			t.Fatal(err)
		}
		if status, body := c.ask("GET", "/openapi/v1.json", "", nil); status != http.StatusOK || body != string(want) {
			t.Errorf("%d, %d bytes of %d", status, len(body), len(want))
		}
	})
}
