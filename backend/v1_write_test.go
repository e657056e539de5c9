package backend_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// post sends a body and gives the answer.
func (c *v1Client) post(path, token, body string) (status int, answer string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), "POST", c.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer got.Body.Close()
	data, err := io.ReadAll(got.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return got.StatusCode, string(data)
}

func (c *v1Client) send(id, words, key string) (status int, answer string) {
	c.t.Helper()
	raw, err := json.Marshal(map[string]string{"text": words, "idempotencyKey": key})
	if err != nil {
		c.t.Fatal(err)
	}
	return c.post("/v1/sessions/"+id+"/messages", c.token, string(raw))
}

func (c *v1Client) empty() string {
	c.t.Helper()
	return field(c.t, c.window("session/create", `{}`), "id")
}

// asked waits for the nth approval of a session and gives its event.
func (c *v1Client) asked(id string) map[string]any {
	c.t.Helper()
	all := c.stream(id, "", "", func(f frame) bool { return f.name == "approval.requested" })
	return all[len(all)-1].event.Data
}

func TestV1Messages(t *testing.T) {
	dir := t.TempDir()
	c := v1Start(t, dir)
	t.Run("V1-123 V1-124 V1-153 V1-154 V1-155 V1-159 V1-162 a message is accepted, once for a key, and comes by the stream", func(t *testing.T) {
		id := c.empty()
		status, first := c.send(id, "hello", "k1")
		var sent struct{ Status, MessageID, RunID string }
		if err := json.Unmarshal([]byte(first), &sent); err != nil || status != 202 || sent.Status != "accepted" || sent.RunID == "" {
			t.Fatalf("%d %s", status, first)
		}
		if status, again := c.send(id, "something else", "k1"); status != 202 || again != first {
			t.Errorf("%d %s, first %s", status, again, first)
		}
		all := c.stream(id, "", "", rest(1))
		if all[0].name != "message.user" || all[0].event.Data["messageId"] != sent.MessageID || all[0].event.Data["text"] != "hello" || all[1].event.Data["state"] != "running" || all[1].event.RunID != sent.RunID {
			t.Errorf("%v", all)
		}
	})
	t.Run("V1-156 V1-163 twenty at once with one key are one run; others join or wait, never two runs at once", func(t *testing.T) {
		id := c.empty()
		var at sync.WaitGroup
		answers := make([]string, 20)
		for i := range answers {
			at.Go(func() { _, answers[i] = c.send(id, "slow: 3", "same") })
		}
		at.Wait()
		for _, a := range answers {
			if a != answers[0] {
				t.Fatalf("%s and %s", a, answers[0])
			}
		}
		c.send(id, "more", "other")
		c.stream(id, "", "", func(f frame) bool { return f.name == "run.state" && f.event.Data["state"] == "idle" })
		time.Sleep(300 * time.Millisecond) // a second run would begin
		running, users := 0, 0
		var detail struct{ LastSeq int64 }
		c.get("/v1/sessions/"+id, &detail)
		for _, f := range c.stream(id, "", "", func(f frame) bool {
			return f.name == "run.state" && f.event.Data["state"] == "idle" && f.event.Seq+2 >= detail.LastSeq
		}) {
			switch {
			case f.name == "message.user":
				users++
			case f.name == "run.state" && f.event.Data["state"] == "running":
				if running++; running > 1 {
					t.Error("two runs at once")
				}
			case f.name == "run.state":
				running--
			}
		}
		if users != 2 {
			t.Errorf("%d messages of the owner's", users)
		}
	})
	t.Run("V1-014 V1-038 V1-160 V1-161 V1-175 what is wrong is named", func(t *testing.T) {
		id := c.empty()
		for body, want := range map[string]string{
			`{`:                                 `"path":"body"`,
			`[]`:                                `"path":"body"`,
			`{"text":"x"}`:                      `"path":"idempotencyKey"`,
			`{"text":"x","idempotencyKey":""}`:  `"path":"idempotencyKey"`,
			`{"text":" ","idempotencyKey":"k"}`: `"path":"text"`,
			`{"text":"x","idempotencyKey":"` + strings.Repeat("k", 129) + `"}`: `"path":"idempotencyKey"`,
		} {
			if status, answer := c.post("/v1/sessions/"+id+"/messages", c.token, body); status != 400 || !strings.Contains(answer, want) || !strings.Contains(answer, `"invalid_request"`) {
				t.Errorf("%s: %d %s", body, status, answer)
			}
		}
		if status, answer := c.post("/v1/sessions/"+id+"/messages", c.token, `{"text":"x","idempotencyKey":"k","later":true}`); status != 202 {
			t.Errorf("%d %s", status, answer)
		}
		for _, path := range []string{"/v1/sessions/nobody/messages", "/v1/sessions/nobody/cancel"} {
			if status, answer := c.post(path, c.token, `{"text":"x","idempotencyKey":"k"}`); status != 404 {
				t.Errorf("%s: %d %s", path, status, answer)
			}
		}
	})
	t.Run("V1-167 V1-168 V1-169 V1-170 V1-173 a run is cancelled, once", func(t *testing.T) {
		id := c.empty()
		c.send(id, "slow: 300", "k")
		c.stream(id, "", "", func(f frame) bool { return f.name == "message.delta" })
		for range 2 {
			if status, answer := c.post("/v1/sessions/"+id+"/cancel", c.token, ""); status != 200 || !strings.Contains(answer, `"state":"cancelling"`) && !strings.Contains(answer, `"state":"idle"`) {
				t.Errorf("%d %s", status, answer)
			}
		}
		all := c.stream(id, "", "", rest(1))
		var states []string
		finish := ""
		for _, f := range all {
			if s, ok := f.event.Data["state"].(string); ok {
				states = append(states, s)
			}
			if s, ok := f.event.Data["finishReason"].(string); ok {
				finish = s
			}
		}
		if got := strings.Join(states, " "); got != "running cancelling cancelled" || finish != "cancelled" {
			t.Errorf("%s, finished as %q", got, finish)
		}
		if status, answer := c.post("/v1/sessions/"+id+"/cancel", c.token, ""); status != 200 || answer != `{"state":"idle"}` {
			t.Errorf("%d %s", status, answer)
		}
	})
}

