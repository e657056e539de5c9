package backend_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// door sends one request with exactly these headers; Host: and Cookie: among them.
func (c *v1Client) door(method, path, body string, headers ...string) (*http.Response, string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second) // a stream that should be refused would not end
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
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
	return answer, string(data)
}

// pair makes a device token, and gives the headers that show it.
func (c *v1Client) pair(device, request string) (headers []string, expiresAt time.Time) {
	c.t.Helper()
	_, body := c.door("POST", "/internal/pair-code", request, "Authorization: Bearer "+c.token)
	answer, body := c.door("POST", "/pair", `{"code":"`+field(c.t, body, "code")+`","deviceId":"`+device+`"}`)
	var made struct {
		Token     string
		ExpiresAt time.Time
	}
	if err := json.Unmarshal([]byte(body), &made); err != nil || answer.StatusCode != 200 {
		c.t.Fatalf("%d %s", answer.StatusCode, body)
	}
	return []string{"Authorization: Bearer " + made.Token, "X-Aalis-Device: " + device}, made.ExpiresAt
}

// browser signs a tab in under the program's own name, and gives its headers for same-origin requests.
func (c *v1Client) browser() (headers []string, cookie *http.Cookie) {
	c.t.Helper()
	_, body := c.door("POST", "/internal/signin-code", "", "Authorization: Bearer "+c.token)
	at, err := url.Parse(field(c.t, body, "url"))
	if err != nil {
		c.t.Fatal(err)
	}
	origin := []string{"Host: " + at.Host, "Origin: http://" + at.Host}
	answer, body := c.door("POST", "/signin", `{"code":"`+field(c.t, body, "code")+`"}`, origin...)
	for _, cookie := range answer.Cookies() {
		if cookie.Name == "ap_session" {
			return append(origin, "Cookie: ap_session="+cookie.Value), cookie
		}
	}
	c.t.Fatalf("no cookie: %d %s", answer.StatusCode, body)
	return nil, nil
}

