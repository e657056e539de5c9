package session_test

import (
	"encoding/json"
	"testing"

	"aalis/backend/contract/schema"
	"aalis/backend/wire/jsonrpc"
)

// published is the contract as clients have it.
type published struct {
	t       testing.TB
	schemas *jsonrpc.Schemas
}

func readPublished(t testing.TB) published {
	t.Helper()
	schemas, err := jsonrpc.LoadSchemas(schema.Session)
	if err != nil {
		t.Fatal(err)
	}
	return published{t: t, schemas: schemas}
}

// check holds a frame that a client was sent against the contract. asked is the method by the id it
// was asked under.
//
// Spec SP-PKG-12, -13.
func (p published) check(asked map[string]string, frame string) {
	p.t.Helper()
	var f struct {
		ID     json.RawMessage
		Method string
		Params any
		Result any
		Error  any
	}
	var tree any
	if err := json.Unmarshal([]byte(frame), &f); err != nil {
		p.t.Errorf("%v: %s", err, frame)
		return
	}
	_ = json.Unmarshal([]byte(frame), &tree)
	switch {
	case f.Method != "":
		p.fits(p.schemas.Shape("NotificationFrame"), tree, frame)
		p.fits(p.schemas.Notification(f.Method), f.Params, frame)
	case f.Error != nil:
		p.fits(p.schemas.Shape("ErrorFrame"), tree, frame)
	default:
		p.fits(p.schemas.Shape("ResultFrame"), tree, frame)
		p.fits(p.schemas.Result(asked[string(f.ID)]), f.Result, frame)
	}
}

func (p published) fits(shape *jsonrpc.Shape, tree any, frame string) {
	p.t.Helper()
	if shape == nil {
		p.t.Errorf("the contract does not know this: %s", frame)
		return
	}
	if misfit, err := shape.Check("frame", tree); err != nil || !misfit.IsZero() {
		p.t.Errorf("%v %v: %s", misfit, err, frame)
	}
}