func TestV1OverARestart(t *testing.T) {
	dir := t.TempDir()
	var id, first, execution string
	t.Run("before", func(t *testing.T) {
		c := v1Start(t, dir)
		id = c.empty()
		_, first = c.send(id, "run: echo once", "k")
		a := c.asked(id)
		execution = fmt.Sprint(a["executionId"])
		c.post("/v1/approvals/"+fmt.Sprint(a["approvalId"]), c.token, `{"decision":"approve","revision":1,"idempotencyKey":"a"}`)
		c.stream(id, "", "", rest(1))
	})
	c := v1Start(t, dir)
	t.Run("V1-157 a key is known still", func(t *testing.T) {
		if status, again := c.send(id, "run: echo twice", "k"); status != 202 || again != first {
			t.Errorf("%d %s, first %s", status, again, first)
		}
	})
	t.Run("V1-185 so is a receipt", func(t *testing.T) {
		if body := c.get("/v1/executions/"+execution, nil); !strings.Contains(body, `"status":"succeeded"`) {
			t.Error(body)
		}
	})
}

func TestV1Approvals(t *testing.T) {
	c := v1Start(t, t.TempDir())
	decide := func(approval any, body string) (int, string) {
		return c.post("/v1/approvals/"+fmt.Sprint(approval), c.token, body)
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(c.dir, "workspace", name))
		return err == nil
	}
	t.Run("V1-192 V1-197 V1-205 V1-210 nothing runs before the answer; a revision that is out of date is expired; a key counts once", func(t *testing.T) {
		id := c.empty()
		c.send(id, "run: echo x >> approved", "k")
		a := c.asked(id)
		var detail struct{ PendingApprovals []map[string]any }
		c.get("/v1/sessions/"+id, &detail)
		if len(detail.PendingApprovals) != 1 || detail.PendingApprovals[0]["approvalId"] != a["approvalId"] || detail.PendingApprovals[0]["paramsDigest"] != a["paramsDigest"] {
			t.Errorf("%+v", detail)
		}
		if status, answer := decide(a["approvalId"], `{"decision":"approve","revision":7,"idempotencyKey":"a"}`); status != 200 || !strings.Contains(answer, `"result":"expired","currentRevision":1`) || there("approved") {
			t.Errorf("%d %s", status, answer)
		}
		status, first := decide(a["approvalId"], `{"decision":"approve","revision":1,"idempotencyKey":"b"}`)
		if status != 200 || !strings.Contains(first, `"result":"approved"`) {
			t.Errorf("%d %s", status, first)
		}
		if status, again := decide(a["approvalId"], `{"decision":"approve","revision":1,"idempotencyKey":"b"}`); status != 200 || again != first {
			t.Errorf("%d %s, first %s", status, again, first)
		}
		all := c.stream(id, "", "", rest(1))
		for _, f := range all {
			if f.name == "tool.result" && f.event.Data["executionId"] == "" {
				t.Error(f)
			}
		}
		data, _ := os.ReadFile(filepath.Join(c.dir, "workspace", "approved"))
		if string(data) != "x\n" {
			t.Errorf("it ran %d times", strings.Count(string(data), "x"))
		}
		if status, answer := decide(a["approvalId"], `{"decision":"reject","revision":1,"idempotencyKey":"c"}`); status != 200 || !strings.Contains(answer, `"result":"expired"`) {
			t.Errorf("V1-199: %d %s", status, answer)
		}
		t.Run("V1-182 V1-183 V1-184 V1-187 the receipt of the execution", func(t *testing.T) {
			var receipt map[string]any
			body := c.get("/v1/executions/"+fmt.Sprint(a["executionId"]), &receipt)
			if receipt["status"] != "succeeded" || receipt["approvalId"] != a["approvalId"] || receipt["argsDigest"] != a["paramsDigest"] || receipt["sessionId"] != id || strings.Contains(body, "approved\"") && strings.Contains(body, "echo") {
				t.Error(body)
			}
			if status, answer := c.ask("GET", "/v1/executions/none", c.token, nil); status != 404 {
				t.Errorf("%d %s", status, answer)
			}
		})
	})
	t.Run("V1-204 a rejection executes nothing", func(t *testing.T) {
		id := c.empty()
		c.send(id, "run: touch rejected", "k")
		a := c.asked(id)
		if status, answer := decide(a["approvalId"], `{"decision":"reject","revision":1,"idempotencyKey":"a","note":"no"}`); status != 200 || !strings.Contains(answer, `"result":"rejected"`) {
			t.Errorf("%d %s", status, answer)
		}
		all := c.stream(id, "", "", rest(1))
		decision, kind := "", ""
		for _, f := range all {
			switch f.name {
			case "approval.resolved":
				decision, _ = f.event.Data["decision"].(string)
			case "execution.updated":
				if k, ok := f.event.Data["errorKind"].(string); ok {
					kind = f.event.Data["status"].(string) + " " + k
				}
			}
		}
		if decision != "rejected" || kind != "failed rejected" || there("rejected") {
			t.Errorf("%s, %s", decision, kind)
		}
	})
	t.Run("V1-206 V1-211 two at once settle once, here and in the window", func(t *testing.T) {
		for n := range 10 {
			id := c.empty()
			c.send(id, fmt.Sprintf("run: echo x >> race-%d", n), "k")
			a := c.asked(id)
			var at sync.WaitGroup
			answers := make([]string, 2)
			at.Go(func() {
				_, answers[0] = decide(a["approvalId"], `{"decision":"approve","revision":1,"idempotencyKey":"a"}`)
			})
			at.Go(func() {
				_, answers[1] = decide(a["approvalId"], `{"decision":"reject","revision":1,"idempotencyKey":"b"}`)
			})
			at.Wait()
			if both := answers[0] + answers[1]; strings.Count(both, `"result":"expired"`) != 1 {
				t.Errorf("%s", both)
			}
			c.stream(id, "", "", rest(1))
			if ran := there(fmt.Sprintf("race-%d", n)); ran != strings.Contains(answers[0], `"approved"`) {
				t.Errorf("%s: it ran: %v", answers, ran)
			}
		}
	})
	t.Run("V1-172 V1-141 a cancelled run's approval is over", func(t *testing.T) {
		id := c.empty()
		c.send(id, "run: touch never", "k")
		a := c.asked(id)
		c.post("/v1/sessions/"+id+"/cancel", c.token, "")
		c.stream(id, "", "", rest(1))
		if status, answer := decide(a["approvalId"], `{"decision":"approve","revision":1,"idempotencyKey":"a"}`); status != 200 || !strings.Contains(answer, `"result":"expired"`) || there("never") {
			t.Errorf("%d %s", status, answer)
		}
	})
	t.Run("V1-194 V1-203 V1-209 who may not, what is missing, and what is not there", func(t *testing.T) {
		id := c.empty()
		c.send(id, "run: touch forbidden", "k")
		a := c.asked(id)
		for body, want := range map[string]int{
			`{"decision":"approve","idempotencyKey":"a"}`:                400,
			`{"decision":"approve","revision":1}`:                        400,
			`{"decision":"maybe","revision":1,"idempotencyKey":"a"}`:     400,
			`{"decision":"approve","revision":"1","idempotencyKey":"a"}`: 400,
		} {
			if status, answer := decide(a["approvalId"], body); status != want {
				t.Errorf("%s: %d %s", body, status, answer)
			}
		}
		if status, answer := decide("nobody", `{"decision":"approve","revision":1,"idempotencyKey":"a"}`); status != 404 {
			t.Errorf("%d %s", status, answer)
		}
		// A client of somebody else's, with the rights to read and to write.
		_, made := c.post("/internal/tokens", c.token, `{"name":"editor","scopes":["read","chat"],"ttlSeconds":3600}`)
		token := field(t, made, "token")
		if status, answer := c.post("/v1/approvals/"+fmt.Sprint(a["approvalId"]), token, `{"decision":"approve","revision":1,"idempotencyKey":"a"}`); status != 403 || there("forbidden") {
			t.Errorf("%d %s", status, answer)
		}
		if status, answer := c.ask("GET", "/v1/sessions", token, nil); status != 200 {
			t.Errorf("%d %s", status, answer)
		}
		decide(a["approvalId"], `{"decision":"reject","revision":1,"idempotencyKey":"z"}`)
		c.stream(id, "", "", rest(1))
	})
}

