package v1

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/store"
	"aalis/backend/text"
)

// Health answers GET /v1/health.
type Health struct {
	Status        string `json:"status" jsonschema:"enum=ok,enum=degraded"`
	Protocol      string `json:"protocol" jsonschema:"enum=/v1"`
	EventVersion  int    `json:"eventVersion" jsonschema:"enum=1"`
	ServerVersion string `json:"serverVersion"`
	Time          string `json:"time"`
}

// health tells nothing about anybody. Spec V1-042 to -045.
func (s *Server) health(w http.ResponseWriter, r *http.Request) error {
	status, word := http.StatusOK, "ok"
	if s.o.Health != nil {
		if err := s.o.Health(r.Context()); err != nil {
			s.log.ErrorContext(r.Context(), "unhealthy", "error", err)
			status, word = http.StatusServiceUnavailable, "degraded"
		}
	}
	s.answer(w, status, Health{word, Prefix, EventVersion, s.o.Version, stamp(time.Now().UnixMilli())})
	return nil
}

// me is who asks, and in which form. Spec V1-046 to -049.
func (s *Server) me(w http.ResponseWriter, r *http.Request) error {
	caller, _ := s.o.Caller(r.Context())
	kind := ClientDesktop
	if caller.Via == principal.ViaCookie {
		kind = ClientBrowser
	}
	name := caller.Principal.DisplayName
	if caller.Principal.Kind == principal.Owner && s.o.Name != nil {
		name = orElse(name, s.o.Name())
	}
	me := Me{
		User: Named{caller.Principal.ID, name}, Tenant: Named{caller.Principal.TenantID, caller.Principal.TenantID},
		Client: Client{Kind: kind, DeviceID: caller.DeviceID}, Protocol: Protocol{Prefix, EventVersion},
	}
	if !caller.ExpiresAt.IsZero() {
		me.ExpiresAt = stamp(caller.ExpiresAt.UnixMilli())
	}
	s.answer(w, http.StatusOK, me)
	return nil
}

// projects are the owner's folders. Spec V1-050 to -052.
func (s *Server) projects(w http.ResponseWriter, r *http.Request) error {
	out := ProjectList{Projects: []Project{}}
	err := s.o.Loop.Read(r.Context(), func(tx *store.ReadTx) error {
		all, err := tx.Projects()
		for _, p := range all {
			out.Projects = append(out.Projects, Project{ID: p.ID, Name: p.Name, Writable: true, UpdatedAt: stamp(p.CreatedAt)})
		}
		return err
	})
	if err == nil {
		s.answer(w, http.StatusOK, out)
	}
	return err
}

const (
	usualLimit = 50
	mostLimit  = 200
)

