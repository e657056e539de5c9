package backend_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aalis/backend"
	"aalis/backend/principal"
	"aalis/backend/text"
)

// v1Client is somebody who speaks /v1 to the whole program, beside the window.
type v1Client struct {
	t      *testing.T
	url    string
	token  string
	window func(method, params string) string
	pushed <-chan string
	dir    string
}

func v1Start(t *testing.T, dir string) *v1Client {
	t.Helper()
	b, err := backend.Open(t.Context(), backend.Config{DataDir: dir, Language: text.English, Version: "1.2.3", Name: "Ann"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran, ready := make(chan error, 1), make(chan backend.Ready, 1)
	go func() { ran <- b.Run(ctx, func(r backend.Ready) { ready <- r }) }()
	at := <-ready
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	answers, pushes := make(chan string, 1), make(chan string, 4096)
	conn := b.Connect(func(string) {}, func(frame string) {
		if strings.Contains(frame, `"id":`) && !strings.Contains(frame, `"method":`) {
			answers <- frame
			return
		}
		pushes <- frame
	})
	t.Cleanup(conn.Close)
	c := &v1Client{t: t, url: at.URL, dir: dir, pushed: pushes, window: func(method, params string) string {
		conn.Receive(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
		return <-answers
	}}
	if c.token, err = principal.ReadOwnerToken(dir); err != nil {
		t.Fatal(err)
	}
	c.window("initialize", hello)
	c.window("presence/update", `{"active":true}`)
	return c
}

// ask sends a request and reads the answer into out, if that is wanted.
func (c *v1Client) ask(method, path, token string, out any) (status int, body string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(data, out); err != nil {
			c.t.Fatalf("%s %s: %v: %s", method, path, err, data)
		}
	}
	return answer.StatusCode, string(data)
}

func (c *v1Client) get(path string, out any) string {
	c.t.Helper()
	status, body := c.ask("GET", path, c.token, out)
	if status != http.StatusOK {
		c.t.Fatalf("%s: %d %s", path, status, body)
	}
	return body
}

// session makes one in the window and says something in it.
func (c *v1Client) session(words string) string {
	c.t.Helper()
	id := field(c.t, c.window("session/create", `{}`), "id")
	c.window("session/rename", `{"sessionId":"`+id+`","title":"Named"}`)
	c.say(id, words)
	return id
}

func (c *v1Client) say(id, words string) {
	c.t.Helper()
	raw, err := json.Marshal(words)
	if err != nil {
		c.t.Fatal(err)
	}
	c.window("turn/send", `{"sessionId":"`+id+`","content":`+string(raw)+`}`)
}

// frame is one frame of a stream as it came.
type frame struct {
	name, id, data string
	event          struct {
		V         int
		Seq       int64
		Type      string
		SessionID string
		RunID     string
		At        string
		Data      map[string]any
	}
}

func (f frame) String() string { return f.name + " " + f.id + " " + f.data }

// stream reads frames until one fits, and closes the connection then.
func (c *v1Client) stream(id, query, last string, enough func(frame) bool) (all []frame) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", c.url+"/v1/sessions/"+url.PathEscape(id)+"/events"+query, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || kind != "text/event-stream" {
		c.t.Fatalf("%d %s", answer.StatusCode, kind)
	}
	var f frame
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		line := lines.Text()
		switch name, value, _ := strings.Cut(line, ": "); name {
		case "event":
			f.name = value
		case "id":
			f.id = value
		case "data":
			f.data = value
			if err := json.Unmarshal([]byte(value), &f.event); err != nil {
				c.t.Fatal(err)
			}
		case "":
			all = append(all, f)
			if enough(f) {
				return all
			}
			f = frame{}
		}
	}
	c.t.Fatalf("the stream ended after %v", all)
	return nil
}

// rest is the end of the nth run.
func rest(n int) func(frame) bool {
	return func(f frame) bool {
		if f.name == "run.state" && f.event.Data["state"] != "running" && f.event.Data["state"] != "cancelling" {
			n--
		}
		return n == 0
	}
}

func strip(all []frame) (lines []string) {
	for _, f := range all {
		if f.name != "heartbeat" {
			lines = append(lines, f.String())
		}
	}
	return lines
}

