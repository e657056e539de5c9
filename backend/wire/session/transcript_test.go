package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

var update = flag.Bool("update", false, "write what the transcripts' clients were sent into testdata")

// TestTranscripts plays testdata/*.txtar: what clients send under "script", what they are sent under
// "want". A script has one step a line:
//
//	connect NAME [surface=webui] [scopes=read,chat]    a connection; without scopes it may do everything
//	NAME> FRAME                                        the connection sends a frame
//	close NAME                                         its transport ends it
//	advance 300s                                       time passes
//	provide SERVICE, withdraw SERVICE                  agent, checkpoints, compression, settings, plans
//	language zh-CN, appname NAME                       the owner's settings
//	log                                                the clients to come see a log, with its writer
//	approvals                                          the same, with the approval service
//	room ADDRESS, say SESSION, reply, ask, fail        what others do in the log; the last three in the newest turn
//	engine SESSION and after it                        see engineStep
//	settings and after it                              see settingsStep
//	stop                                               the session service stops
//
// Everything a step causes stands in want before what the next one causes, by client. Each frame is
// checked against the published contract as well. Ids and cursors of the log are other ones in every
// run: want has <1> for the first that a client was sent, and a script may name it so.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			synctest.Test(t, func(t *testing.T) { got = play(t, part(archive, "script")) })
			if *update {
				setPart(archive, "want", got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(part(archive, "want"), got); diff != "" {
				t.Errorf("-want +got, -update writes:\n%s", diff)
			}
		})
	}
}

func part(a *txtar.Archive, name string) string {
	if i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == name }); i >= 0 {
		return string(a.Files[i].Data)
	}
	return ""
}

func setPart(a *txtar.Archive, name, data string) {
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == name })
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(data)})
}

// stage is a session service with named clients, inside one bubble.
type stage struct {
	t         *testing.T
	server    *session.Server
	clients   map[string]*client
	arrived   []string // clients in order
	language  text.Language
	appName   string
	published published
	kernel    *kernel
	turn      string // newest
	engine    engine // see engineStep

	configured configured // see settingsStep

	mu     sync.Mutex          // guards caused
	caused map[string][]string // what the step under way has caused, by client

	out   bytes.Buffer
	names []string // what is another one in every run, in the order in which clients were sent it
}

func (s *stage) note(client, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caused[client] = append(s.caused[client], client+fmt.Sprintf(format, args...))
}

// settle moves what a step has caused to the output. Frames to one client have an order, those to
// several have none.
func (s *stage) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, client := range s.arrived {
		// Whoever writes is told that something changed, too, before its answer or behind it.
		lines := s.caused[client]
		slices.SortStableFunc(lines, func(a, b string) int { return strings.Count(a, configChanged) - strings.Count(b, configChanged) })
		for _, line := range lines {
			if s.configured.path != "" {
				line = strings.ReplaceAll(line, s.configured.path, "config.yaml")
			}
			if s.kernel != nil {
				line = random.ReplaceAllStringFunc(line, s.mask)
				line = epoch.ReplaceAllString(line, `"epoch":"<epoch>"`)
				line = mark.ReplaceAllStringFunc(line, func(found string) string { return `"before":"` + s.mask(found[10:21]) + `"` })
			}
			fmt.Fprintln(&s.out, line)
		}
	}
	clear(s.caused)
}

const configChanged = `"method":"session/config/changed"`

// random finds ids, hashes and cursors.
var random = regexp.MustCompile(`[A-Za-z0-9_-]{36,}`)

// mark finds where a page of history ends.
var mark = regexp.MustCompile(`"before":"[A-Za-z0-9_-]{11}"`)

// epoch finds what is another one at every start.
var epoch = regexp.MustCompile(`"epoch":"[A-Za-z0-9_-]{11}"`)

func (s *stage) mask(found string) string {
	i := slices.Index(s.names, found)
	if i < 0 {
		i = len(s.names)
		s.names = append(s.names, found)
	}
	return fmt.Sprintf("<%d>", i+1)
}

