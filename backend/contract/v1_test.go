package contract

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/contract/schema"
	"aalis/backend/wire/v1"
)

func v1Document(t *testing.T, name string, into any) {
	t.Helper()
	data, err := schema.V1.ReadFile("v1/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// row is one of the document's section 4. Its events answer with V1Event, which the document calls the
// stream of events; what this program takes beyond the document's queries is in more.
type row struct {
	method, path, request, response string
	query, more                     []string
}

var section4 = []row{
	{method: "GET", path: "/v1/health", response: "HealthResponse"},
	{method: "GET", path: "/v1/me", response: "MeResponse"},
	{method: "GET", path: "/v1/projects", response: "ProjectListResponse"},
	{method: "GET", path: "/v1/sessions", response: "SessionListResponse", query: []string{"projectId"}, more: []string{"limit", "cursor"}},
	{method: "POST", path: "/v1/sessions", request: "CreateSessionRequest", response: "CreateSessionResponse"},
	{method: "GET", path: "/v1/sessions/{id}", response: "SessionDetailResponse", query: []string{"limit"}},
	{method: "GET", path: "/v1/sessions/{id}/events", response: "V1Event", query: []string{"since"}},
	{method: "POST", path: "/v1/sessions/{id}/messages", request: "SendMessageRequest", response: "SendMessageResponse"},
	{method: "POST", path: "/v1/sessions/{id}/cancel", response: "CancelResponse"},
	{method: "GET", path: "/v1/capabilities", response: "CapabilitiesResponse", query: []string{"sessionId"}},
	{method: "GET", path: "/v1/executions/{executionId}", response: "ExecutionReceipt"},
	{method: "POST", path: "/v1/approvals/{approvalId}", request: "ApprovalDecisionRequest", response: "ApprovalDecisionResponse"},
}

func TestV1Endpoints(t *testing.T) {
	t.Run("V1-040 V1-225 the table is that of the document, row by row", func(t *testing.T) {
		served := v1.Endpoints()
		for _, want := range section4 {
			i := slices.IndexFunc(served, func(e v1.Endpoint) bool { return e.Method == want.method && e.Path == want.path })
			if i < 0 {
				t.Errorf("%s %s is in the document and not in Endpoints()", want.method, want.path)
				continue
			}
			e := served[i]
			if e.Request != want.request || e.Response != want.response || !slices.Equal(e.Query, slices.Concat(want.query, want.more)) {
				t.Errorf("%s %s: takes %q, answers %q, queries %q; the document has %+v", e.Method, e.Path, e.Request, e.Response, e.Query, want)
			}
			if e.SSE != (e.Response == v1.EventName) {
				t.Errorf("%s: the stream of events, and nothing else, is SSE", e.Path)
			}
		}
		if len(served) != len(section4) {
			t.Errorf("%d endpoints, the document has %d", len(served), len(section4))
		}
	})
	t.Run("V1-224 the OpenAPI document has the same rows", func(t *testing.T) {
		var d struct {
			Paths map[string]map[string]struct{ OperationID string }
		}
		v1Document(t, "openapi", &d)
		count, ids := 0, map[string]bool{}
		for _, methods := range d.Paths {
			for _, op := range methods {
				count++
				ids[op.OperationID] = true
			}
		}
		for _, want := range section4 {
			if _, there := d.Paths[want.path][strings.ToLower(want.method)]; !there {
				t.Errorf("no %s %s", want.method, want.path)
			}
		}
		if count != len(section4) || len(ids) != len(section4) {
			t.Errorf("%d operations with %d ids", count, len(ids))
		}
	})
	t.Run("V1-227 a shape that the table names and nobody has defined is named", func(t *testing.T) {
		defs, err := v1Defs(comments{})
		if err != nil {
			t.Fatal(err)
		}
		err = v1Complete([]v1.Endpoint{{Method: "GET", Path: "/v1/later", Response: "LaterResponse"}}, defs)
		want := "GET /v1/later names LaterResponse as its response, and no such shape is defined: list it in Shapes (backend/wire/v1/contract.go)"
		if err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	})
}

type v1Object struct {
	OneOf []struct {
		Ref string `json:"$ref"`
	} `json:"oneOf"`
	Properties map[string]struct {
		Const any
		Ref   string `json:"$ref"`
	}
	Required []string
	Enum     []string
	Defs     map[string]v1Object `json:"$defs"`
}

func TestV1Events(t *testing.T) {
	// The document's section 6: what is always there, and what is there when it applies.
	section6 := []struct {
		kind          string
		always, other []string
	}{
		{kind: "message.user", always: []string{"messageId", "text"}},
		{kind: "message.delta", always: []string{"messageId", "text"}},
		{kind: "message.completed", always: []string{"messageId", "finishReason"}},
		{kind: "tool.call", always: []string{"callId", "capabilityId", "argsDigest"}},
		{kind: "tool.result", always: []string{"callId", "executionId", "status"}},
		{kind: "execution.updated", always: []string{"executionId", "status"}, other: []string{"errorKind"}}, // only with failed: V1-137
		{kind: "approval.requested", always: []string{"approvalId", "capabilityId", "paramsDigest", "impactSummary", "revision", "expiresAt"}},
		{kind: "approval.resolved", always: []string{"approvalId", "decision"}},
		{kind: "run.state", always: []string{"state"}},
		{kind: "session.updated", always: []string{"title", "status"}},
		{kind: "error", always: []string{"code", "message", "retryable"}},
		{kind: "heartbeat"},
	}
	var union v1Object
	v1Document(t, v1.EventName, &union)
	t.Run("V1-120 exactly the twelve types, each with a schema", func(t *testing.T) {
		var got, want []string
		for _, branch := range union.OneOf {
			kind, _ := union.Defs[strings.TrimPrefix(branch.Ref, "#/$defs/")].Properties["type"].Const.(string)
			got = append(got, kind)
		}
		for _, d := range section6 {
			want = append(want, d.kind)
		}
		if len(union.OneOf) == 0 {
			t.Error("no branches")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, v1.EventType("").Words()); diff != "" {
			t.Error(diff)
		}
	})
	for i, d := range section6 {
		t.Run("V1-226 "+d.kind+" has the key fields of the document", func(t *testing.T) {
			event := union.Defs[eventName(v1.Data()[i])]
			data := union.Defs[strings.TrimPrefix(event.Properties["data"].Ref, "#/$defs/")]
			if len(data.Required) != len(d.always) {
				t.Errorf("always %q, the document has %q", data.Required, d.always)
			}
			for _, key := range slices.Concat(d.always, d.other) {
				if _, there := data.Properties[key]; !there || slices.Contains(d.always, key) != slices.Contains(data.Required, key) {
					t.Errorf("%s: it is in %q, of which %q are always there", key, data.Properties, data.Required)
				}
			}
		})
	}
}

// TestV1Golden holds what is published now against the first release: what was there stays, with its
// type. testdata/v1-1.0.json is never written anew.
func TestV1Golden(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "v1-1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	var first, now map[string]any
	if err := json.Unmarshal(raw, &first); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Components struct{ Schemas map[string]any }
	}
	v1Document(t, "openapi", &d)
	now = d.Components.Schemas
	t.Run("V1-009 V1-010 nothing of the first release is removed, renamed or of another type", func(t *testing.T) {
		if len(first) < 30 {
			t.Fatalf("only %d shapes", len(first))
		}
		for _, broken := range broken("", first, now) {
			t.Error(broken)
		}
	})
	t.Run("V1-009 the comparison finds each of these", func(t *testing.T) {
		for _, change := range []func(data object){
			func(data object) { delete(data["properties"].(object), "status") },
			func(data object) { data["properties"].(object)["status"] = object{"type": "integer"} },
			func(data object) { data["required"] = []any{"callId", "executionId"} },
		} {
			altered := clone(t, now)
			change(altered["ToolResultData"].(object))
			if len(broken("", first, altered)) == 0 {
				t.Errorf("nobody minds %v", altered["ToolResultData"])
			}
		}
		altered := clone(t, now)
		altered["ToolResultData"].(object)["properties"].(object)["later"] = object{"type": "string"}
		if found := broken("", first, altered); len(found) > 0 {
			t.Errorf("a field may be added: %q", found)
		}
	})
	t.Run("V1-009 requests need nothing that they did not need", func(t *testing.T) {
		for name := range first {
			if strings.HasSuffix(name, "Request") {
				if diff := cmp.Diff(first[name].(object)["required"], now[name].(object)["required"]); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
		}
	})
}

func clone(t *testing.T, of map[string]any) (out map[string]any) {
	t.Helper()
	raw, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// broken lists what a reader of the first release misses. Properties, words and what is always there
// may become more, descriptions may change; everything else stays.
func broken(at string, first, now any) (found []string) {
	switch was := first.(type) {
	case map[string]any:
		is, ok := now.(map[string]any)
		if !ok {
			return []string{at + " is gone"}
		}
		for key, value := range was {
			if text, ok := value.(string); ok && (key == "description" && text != "") {
				continue
			}
			found = append(found, broken(at+"/"+key, value, is[key])...)
		}
	case []any:
		is, _ := now.([]any)
		for _, value := range was {
			if !slices.ContainsFunc(is, func(other any) bool { return cmp.Equal(value, other) }) {
				raw, _ := json.Marshal(value) // it was JSON
				found = append(found, at+": "+string(raw)+" is gone")
			}
		}
	default:
		if first != now {
			found = append(found, at+" is something else")
		}
	}
	return found
}