func TestV1Identity(t *testing.T) {
	c := v1Start(t, t.TempDir())
	id := c.session("hello")
	c.stream(id, "", "", rest(1))
	device, expiresAt := c.pair("laptop-1", `{}`)
	tab, cookie := c.browser()
	status := func(method, path, body string, headers ...string) (int, string) {
		t.Helper()
		answer, got := c.door(method, path, body, headers...)
		return answer.StatusCode, got
	}
	wantCode := func(t *testing.T, wantStatus int, code string, got int, body string) {
		t.Helper()
		if got != wantStatus || !strings.Contains(body, `"code":"`+code+`"`) {
			t.Errorf("%d %s", got, body)
		}
	}

	t.Run("V1-017 V1-018 V1-019 the cookie and its flags", func(t *testing.T) {
		if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Secure || cookie.Domain != "" {
			t.Errorf("%+v", cookie)
		}
	})
	t.Run("V1-020 V1-026 V1-027 V1-028 V1-029 V1-046 V1-047 V1-048 V1-049 one person in two forms", func(t *testing.T) {
		who := `{"user":{"id":"owner","name":"Ann"},"tenant":{"id":"local","name":"local"},`
		protocol := `"protocol":{"prefix":"/v1","eventVersion":1}`
		if got, body := status("GET", "/v1/me", "", tab...); got != 200 || body != who+`"client":{"kind":"browser"},`+protocol+`}` {
			t.Errorf("%d %s", got, body)
		}
		want := who + `"client":{"kind":"desktop","deviceId":"laptop-1"},` + protocol + `,"expiresAt":"` + expiresAt.Format("2006-01-02T15:04:05.000Z") + `"}`
		if got, body := status("GET", "/v1/me", "", device...); got != 200 || body != want {
			t.Errorf("%d %s, want %s", got, body, want)
		}
	})
	t.Run("V1-023 V1-031 another device, or none, is nobody", func(t *testing.T) {
		for _, headers := range [][]string{device[:1], {device[0], "X-Aalis-Device: laptop-2"}} {
			for _, path := range []string{"/v1/me", "/v1/sessions", "/v1/sessions/" + id + "/events"} {
				got, body := status("GET", path, "", headers...)
				wantCode(t, 401, "unauthenticated", got, body)
			}
		}
	})
	t.Run("V1-030 a bearer decides, the bad one too", func(t *testing.T) {
		if _, body := status("GET", "/v1/me", "", append(device, tab...)...); !strings.Contains(body, `"desktop"`) {
			t.Error(body)
		}
		got, body := status("GET", "/v1/me", "", append([]string{"Authorization: Bearer wrong"}, tab...)...)
		wantCode(t, 401, "unauthenticated", got, body)
		got, body = status("GET", "/v1/me", "", append([]string{device[0]}, tab...)...)
		wantCode(t, 401, "unauthenticated", got, body)
	})
	t.Run("V1-032 a browser changes things from its own page only", func(t *testing.T) {
		path, message := "/v1/sessions/"+id+"/messages", `{"text":"hi","idempotencyKey":"from-a-tab"}`
		foreign := []string{tab[0], "Origin: http://evil.example", tab[2]}
		got, body := status("POST", path, message, foreign...)
		if got != 403 {
			t.Errorf("of elsewhere: %d %s", got, body)
		}
		got, body = status("POST", path, message, tab[0], "Sec-Fetch-Site: cross-site", tab[2])
		if got != 403 {
			t.Errorf("cross-site: %d %s", got, body)
		}
		got, body = status("POST", path, message, tab[0], "Sec-Fetch-Site: same-origin", tab[2])
		wantCode(t, 403, "forbidden", got, body)
		if got, body = status("POST", path, message, tab...); got >= 300 {
			t.Errorf("of its own: %d %s", got, body)
		}
	})
	t.Run("SEC-08 a device approves only if that was asked for", func(t *testing.T) {
		decide := `{"decision":"approve","revision":1,"idempotencyKey":"k"}`
		got, body := status("POST", "/v1/approvals/none", decide, device...)
		wantCode(t, 403, "forbidden", got, body)
		approver, _ := c.pair("phone", `{"approve":true}`)
		if got, body := status("POST", "/v1/approvals/none", decide, approver...); got != 404 {
			t.Errorf("%d %s", got, body)
		}
	})
	t.Run("V1-034 the stream takes either credential", func(t *testing.T) {
		for _, headers := range [][]string{device, tab} {
			if lines := c.follow(t, id, headers, "id: 1"); len(lines) == 0 {
				t.Errorf("%v reads nothing", headers)
			}
		}
	})
	t.Run("V1-022 V1-035 a stream ends with its token, and nothing comes after", func(t *testing.T) {
		short, ends := c.pair("kiosk", `{"ttlSeconds":1}`)
		c.follow(t, id, short, "")
		if late := time.Since(ends); late < 0 || late > 10*time.Second {
			t.Errorf("it ended %v after its token", late)
		}
		for _, path := range []string{"/v1/me", "/v1/projects", "/v1/sessions", "/v1/sessions/" + id, "/v1/sessions/" + id + "/events", "/v1/executions/x"} {
			got, body := status("GET", path, "", short...)
			wantCode(t, 401, "unauthenticated", got, body)
		}
	})
	t.Run("V1-035 a stream ends when its token is revoked, as a renewed one's does", func(t *testing.T) {
		_, renewed := status("POST", "/pair/renew", "", device...)
		next := []string{"Authorization: Bearer " + field(t, renewed, "token"), device[1]}
		_, list := status("GET", "/internal/tokens", "", "Authorization: Bearer "+c.token)
		var all struct {
			Tokens []struct{ ID, DeviceID string }
		}
		if err := json.Unmarshal([]byte(list), &all); err != nil {
			t.Fatal(err)
		}
		ended := make(chan []string, 1)
		go func() { ended <- c.follow(t, id, next, "") }()
		for _, one := range all.Tokens {
			if one.DeviceID == "laptop-1" {
				if got, body := status("POST", "/internal/tokens/"+one.ID+"/revoke", "", "Authorization: Bearer "+c.token); got != 200 {
					t.Errorf("%d %s", got, body)
				}
				break
			}
		}
		<-ended
		for _, headers := range [][]string{device, next} {
			got, body := status("GET", "/v1/me", "", headers...)
			wantCode(t, 401, "unauthenticated", got, body)
		}
	})
}

// follow reads a session's stream until a line comes or the server ends it; "" is until the end, for which
// it has 10 seconds.
func (c *v1Client) follow(t *testing.T, id string, headers []string, until string) (lines []string) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", c.url+"/v1/sessions/"+id+"/events", nil)
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer answer.Body.Close()
	scanner := bufio.NewScanner(answer.Body)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
		if until != "" && scanner.Text() == until {
			return lines
		}
	}
	if until == "" && ctx.Err() != nil {
		t.Error("the stream did not end")
	}
	return lines
}