// real puts ids and cursors where a script names them.
func (s *stage) real(line string) string {
	for i, name := range s.names {
		line = strings.ReplaceAll(line, fmt.Sprintf("<%d>", i+1), name)
	}
	return line
}

type client struct {
	conn  *session.Conn
	asked map[string]string // method by id, to know which result an answer must fit
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, clients: make(map[string]*client), language: text.English, caused: make(map[string][]string)}
	s.published = readPublished(t)
	s.serve(nil)
	return s
}

func (s *stage) serve(loop *core.Loop) {
	s.t.Helper()
	s.server = serve(s.t, session.Options{
		Name:     "aalis",
		AppName:  func() string { return s.appName },
		Language: func() text.Language { return s.language },
		Loop:     loop,
	})
}

func play(t *testing.T, script string) string {
	t.Helper()
	s := newStage(t)
	for line := range strings.Lines(script) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			s.step(s.real(line))
			synctest.Wait()
			s.settle()
		}
	}
	for _, c := range s.clients {
		c.conn.Close()
	}
	return s.out.String()
}

func (s *stage) step(line string) {
	s.t.Helper()
	if name, frame, isFrame := strings.Cut(line, "> "); isFrame && s.clients[name] != nil {
		s.clients[name].send(frame)
		return
	}
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "connect":
		s.connect(strings.Fields(rest))
	case "close":
		s.clients[rest].conn.Close()
	case "advance":
		d, err := time.ParseDuration(rest)
		if err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(d)
	case "language":
		s.language = text.Language(rest)
	case "appname":
		s.appName = rest
	case "provide":
		s.server.Update(func(all *session.Services) { put(s.t, all, rest, true) })
	case "withdraw":
		s.server.Update(func(all *session.Services) { put(s.t, all, rest, false) })
	case "stop":
		if err := s.server.Close(s.t.Context()); err != nil {
			s.t.Error(err)
		}
	default:
		s.logStep(word, rest)
	}
}

// logStep is what happens in the log without any client.
func (s *stage) logStep(word, rest string) {
	s.t.Helper()
	switch word {
	case "log":
		s.engine.there = new(attended)
		s.kernel = startKernel(s.t, s.t.TempDir(), func(o *core.Options) { o.Admission = s.engine.there })
		s.serve(s.kernel.loop)
	case "approvals":
		s.approvals()
	case "room":
		s.kernel.room(rest, "", "10001")
	case "say":
		s.turn = s.kernel.turn(rest)
	case "reply":
		s.kernel.reply(s.turn)
	case "ask":
		s.kernel.ask(s.turn)
	case "fail":
		s.kernel.fail(s.turn, event.Failure{Code: "model", Message: text.Plain(rest)})
	default:
		if settingSteps[word] {
			s.settingsStep(word, rest)
			return
		}
		s.engineStep(word, rest)
	}
}

func (s *stage) connect(words []string) {
	s.t.Helper()
	name := words[0]
	c := &client{asked: make(map[string]string)}
	peer := session.Peer{
		Caller: principal.Caller{
			Principal: principal.Principal{ID: principal.OwnerID, Kind: principal.Owner},
			Scopes:    principal.AllScopes(),
			Identity:  principal.Identity{Platform: "webui", UserID: "console"},
		},
		Surface:    "webui",
		Disconnect: func(reason string) { s.note(name, "! disconnected: %s", reason) },
		Queued:     func() int { return 0 },
		Room:       func(context.Context) bool { return true },
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "surface":
			peer.Surface = value
		case "scopes":
			scopes, err := principal.ParseScopes(value)
			if err != nil {
				s.t.Fatal(err)
			}
			peer.Caller.Scopes = scopes
		default:
			s.t.Fatalf("connect: no option %q", word)
		}
	}
	s.clients[name] = c
	s.arrived = append(s.arrived, name)
	c.conn = s.server.Connect(peer, func(frame string) {
		s.note(name, "< %s", frame)
		s.published.check(c.asked, frame)
	})
}

func (c *client) send(frame string) {
	var req struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal([]byte(frame), &req) == nil {
		c.asked[string(req.ID)] = req.Method
	}
	c.conn.Receive(frame)
}
