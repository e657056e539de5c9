package provider

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"aalis/backend/text"
)

// Config is the providers part of config.yaml, already read; the app fills it.
type Config struct {
	Providers    []ProviderConfig
	DefaultModel string // entry id; "" takes the first model there is
	// Getenv reads the environment variables that api_key_env names; nil means there are none.
	Getenv func(string) string
	// Secret gives the key kept for a provider outside config.yaml; nil means there are none. It is
	// asked at each call of a model, so a changed key counts at once.
	Secret func(providerID string) string
}

// ProviderConfig is one entry of the list.
type ProviderConfig struct {
	ID          string
	Type        string
	BaseURL     string
	APIKeyEnv   string
	Models      []ModelConfig // empty: asked from the endpoint
	IdleTimeout time.Duration // silence after which a call fails; 0 means DefaultIdleTimeout
}

// ModelConfig is one model of a provider; in config.yaml a bare name means the name alone.
type ModelConfig struct {
	Name          string
	ContextWindow int // tokens; 0 when not said
}

// DefaultIdleTimeout is how long a server may be silent.
const DefaultIdleTimeout = 120 * time.Second

// minWindow is below any model that could hold the instructions and one tool result.
const minWindow = 1024

// Kind is a wire dialect that config.yaml can name as a type.
type Kind struct {
	NeedsURL bool // whether base_url is required; without it base_url is a mistake
	Open     func(Settings) Source
}

// Settings is one checked provider as its dialect is given it.
type Settings struct {
	ID          string
	BaseURL     string // without a trailing slash
	KeyEnv      string // the variable the key is read from, for messages; "" when not from one
	Key         func() string
	IdleTimeout time.Duration
}

// ConfigError is one mistake in the providers part of config.yaml.
type ConfigError struct {
	Path    string    // for example "providers[1].base_url"
	Message text.Text // what is wrong and what would be right
}

// Error is the sentence in English with its path.
func (e *ConfigError) Error() string { return e.Path + ": " + e.Message.String() }

var (
	idForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	envForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

// check names every mistake at once, joined; each is a *ConfigError.
func (c Config) check(kinds map[string]Kind) error {
	var errs []error
	seen := map[string]bool{}
	for i, p := range c.Providers {
		at := fmt.Sprintf("providers[%d]", i)
		errs = append(errs, p.checkID(at+".id", seen)...)
		kind, known := kinds[p.Type]
		if !known {
			errs = append(errs, mistake(at+".type", "provider.config.type", "value", p.Type,
				"known", strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")))
		} else if err := p.checkURL(at+".base_url", kind); err != nil {
			errs = append(errs, err)
		}
		if p.APIKeyEnv != "" && !envForm.MatchString(p.APIKeyEnv) {
			// The value may be the key itself, pasted into the wrong place: only its start is shown.
			errs = append(errs, mistake(at+".api_key_env", "provider.config.env-form", "value", firstRunes(p.APIKeyEnv, 4)+"…"))
		}
		if p.IdleTimeout < 0 {
			errs = append(errs, mistake(at+".idle_timeout", "provider.config.idle", "value", p.IdleTimeout.String()))
		}
		errs = append(errs, p.checkModels(at+".models")...)
	}
	if c.DefaultModel != "" && !c.names(c.DefaultModel) {
		errs = append(errs, mistake("default_model", "provider.config.default", "value", c.DefaultModel, "known", c.providerIDs()))
	}
	return errors.Join(errs...)
}

func (p ProviderConfig) checkID(at string, seen map[string]bool) []error {
	switch {
	case p.ID == "":
		return []error{mistake(at, "provider.config.id-missing")}
	case !idForm.MatchString(p.ID):
		return []error{mistake(at, "provider.config.id-form", "value", p.ID)}
	case seen[p.ID]:
		return []error{mistake(at, "provider.config.id-twice", "value", p.ID)}
	}
	seen[p.ID] = true
	return nil
}

func (p ProviderConfig) checkURL(at string, kind Kind) error {
	if !kind.NeedsURL {
		if p.BaseURL != "" {
			return mistake(at, "provider.config.url-none", "type", p.Type)
		}
		return nil
	}
	if p.BaseURL == "" {
		return mistake(at, "provider.config.url-absent")
	}
	u, err := url.Parse(p.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return mistake(at, "provider.config.url-form", "value", p.BaseURL)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return mistake(at, "provider.config.url-secret")
	}
	return nil
}

func (p ProviderConfig) checkModels(at string) []error {
	var errs []error
	seen := map[string]bool{}
	for i, m := range p.Models {
		at := fmt.Sprintf("%s[%d]", at, i)
		switch {
		case strings.TrimSpace(m.Name) == "":
			errs = append(errs, mistake(at, "provider.config.model"))
		case seen[m.Name]:
			errs = append(errs, mistake(at, "provider.config.model-2", "value", m.Name))
		}
		seen[m.Name] = true
		if m.ContextWindow != 0 && m.ContextWindow < minWindow {
			errs = append(errs, mistake(at+".context_window", "provider.config.window",
				"value", m.ContextWindow, "min", minWindow, "default", DefaultContextWindow))
		}
	}
	return errs
}

// names reports whether id can be one of the configured entries; a provider without a list of
// models may have any.
func (c Config) names(id string) bool {
	providerID, name, _ := strings.Cut(id, "/")
	for _, p := range c.Providers {
		if p.ID == providerID && name != "" {
			return len(p.Models) == 0 || slices.ContainsFunc(p.Models, func(m ModelConfig) bool { return m.Name == name })
		}
	}
	return false
}

func (c Config) providerIDs() string {
	ids := make([]string, len(c.Providers))
	for i, p := range c.Providers {
		ids[i] = p.ID
	}
	return strings.Join(ids, ", ")
}

// key reads the key anew at each call. A named variable wins over a kept secret.
func (c Config) key(p ProviderConfig) func() string {
	return func() string {
		if p.APIKeyEnv != "" {
			if c.Getenv == nil {
				return ""
			}
			return strings.TrimSpace(c.Getenv(p.APIKeyEnv))
		}
		if c.Secret == nil {
			return ""
		}
		return strings.TrimSpace(c.Secret(p.ID))
	}
}

func mistake(path string, key text.Key, args ...any) error {
	return &ConfigError{Path: path, Message: text.New(key, args...)}
}

func firstRunes(s string, n int) string {
	r := []rune(s)
	return string(r[:min(n, len(r))])
}