func TestV1Sessions(t *testing.T) {
	c := v1Start(t, t.TempDir())
	raw, err := json.Marshal(map[string]string{"path": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c.window("ext/places/add", string(raw))
	var projects struct{ Projects []struct{ ID string } }
	c.get("/v1/projects", &projects)
	project := projects.Projects[0].ID
	make := func(body string) (int, string) { return c.post("/v1/sessions", c.token, body) }
	capable := func(query string) (ids []string) {
		var got struct {
			Capabilities []struct {
				ID, Effect       string
				RequiresApproval bool
				ParamsSchema     map[string]any
			}
		}
		c.get("/v1/capabilities"+query, &got)
		for _, one := range got.Capabilities {
			ids = append(ids, one.ID)
			if one.ParamsSchema["type"] != "object" {
				t.Errorf("V1-181: %+v", one)
			}
		}
		return ids
	}
	t.Run("V1-060 V1-061 V1-065 V1-067 V1-068 V1-069 a session is made, in a project or in none, once for a key", func(t *testing.T) {
		status, first := make(`{"projectId":"` + project + `","title":"Mine","idempotencyKey":"k"}`)
		if status != 201 || !strings.Contains(first, `"title":"Mine","status":"active","projectId":"`+project+`","runState":"idle"`) || !strings.Contains(first, `"initiator":{"userId":"owner"}`) {
			t.Errorf("%d %s", status, first)
		}
		if status, again := make(`{"idempotencyKey":"k"}`); status != 201 || again != first {
			t.Errorf("%d %s, first %s", status, again, first)
		}
		if status, answer := make(``); status != 201 || !strings.Contains(answer, `"projectId":null`) {
			t.Errorf("%d %s", status, answer)
		}
		if status, answer := make(`{"projectId":"nobody"}`); status != 404 {
			t.Errorf("%d %s", status, answer)
		}
		if status, answer := make(`{"title":"` + strings.Repeat("x", 300) + `"}`); status != 400 {
			t.Errorf("%d %s", status, answer)
		}
	})
	t.Run("V1-062 V1-063 V1-064 V1-178 V1-180 without a project nothing that can change things runs; in one it is asked about", func(t *testing.T) {
		_, made := make(`{}`)
		none := field(t, made, "id")
		c.send(none, "run: touch /tmp/aalis-v1-never", "k")
		var seen []string
		for _, f := range c.stream(none, "", "", rest(1)) {
			switch f.name {
			case "tool.result":
				seen = append(seen, fmt.Sprint("result ", f.event.Data["status"], " ", f.event.Data["errorKind"]))
			case "execution.updated":
				seen = append(seen, fmt.Sprint("execution ", f.event.Data["status"], " ", f.event.Data["errorKind"]))
			case "approval.requested":
				t.Errorf("it asked: %v", f)
			}
		}
		if got := strings.Join(seen, ", "); got != "execution accepted <nil>, execution failed forbidden, result failed forbidden" {
			t.Error(got)
		}
		if _, err := os.Stat("/tmp/aalis-v1-never"); err == nil {
			t.Error("it ran")
		}
		_, made = make(`{"projectId":"` + project + `"}`)
		there := field(t, made, "id")
		c.send(there, "run: touch here", "k")
		a := c.asked(there)
		c.post("/v1/approvals/"+fmt.Sprint(a["approvalId"]), c.token, `{"decision":"approve","revision":1,"idempotencyKey":"a"}`)
		c.stream(there, "", "", rest(1))

		all, inNone, inProject := capable(""), capable("?sessionId="+none), capable("?sessionId="+there)
		if len(inProject) != len(all) || len(inNone) >= len(all) {
			t.Errorf("%q, in none %q, in a project %q", all, inNone, inProject)
		}
		for _, id := range inNone {
			if id == "exec" || strings.HasPrefix(id, "write") || id == "shell_exec" {
				t.Errorf("V1-178: %s without a project", id)
			}
		}
		if status, answer := c.ask("GET", "/v1/capabilities?sessionId=nobody", c.token, nil); status != 404 {
			t.Errorf("V1-179: %d %s", status, answer)
		}
		// The window shows such a session, and its settings, too.
		for method, params := range map[string]string{"session/subscribe": `{"sessionId":"` + none + `"}`, "session/config/get": `{"sessionId":"` + none + `"}`, "session/config/layers": `{"sessionId":"` + none + `"}`} {
			if got := c.window(method, params); strings.Contains(got, `"error":{`) {
				t.Errorf("%s: %s", method, got)
			}
		}
	})
	t.Run("V1-190 V1-208 an approval waits 300 seconds although nobody is at any surface", func(t *testing.T) {
		c.window("presence/update", `{"active":false}`)
		_, made := make(`{"projectId":"` + project + `"}`)
		id := field(t, made, "id")
		c.send(id, "run: touch alone", "k")
		a := c.asked(id)
		until, err := time.Parse(time.RFC3339, fmt.Sprint(a["expiresAt"]))
		if left := time.Until(until); err != nil || left < 4*time.Minute || left > 5*time.Minute {
			t.Errorf("%v left, %v", left, err)
		}
		if status, answer := c.post("/v1/approvals/"+fmt.Sprint(a["approvalId"]), c.token, `{"decision":"reject","revision":1,"idempotencyKey":"a"}`); status != 200 || !strings.Contains(answer, "rejected") {
			t.Errorf("%d %s", status, answer)
		}
		c.stream(id, "", "", rest(1))
	})
}