func limitOf(r *http.Request) (int, error) {
	value := r.URL.Query().Get("limit")
	if value == "" {
		return usualLimit, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > mostLimit {
		return 0, invalid("limit", text.New("v1.limit", "most", mostLimit))
	}
	return n, nil
}

// sessions lists what is visible, by last activity. Spec V1-053 to -059.
func (s *Server) sessions(w http.ResponseWriter, r *http.Request) error {
	limit, err := limitOf(r)
	if err != nil {
		return err
	}
	q := store.ActivityQuery{Limit: limit + 1}
	if cursor := r.URL.Query().Get("cursor"); cursor != "" {
		if q.Before, err = readCursor(cursor); err != nil {
			return err
		}
	}
	out := SessionList{Sessions: []Session{}}
	err = s.o.Loop.Read(r.Context(), func(tx *store.ReadTx) error {
		projects, err := tx.Projects()
		if err != nil {
			return err
		}
		if id := r.URL.Query().Get("projectId"); r.URL.Query().Has("projectId") {
			p, found := projectByID(projects, id)
			if !found {
				return fault.New(fault.NotFound, text.New("v1.project", "id", id))
			}
			q.Place = p.Place
		}
		page, err := tx.ByActivity(q)
		if err != nil {
			return err
		}
		if len(page) > limit {
			page = page[:limit]
			out.NextCursor = writeCursor(page[limit-1])
		}
		for _, one := range page {
			line, err := s.info(tx, one, projects)
			if err != nil {
				return err
			}
			out.Sessions = append(out.Sessions, line)
		}
		return nil
	})
	if err == nil {
		s.answer(w, http.StatusOK, out)
	}
	return err
}

func projectByID(all []store.Project, id string) (store.Project, bool) {
	for _, p := range all {
		if p.ID == id {
			return p, true
		}
	}
	return store.Project{}, false
}

func projectAt(all []store.Project, place string) *string {
	for _, p := range all {
		if p.Place == place {
			return &p.ID
		}
	}
	return nil
}

// A cursor is a place in the order of activity.
type cursor struct {
	At int64  `json:"a"`
	ID string `json:"i"`
}

func writeCursor(s store.Active) string {
	data, _ := json.Marshal(cursor{s.Head.UpdatedAt, s.Session.ID}) // a number and a string
	return base64.RawURLEncoding.EncodeToString(data)
}

func readCursor(value string) (*store.ActivityPlace, error) {
	var c cursor
	data, err := base64.RawURLEncoding.DecodeString(value)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil || c.ID == "" {
		return nil, invalid("cursor", text.New("v1.cursor"))
	}
	return &store.ActivityPlace{At: c.At, ID: c.ID}, nil
}

// info is a session's line.
func (s *Server) info(tx *store.ReadTx, a store.Active, projects []store.Project) (Session, error) {
	state, err := runState(tx, a.Session.SID, a.Head)
	return Session{
		ID: a.Session.WireID(), Title: orElse(a.Session.Title, a.Session.Name), Status: statusOf(a.Session.Gate, a.Session.ArchivedAt != 0),
		ProjectID: projectAt(projects, a.Session.Place), RunState: state, LastSeq: a.Head.LastSeq, Initiator: Person{a.Session.Initiator},
		CreatedAt: stamp(a.Session.CreatedAt), UpdatedAt: stamp(a.Head.UpdatedAt),
	}, err
}

// runState is that of the latest run: a session whose last run was cancelled is idle for whoever asks.
func runState(tx *store.ReadTx, _ int64, h store.Head) (Phase, error) {
	if h.RunningTurn == "" {
		return RunIdle, nil
	}
	t, err := tx.Turn(h.RunningTurn)
	if err != nil {
		return "", fmt.Errorf("reading the running turn: %w", err)
	}
	if t.CancelSeq != 0 {
		return RunCancelling, nil
	}
	return RunRunning, nil
}

// detail is a session with its newest messages. Spec V1-070 to -079.
func (s *Server) detail(w http.ResponseWriter, r *http.Request) error {
	limit, err := limitOf(r)
	if err != nil {
		return err
	}
	found, _, err := s.session(r)
	if err != nil {
		return err
	}
	out := SessionDetail{Messages: []Message{}, PendingApprovals: []Asked{}}
	err = s.o.Loop.Read(r.Context(), func(tx *store.ReadTx) error {
		head, err := tx.Head(found.SID)
		if err != nil {
			return err
		}
		projects, err := tx.Projects()
		if err != nil {
			return err
		}
		if out.Session, err = s.info(tx, store.Active{Session: found, Head: head}, projects); err != nil {
			return err
		}
		out.LastSeq = head.LastSeq
		if err := s.messages(tx, found.SID, limit, &out); err != nil {
			return err
		}
		return s.pending(tx, found, &out)
	})
	if errors.Is(err, store.ErrNotFound) { // deleted meanwhile
		return core.NoSession(found.WireID())
	}
	if err == nil {
		s.answer(w, http.StatusOK, out)
	}
	return err
}

// messages are the newest ones, in ascending order; one that is still written has the text so far.
func (s *Server) messages(tx *store.ReadTx, sid int64, limit int, out *SessionDetail) error {
	dead, err := tx.DeadTurns(sid)
	if err != nil {
		return err
	}
	ended := map[string]bool{}
	var newest []Message
	kinds := []event.Kind{event.UserMessage, event.AgentMessage, event.MessageStarted}
	err = tx.Backwards(sid, 1<<32-1, kinds, func(e event.Event) (bool, error) {
		m := Message{Seq: e.Seq, At: stamp(e.At)}
		switch d := e.Payload.(type) {
		case event.Input:
			m.MessageID, m.Role, m.Text = e.ID, "user", d.Text
		case event.Message:
			ended[d.MessageID] = true
			m.MessageID, m.Role, m.Text, m.FinishReason = d.MessageID, "assistant", d.Text, finishOf(d)
		case event.MessageStart:
			if ended[d.MessageID] {
				return true, nil
			}
			said, err := tx.Text(sid, e.Seq, 1<<32-1)
			if err != nil {
				return false, err
			}
			m.MessageID, m.Role, m.Text = d.MessageID, "assistant", said
		default:
			return true, nil
		}
		if dead[e.Turn] {
			return true, nil
		}
		if len(newest) == limit {
			out.HasMore = true
			return false, nil
		}
		newest = append(newest, m)
		return true, nil
	})
	for i := len(newest) - 1; i >= 0; i-- {
		out.Messages = append(out.Messages, newest[i])
	}
	return err
}

func (s *Server) pending(tx *store.ReadTx, of store.Session, out *SessionDetail) error {
	rows, err := tx.PendingActions(of.SID)
	if err != nil {
		return err
	}
	p := newProjector(of.SID, of.WireID(), s.o.Digest)
	for _, row := range rows {
		e, found, err := tx.Event(row.ID)
		if err != nil {
			return err
		}
		a, ok := e.Payload.(event.Action)
		if !found || !ok || a.ActionKind != "tool_approval" {
			continue
		}
		call, err := callOf(tx, e.Parent)
		if err != nil {
			return err
		}
		out.PendingApprovals = append(out.PendingApprovals, p.asked(e, a, call))
	}
	return nil
}
