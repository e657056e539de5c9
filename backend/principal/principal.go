// Package principal owns the question who is calling: principals, scopes, the owner's token of this
// start, one-time codes, browser sign-ins, the tokens of paired devices, and the signed tokens of other clients. Every
// protocol gets its Caller from here and from nowhere else.
//
// It never listens, knows no HTTP, and never lets a caller say who it is: identity, surface and
// scopes come from the record of the credential alone. Package server asks at the door; the
// composition root and the command line manage tokens through Authority.
//
//	Authority.Bearer   owner's token | JWT | opaque secret  → Caller
//	Authority.Pair     one-time code, device                → token of this device
//	Authority.Cookie   ap_session                           → Caller
//	Authority.Follow   tells a live connection that its credential ended
package principal

import (
	"slices"
	"strings"
	"time"

	"aalis/backend/fault"
	"aalis/backend/text"
)

// Kind says what a principal is. It is an alias so that rows of the principals table convert.
type Kind = string

// The kinds of principals.
const (
	Owner       Kind = "owner"
	User        Kind = "user"
	App         Kind = "app"
	Environment Kind = "environment"
	System      Kind = "system"
)

// OwnerID is the principal that the first migration makes: the person whose machine this is.
const OwnerID = "owner"

// Principal is one row of the principals table. Fields that do not apply to the kind are empty.
type Principal struct {
	ID            string
	Kind          Kind
	TenantID      string
	Platform      string
	UserID        string
	AppID         string
	EnvironmentID string
	DisplayName   string
}

// Scope is one right of a credential.
type Scope string

// The scopes, narrowest first.
const (
	Read    Scope = "read"    // see sessions and follow them
	Chat    Scope = "chat"    // write to sessions and manage them
	Approve Scope = "approve" // decide pending approvals
	Admin   Scope = "admin"   // settings, workspaces, other credentials
)

// Scopes is a set of scopes in the order of AllScopes.
type Scopes []Scope

// AllScopes lists every scope; the owner's own credentials have them all.
func AllScopes() Scopes { return Scopes{Read, Chat, Approve, Admin} }

// DefaultScopes is what a token for another client gets when nobody asks for more. It holds no right
// to approve (SEC-08).
func DefaultScopes() Scopes { return Scopes{Read, Chat} }

// Has reports whether the set holds scope.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

// String joins the scopes with commas, the form ParseScopes reads.
func (s Scopes) String() string { return strings.Join(s.words(), ",") }

func (s Scopes) words() []string {
	words := make([]string, len(s))
	for i, scope := range s {
		words[i] = string(scope)
	}
	return words
}

// ParseScopes reads a comma-separated list such as "read,chat". An empty list gives DefaultScopes;
// an unknown word is a fault that names it and the known ones.
func ParseScopes(list string) (Scopes, error) {
	if strings.TrimSpace(list) == "" {
		return DefaultScopes(), nil
	}
	var wanted []string
	for word := range strings.SplitSeq(list, ",") {
		wanted = append(wanted, strings.TrimSpace(word))
	}
	return scopesFrom(wanted)
}

func scopesFrom(words []string) (Scopes, error) {
	for _, word := range words {
		if !AllScopes().Has(Scope(word)) {
			return nil, fault.New(fault.Invalid, text.New("door.scope-unknown", "scope", word, "known", AllScopes().String()))
		}
	}
	set := Scopes{}
	for _, scope := range AllScopes() {
		if slices.Contains(words, string(scope)) {
			set = append(set, scope)
		}
	}
	return set, nil
}

// Identity is how the session protocol and the approvals know a person: a platform and a user there.
type Identity struct {
	Platform string
	UserID   string
}

// The surfaces a connection can have. Which one follows from the credential and is never the
// client's to say (Spec SP-PRES-02, SEC-08).
const (
	SurfaceDesktop = "desktop" // the window
	SurfaceTray    = "tray"    // the tray and the notifications
	SurfaceWeb     = "webui"   // browser tabs
	SurfaceCLI     = "cli"     // local commands and scripts with the owner's token
	SurfaceClient  = "client"  // other clients with a token of their own
)

// consoleUser is the user id of whoever sits at this machine.
const consoleUser = "console"

// Caller is an authenticated request or connection. It is a value: everything about it was read from
// the credential's record when it came in, and Authority.Follow tells when that stops being true.
type Caller struct {
	Principal Principal
	Scopes    Scopes
	Identity  Identity
	Surface   string

	// CredentialID names the credential in logs, lists and limits. It is no secret.
	CredentialID string
	// Via is the kind of the credential the caller came in with.
	Via CredentialKind
	// CredentialHash is the key of the credential's record; zero for what has none.
	CredentialHash Hash
	// DeviceID is the bound device of ViaDevice, "" for every other kind.
	DeviceID string
	// ExpiresAt is the end of a credential that has a fixed one, else zero.
	ExpiresAt time.Time
}

// Can reports whether the caller has the scope.
func (c Caller) Can(scope Scope) bool { return c.Scopes.Has(scope) }

// DesktopCaller is the caller of the app's own window, which speaks through in-process bindings and
// needs no credential: whoever can reach it already is the program. Its identity is that of a tab, so
// that settings resolve alike (spec/README 7).
func DesktopCaller() Caller { return inside(SurfaceDesktop) }

// TrayCaller is the caller of the tray and the notifications, which speak through the same bindings and
// answer approvals where no window is (spec/README 7).
func TrayCaller() Caller { return inside(SurfaceTray) }

func inside(surface string) Caller {
	return Caller{
		Principal:    localOwner(),
		Scopes:       AllScopes(),
		Identity:     Identity{Platform: SurfaceWeb, UserID: consoleUser},
		Surface:      surface,
		CredentialID: surface,
		Via:          ViaDesktop,
	}
}

func localOwner() Principal {
	return Principal{ID: OwnerID, Kind: Owner, TenantID: "local"}
}