// approveAll answers every request in the window, as an owner in a hurry does.
func (c *v1Client) approve() {
	c.t.Helper()
	var asked struct {
		Params struct {
			Approval struct{ ID, ContentHash string }
		}
	}
	if err := json.Unmarshal([]byte(push(c.t, c.pushed, "approval/requested")), &asked); err != nil {
		c.t.Fatal(err)
	}
	c.window("approval/respond", `{"approvalId":"`+asked.Params.Approval.ID+`","decision":"approve","contentHash":"`+asked.Params.Approval.ContentHash+`"}`)
}

func TestV1Stream(t *testing.T) {
	c := v1Start(t, t.TempDir())
	const sentinel = "sentinel-6f1d"
	id := c.session("run: echo " + sentinel)
	live := make(chan []frame, 1)
	go func() { live <- c.stream(id, "", "", rest(1)) }()
	c.approve()
	seen := <-live

	t.Run("V1-008 V1-082 V1-083 V1-084 V1-090 the envelope and its frame", func(t *testing.T) {
		var last int64
		for _, f := range seen {
			if f.name == "heartbeat" {
				continue
			}
			e := f.event
			if e.V != 1 || e.Type != f.name || fmt.Sprint(e.Seq) != f.id || e.SessionID != id || e.Seq <= last {
				t.Errorf("%v behind %d", f, last)
			}
			if _, err := time.Parse("2006-01-02T15:04:05.000Z", e.At); err != nil {
				t.Error(err)
			}
			last = e.Seq
		}
		if seen[0].event.Seq != 1 {
			t.Errorf("V1-089: it begins with %v", seen[0])
		}
	})
	t.Run("V1-122 V1-125 V1-127 V1-131 V1-132 V1-136 V1-139 V1-140 V1-143 V1-196 a run with an approval, in order", func(t *testing.T) {
		var got []string
		for _, f := range seen {
			word := f.name
			for _, key := range []string{"state", "status", "decision", "finishReason"} {
				if v, ok := f.event.Data[key].(string); ok {
					word += " " + v
				}
			}
			if len(got) == 0 || got[len(got)-1] != word {
				got = append(got, word)
			}
		}
		want := []string{
			"session.updated active", "message.user", "run.state running", "tool.call", "execution.updated accepted", "approval.requested",
			"execution.updated pending-confirmation", "approval.resolved approved", "execution.updated accepted", "execution.updated succeeded",
			"tool.result succeeded", "message.delta", "message.completed stop", "run.state idle",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
	t.Run("V1-113 V1-116 V1-118 arguments are there as one digest only", func(t *testing.T) {
		var call, asked string
		for _, f := range seen {
			if f.name != "message.user" && f.name != "message.delta" && strings.Contains(f.data, sentinel) {
				t.Errorf("in clear: %v", f)
			}
			switch f.name {
			case "tool.call":
				call, _ = f.event.Data["argsDigest"].(string)
			case "approval.requested":
				asked, _ = f.event.Data["paramsDigest"].(string)
			}
		}
		if call == "" || call != asked || !strings.HasPrefix(call, "sha256:") || len(call) != len("sha256:")+64 {
			t.Errorf("%q and %q", call, asked)
		}
	})
	t.Run("V1-092 V1-099 V1-102 a replay is byte for byte what was seen live", func(t *testing.T) {
		if again := c.stream(id, "", "", rest(1)); !slices.Equal(strip(again), strip(seen)) {
			t.Errorf("live   %q\nreplay %q", strip(seen), strip(again))
		}
	})
	t.Run("V1-096 V1-097 V1-098 what is behind a number, by header before query", func(t *testing.T) {
		middle := len(seen) / 2
		want, number := strip(seen)[middle:], seen[middle-1].id
		for what, got := range map[string][]frame{
			"header": c.stream(id, "", number, rest(1)), "query": c.stream(id, "?since="+number, "", rest(1)),
			"both": c.stream(id, "?since=1", number, rest(1)),
		} {
			if !slices.Equal(strip(got), want) {
				t.Errorf("%s: %q, want %q", what, strip(got), want)
			}
		}
	})
	t.Run("V1-101 a number ahead of everything replays nothing and goes on live", func(t *testing.T) {
		live := make(chan []frame, 1)
		go func() { live <- c.stream(id, "?since=9000000000000", "", rest(1)) }()
		time.Sleep(200 * time.Millisecond) // it is connected by then, and has been given nothing
		c.say(id, "and now?")
		if got := <-live; got[0].name != "message.user" || got[0].event.Data["text"] != "and now?" {
			t.Errorf("it begins with %v", got[0])
		}
	})
}

func TestV1Cuts(t *testing.T) {
	t.Run("V1-103 V1-104 V1-105 V1-112 cut at random while she writes, nothing is lost and nothing doubled", func(t *testing.T) {
		c := v1Start(t, t.TempDir())
		id := c.session("slow: 30")
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		dice := rand.New(rand.NewPCG(seed, 0))
		var got []frame
		for over := false; !over; {
			last := ""
			if len(got) > 0 {
				last = got[len(got)-1].id
			}
			left := 1 + dice.IntN(4)
			got = append(got, c.stream(id, "", last, func(f frame) bool {
				over = rest(1)(f)
				left--
				return over || left == 0
			})...)
		}
		whole := c.stream(id, "", "", rest(1))
		if !slices.Equal(strip(got), strip(whole)) {
			t.Errorf("with cuts %q\nwhole %q", strip(got), strip(whole))
		}
		var said strings.Builder
		for _, f := range whole {
			if f.name == "message.delta" {
				words, _ := f.event.Data["text"].(string)
				if words == "" {
					t.Error("V1-126: an empty piece")
				}
				said.WriteString(words)
			}
		}
		var detail struct {
			Messages []struct{ Role, Text, FinishReason string }
			LastSeq  int64
		}
		c.get("/v1/sessions/"+id, &detail)
		if n := len(detail.Messages); n != 2 || detail.Messages[1].Text != said.String() || detail.Messages[1].FinishReason != "stop" || detail.Messages[0].Role != "user" {
			t.Errorf("V1-073 V1-074 V1-075: %+v, said %q", detail, said.String())
		}
		if last := whole[len(whole)-1].event.Seq; detail.LastSeq < last {
			t.Errorf("V1-076: lastSeq %d, the last event is %d", detail.LastSeq, last)
		}
	})
	t.Run("V1-111 numbers go on after a restart", func(t *testing.T) {
		dir := t.TempDir()
		var id string
		var before []frame
		t.Run("first", func(t *testing.T) {
			c := v1Start(t, dir)
			id = c.session("hello")
			before = c.stream(id, "", "", rest(1))
		})
		c := v1Start(t, dir)
		c.say(id, "again")
		all := c.stream(id, "", "", rest(2))
		if !slices.Equal(strip(all)[:len(before)], strip(before)) || all[len(before)].event.Seq <= before[len(before)-1].event.Seq {
			t.Errorf("before %q\nafter %q", strip(before), strip(all))
		}
	})
}

func TestV1Requests(t *testing.T) {
	c := v1Start(t, t.TempDir())
	id := c.session("hello")
	c.stream(id, "", "", rest(1))
	t.Run("V1-031 V1-085 V1-086 V1-100 V1-212 what is refused says why, in one form", func(t *testing.T) {
		for _, one := range []struct {
			method, path, token string
			status              int
			code                string
		}{
			{"GET", "/v1/me", "", 401, "unauthenticated"},
			{"GET", "/v1/me", "wrong", 401, "unauthenticated"},
			{"GET", "/v1/sessions/" + id + "/events", "", 401, "unauthenticated"},
			{"GET", "/v1/sessions/nobody/events", c.token, 404, "not_found"},
			{"GET", "/v1/sessions/nobody", c.token, 404, "not_found"},
			{"GET", "/v1/sessions?projectId=nobody", c.token, 404, "not_found"},
			{"GET", "/v1/sessions/" + id + "/events?since=x", c.token, 400, "invalid_request"},
			{"GET", "/v1/sessions/" + id + "/events?since=-1", c.token, 400, "invalid_request"},
			{"GET", "/v1/sessions/" + id + "?limit=0", c.token, 400, "invalid_request"},
			{"GET", "/v1/sessions/" + id + "?limit=201", c.token, 400, "invalid_request"},
			{"GET", "/v1/sessions?cursor=x", c.token, 400, "invalid_request"},
			{"GET", "/v1/nowhere", c.token, 404, "not_found"},
			{"DELETE", "/v1/me", c.token, 405, "invalid_request"},
		} {
			var got struct {
				Error struct {
					Code, Message, RequestID string
					Retryable                *bool
				}
			}
			status, body := c.ask(one.method, one.path, one.token, &got)
			if status != one.status || got.Error.Code != one.code || got.Error.Message == "" || got.Error.RequestID == "" || got.Error.Retryable == nil {
				t.Errorf("%s %s: %d %s", one.method, one.path, status, body)
			}
		}
	})
	t.Run("V1-042 V1-043 V1-045 health needs nobody and tells of nobody", func(t *testing.T) {
		var got map[string]any
		if status, body := c.ask("GET", "/v1/health", "", &got); status != 200 || got["status"] != "ok" || got["protocol"] != "/v1" || got["serverVersion"] != "1.2.3" || len(got) != 5 {
			t.Errorf("%d %s", status, body)
		}
	})
	t.Run("V1-046 V1-047 V1-048 V1-049 who asks", func(t *testing.T) {
		body := c.get("/v1/me", nil)
		if want := `{"user":{"id":"owner","name":"Ann"},"tenant":{"id":"local","name":"local"},"client":{"kind":"desktop"},"protocol":{"prefix":"/v1","eventVersion":1}}`; body != want || strings.Contains(body, c.token) {
			t.Errorf("%s, want %s", body, want)
		}
	})
	t.Run("V1-050 V1-052 V1-054 V1-058 V1-059 projects, and sessions by last activity in pages", func(t *testing.T) {
		if body := c.get("/v1/projects", nil); body != `{"projects":[]}` {
			t.Error(body)
		}
		folder := t.TempDir()
		raw, err := json.Marshal(map[string]string{"path": folder})
		if err != nil {
			t.Fatal(err)
		}
		place := field(t, c.window("ext/places/add", string(raw)), "key")
		var projects struct{ Projects []struct{ ID, Name string } }
		c.get("/v1/projects", &projects)
		if len(projects.Projects) != 1 || projects.Projects[0].Name != filepath.Base(folder) {
			t.Fatalf("%+v", projects)
		}
		there := field(t, c.window("session/create", `{"ext":{"place":"`+place+`"}}`), "id")
		third := field(t, c.window("session/create", `{}`), "id")
		c.say(id, "once more")
		c.stream(id, "", "", rest(2))
		type page struct {
			Sessions []struct {
				ID, Status, RunState string
				ProjectID            *string
			}
			NextCursor string
		}
		var got []string
		cursor := ""
		for range 5 {
			var p page
			c.get("/v1/sessions?limit=1"+cursor, &p)
			for _, s := range p.Sessions {
				got = append(got, s.ID)
				if s.Status != "active" || s.RunState != "idle" || (s.ProjectID != nil) != (s.ID == there) {
					t.Errorf("%+v", s)
				}
			}
			if cursor = "&cursor=" + url.QueryEscape(p.NextCursor); p.NextCursor == "" {
				break
			}
		}
		if want := []string{id, third, there}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		var only page
		c.get("/v1/sessions?projectId="+projects.Projects[0].ID, &only)
		if len(only.Sessions) != 1 || only.Sessions[0].ID != there || *only.Sessions[0].ProjectID != projects.Projects[0].ID {
			t.Errorf("%+v", only)
		}
	})
	t.Run("V1-057 V1-093 V1-146 what was renamed and archived is told, what was rewound is left out, what was deleted is not there", func(t *testing.T) {
		c.window("session/rename", `{"sessionId":"`+id+`","title":"Renamed"}`)
		c.window("session/archive", `{"sessionId":"`+id+`"}`)
		archived := func(f frame) bool { return f.event.Data["status"] == "archived" }
		all := c.stream(id, "", "", archived)
		end := all[len(all)-2:]
		if end[0].event.Data["title"] != "Renamed" || end[0].event.Data["status"] != "active" || end[1].event.Data["title"] != "Renamed" {
			t.Errorf("%v", end)
		}
		c.window("session/unarchive", `{"sessionId":"`+id+`"}`)
		run := ""
		for _, f := range all {
			if f.name == "run.state" {
				run = f.event.RunID
			}
		}
		if got := c.window("turn/rewind", `{"sessionId":"`+id+`","turnId":"`+run+`","scope":"code-and-chat"}`); strings.Contains(got, `"error"`) {
			t.Fatal(got)
		}
		rewound := func(f frame) bool { return f.event.Data["rewoundRunId"] != nil }
		for _, f := range c.stream(id, "", "", rewound) {
			if f.event.RunID == run {
				t.Errorf("it is told still: %v", f)
			}
		}
		c.window("session/delete", `{"sessionId":"`+id+`"}`)
		if status, body := c.ask("GET", "/v1/sessions/"+id, c.token, nil); status != 404 {
			t.Errorf("%d %s", status, body)
		}
		if body := c.get("/v1/sessions", nil); strings.Contains(body, id) {
			t.Error(body)
		}
	})
}
