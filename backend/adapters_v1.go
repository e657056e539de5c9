package backend

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"aalis/backend/contract/schema"
	"aalis/backend/engine/native"
	"aalis/backend/principal"
	"aalis/backend/server"
	"aalis/backend/store"
	"aalis/backend/tool"
	"aalis/backend/wire/v1"
)

// mounts are the protocols over HTTP beside the door's own addresses.
func (b *Backend) mounts() (map[string]server.Mount, error) {
	digest, err := digester(principal.KeyFile(filepath.Join(b.config.DataDir, "digest.key")))
	if err != nil {
		return nil, err
	}
	spoken := v1.New(v1.Options{
		Loop: b.loop, Digest: digest, Caller: server.CallerOf, Name: b.name, Language: b.language, Version: b.config.Version, Log: b.log,
		Capabilities: b.capabilities,
		Health: func(ctx context.Context) error {
			return b.store.Read(ctx, func(tx *store.ReadTx) error {
				_, err := tx.Meta("installation")
				return err
			})
		},
	})
	document, err := schema.V1.ReadFile("v1/openapi.json")
	if err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	published := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(document))
	})
	return map[string]server.Mount{
		"GET /openapi/v1.json": {Handler: published, Refuse: spoken.Refuse, Public: true},
		v1.Prefix + "/":        {Handler: spoken, Refuse: spoken.Refuse},
		v1.Prefix + "/health":  {Handler: spoken, Refuse: spoken.Refuse, Public: true},
	}, nil
}

// capabilities are the tools of all groups; in a session those of the groups that are on there.
func (b *Backend) capabilities(ctx context.Context, in *store.Session) ([]v1.Capability, error) {
	on := func(string) bool { return true }
	if in != nil {
		values, err := b.resolve(ctx, in.ID, in.Harness, in.Platform)
		if err != nil {
			return nil, err
		}
		if on, err = native.GroupsOn(values); err != nil {
			return nil, err
		}
	}
	var all []v1.Capability
	for _, g := range b.groups {
		if !on(g.ID) {
			continue
		}
		for _, t := range g.Tools {
			about, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n\n")
			all = append(all, v1.Capability{
				ID: t.Name, Title: t.Name, Description: about, Effect: string(t.Effect), RequiresApproval: t.Effect == tool.Write && !t.Harmless,
				ParamsSchema: t.Params, Anywhere: t.Harmless,
			})
		}
	}
	return all, nil
}

// digester makes digests of arguments that nobody can guess at who has not the key of this installation:
// over canonical JSON, with sorted keys and no space (Spec V1-116, -117).
func digester(key principal.KeySource) (func(v1.Args) string, error) {
	secret, err := key()
	if err != nil {
		return nil, fmt.Errorf("reading the key of digests: %w", err)
	}
	return func(args v1.Args) string {
		canonical := []byte(args)
		var value any
		d := json.NewDecoder(bytes.NewReader(args))
		d.UseNumber()
		if d.Decode(&value) == nil {
			if sorted, err := json.Marshal(value); err == nil {
				canonical = sorted
			}
		}
		sum := hmac.New(sha256.New, secret)
		sum.Write(canonical) // never fails
		return "sha256:" + hex.EncodeToString(sum.Sum(nil))
	}, nil
}
