package v1

import (
	"encoding/json"
	"errors"
	"net/http"

	"aalis/backend/core"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// CreateSession is what POST /v1/sessions takes; all of it may be absent.
type CreateSession struct {
	ProjectID      *string `json:"projectId,omitempty"`
	Title          string  `json:"title,omitempty"`
	IdempotencyKey string  `json:"idempotencyKey,omitempty" jsonschema:"maxLength=128"`
}

// Created answers it.
type Created struct {
	Session Session `json:"session"`
}

// Capability is something she can do.
type Capability struct {
	ID               string          `json:"id"`
	Title            string          `json:"title"`
	Description      string          `json:"description"`
	Effect           string          `json:"effect" jsonschema:"enum=read,enum=write"`
	RequiresApproval bool            `json:"requiresApproval"`
	ParamsSchema     json.RawMessage `json:"paramsSchema,omitempty" jsonschema:"type=object"`

	// Anywhere: it changes nothing but what belongs to the conversation.
	Anywhere bool `json:"-"`
}

// Capabilities answers GET /v1/capabilities.
type Capabilities struct {
	Capabilities []Capability `json:"capabilities"`
	SessionID    string       `json:"sessionId,omitempty"`
}

// create files a session, in a project or in none; in none nothing that can change things runs
// (Spec V1-060 to -069).
func (s *Server) create(w http.ResponseWriter, r *http.Request) error {
	var asked CreateSession
	if r.ContentLength != 0 {
		if err := body(r, &asked); err != nil {
			return err
		}
	}
	who, actor := s.actor(r)
	c := core.CreateSession{Actor: actor, Origin: "v1", Name: asked.Title, Place: core.NoPlace}
	if asked.IdempotencyKey != "" {
		if err := checkKey(asked.IdempotencyKey); err != nil {
			return err
		}
		c.Key = "v:" + who.Principal.ID + ":" + asked.IdempotencyKey
	}
	if asked.ProjectID != nil {
		err := s.o.Loop.Read(r.Context(), func(tx *store.ReadTx) error {
			all, err := tx.Projects()
			if err != nil {
				return err
			}
			p, found := projectByID(all, *asked.ProjectID)
			if !found {
				return fault.New(fault.NotFound, text.New("v1.project", "id", *asked.ProjectID))
			}
			c.Place = p.Place
			return nil
		})
		if err != nil {
			return err
		}
	}
	got, err := s.o.Loop.Do(r.Context(), c)
	if err != nil {
		return err
	}
	var out Created
	err = s.o.Loop.Read(r.Context(), func(tx *store.ReadTx) error {
		made, err := tx.Session(got.SessionID)
		if err != nil {
			return err
		}
		head, err := tx.Head(made.SID)
		if err != nil {
			return err
		}
		projects, err := tx.Projects()
		if err != nil {
			return err
		}
		out.Session, err = s.info(tx, store.Active{Session: made, Head: head}, projects)
		return err
	})
	if errors.Is(err, store.ErrNotFound) { // a repeated creation of what was deleted since
		return core.NoSession(got.SessionID)
	}
	if err == nil {
		s.answer(w, http.StatusCreated, out)
	}
	return err
}

// capabilities lists what the caller may have done, and in a session what can be done there
// (Spec V1-176 to -181).
func (s *Server) capabilities(w http.ResponseWriter, r *http.Request) error {
	out := Capabilities{Capabilities: []Capability{}}
	var in *store.Session
	if r.URL.Query().Has("sessionId") {
		out.SessionID = r.URL.Query().Get("sessionId")
		err := s.o.Loop.Read(r.Context(), func(tx *store.ReadTx) error {
			found, err := tx.Session(out.SessionID)
			in = &found
			return err
		})
		if errors.Is(err, store.ErrNotFound) {
			return core.NoSession(out.SessionID)
		}
		if err != nil {
			return err
		}
	}
	all, err := s.o.Capabilities(r.Context(), in)
	if err != nil {
		return err
	}
	for _, c := range all {
		if in != nil && in.Place == core.NoPlace && c.Effect == "write" && !c.Anywhere {
			continue
		}
		out.Capabilities = append(out.Capabilities, c)
	}
	s.answer(w, http.StatusOK, out)
	return nil
}
