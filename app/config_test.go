package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/provider"
	"aalis/backend/text"
)

func load(t *testing.T, flags globals, listen ...string) (settings, string) {
	t.Helper()
	p := &program{flags: flags, lang: systemLanguage()}
	s, err := p.settings(listen)
	s.providers.Getenv = nil // a function, which does not compare
	if err != nil {
		return s, strings.Join(p.explain(err), "\n")
	}
	return s, ""
}

func TestSettings(t *testing.T) {
	dir := english(t)
	path := configure(t, dir, "\ufeff"+`
# a comment
name: Mira
language: zh-CN
listen: ["127.0.0.1:8080", "[::1]:8081"]
log_level: debug
providers:
  - id: local
    type: openai
    base_url: http://127.0.0.1:11434/v1
    api_key_env: LOCAL_KEY
    idle_timeout: 90s
    models: [qwen3:8b, {name: big, context_window: 32768}]
  - id: other
    type: openai
default_model: local/qwen3:8b
`)
	got, problem := load(t, globals{})
	if problem != "" {
		t.Fatal(problem)
	}
	want := settings{
		dataDir: dir, configFile: path, logLevel: slog.LevelDebug, name: "Mira", language: text.Chinese,
		listen: []string{"127.0.0.1:8080", "[::1]:8081"},
		providers: provider.Config{
			DefaultModel: "local/qwen3:8b",
			Providers: []provider.ProviderConfig{
				{
					ID: "local", Type: "openai", BaseURL: "http://127.0.0.1:11434/v1", APIKeyEnv: "LOCAL_KEY", IdleTimeout: 90 * time.Second,
					Models: []provider.ModelConfig{{Name: "qwen3:8b"}, {Name: "big", ContextWindow: 32768}},
				},
				{ID: "other", Type: "openai"},
			},
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(settings{})); diff != "" {
		t.Error(diff)
	}
}

func TestSettingsDefaults(t *testing.T) {
	dir := english(t)
	got, problem := load(t, globals{})
	want := settings{
		dataDir: dir, configFile: filepath.Join(dir, "config.yaml"), logLevel: slog.LevelInfo, name: "Aalis",
		language: text.English, // the system's
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(settings{})); diff != "" || problem != "" {
		t.Error(diff, problem)
	}
	t.Setenv("LC_ALL", "fr_FR.UTF-8")
	if got, _ := load(t, globals{}); got.language != text.Chinese {
		t.Errorf("a language that no catalogue speaks gives %s", got.language)
	}
	t.Setenv("AALIS_DATA_DIR", "")
	t.Setenv("XDG_DATA_HOME", "/data")
	if got, _ := load(t, globals{}); got.dataDir != "/data/aalis" {
		t.Error(got.dataDir)
	}
	t.Setenv("XDG_DATA_HOME", "relative")
	t.Setenv("HOME", "/home/her")
	if got, _ := load(t, globals{}); got.dataDir != "/home/her/.local/share/aalis" {
		t.Error(got.dataDir)
	}
}

func TestSettingsWeight(t *testing.T) {
	dir := english(t)
	configure(t, dir, "name: File\nlisten: 127.0.0.1:1\nlog_level: error\n")
	t.Setenv("AALIS_NAME", "Env")
	t.Setenv("AALIS_LISTEN", "127.0.0.1:2, 127.0.0.1:3")
	t.Setenv("AALIS_PROVIDERS", `[{"id":"e","type":"openai","base_url":"http://127.0.0.1:9/v1","models":["m"]}]`)
	got, problem := load(t, globals{logLevel: "warn"})
	if problem != "" {
		t.Fatal(problem)
	}
	if got.name != "Env" || got.logLevel != slog.LevelWarn || !cmp.Equal(got.listen, []string{"127.0.0.1:2", "127.0.0.1:3"}) {
		t.Errorf("%+v", got)
	}
	if want := []provider.ProviderConfig{{ID: "e", Type: "openai", BaseURL: "http://127.0.0.1:9/v1", Models: []provider.ModelConfig{{Name: "m"}}}}; !cmp.Equal(got.providers.Providers, want) {
		t.Error(cmp.Diff(want, got.providers.Providers))
	}
	if got, _ := load(t, globals{}, "127.0.0.1:4"); !cmp.Equal(got.listen, []string{"127.0.0.1:4"}) {
		t.Errorf("the flag does not win: %v", got.listen)
	}
	other := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(other, []byte("log_level: debug\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := load(t, globals{config: other}); got.logLevel != slog.LevelDebug || got.name != "Env" {
		t.Errorf("%+v", got)
	}
}

// TestSettingsMistakes: every mistake names the file or variable, the key, what is wrong and what would
// be right.
func TestSettingsMistakes(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"unknown key", "langage: en\n", "config.yaml: langage: there is no such key. Did you mean language?"},
		{"far key", "frobnicate: 1\n", "config.yaml: frobnicate: there is no such key. There are: name, language, listen, log_level, providers, default_model, settings, plugins, desktop, rooms."},
		{"language", "language: eng\n", "config.yaml: language: eng is not possible here. Did you mean en?"},
		{"log level", "log_level: verbose\n", "config.yaml: log_level: verbose is not possible here. There are: debug, info, warn, error."},
		{"name", "name: ' '\n", "config.yaml: name: a name has 1 to 64 visible characters"},
		{"name kind", "name: [a]\n", "config.yaml: name: [a] is not a text; write it in quotes"},
		{"listen", "listen: {a: 1}\n", "config.yaml: listen: map[a:1] is not a list of texts; write [a, b]"},
		{"listen entry", "listen: [8080]\n", "config.yaml: listen[0]: 8080 is not a text; write it in quotes"},
		{"providers", "providers: 7\n", "config.yaml: providers: 7 is not a list; begin each entry with `- `"},
		{"provider", "providers: [7]\n", "config.yaml: providers[0]: 7 is not an entry of `key: value` lines"},
		{"provider key", "providers: [{id: a, typ: openai}]\n", "config.yaml: providers[0].typ: there is no such key. Did you mean type?"},
		{"provider text", "providers: [{id: 7}]\n", "config.yaml: providers[0].id: 7 is not a text; write it in quotes"},
		{"idle", "providers: [{id: a, type: openai, idle_timeout: soon}]\n", "config.yaml: providers[0].idle_timeout: soon is not a time such as 120s"},
		{"model", "providers: [{id: a, models: [{nam: x}]}]\n", "config.yaml: providers[0].models[0].nam: there is no such key. Did you mean name?"},
		{"window", "providers: [{id: a, models: [{name: x, context_window: 1.5}]}]\n", "config.yaml: providers[0].models[0].context_window: 1.5 is not a whole number of tokens, such as 128000"},
		{"no map", "- a\n", "config.yaml: it must be a list of `key: value` lines"},
		{"syntax", "name: [\n", "config.yaml: it is not valid YAML: line"},
		{"twice", "name: a\nname: b\n", "config.yaml: it is not valid YAML: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			configure(t, english(t), c.yaml)
			_, problem := load(t, globals{})
			wants(t, "the mistake", problem, c.want)
		})
	}
	t.Run("several at once", func(t *testing.T) {
		configure(t, english(t), "language: xx\nlog_level: loud\n")
		_, problem := load(t, globals{})
		wants(t, "the mistakes", problem, "language: xx", "log_level: loud")
	})
	t.Run("environment", func(t *testing.T) {
		english(t)
		t.Setenv("AALIS_LANGUAGE", "enn")
		_, problem := load(t, globals{})
		wants(t, "the mistake", problem, "AALIS_LANGUAGE: language: enn is not possible here. Did you mean en?")
	})
	t.Run("unknown variable", func(t *testing.T) {
		english(t)
		t.Setenv("AALIS_LANGAUGE", "en")
		_, problem := load(t, globals{})
		wants(t, "the mistake", problem, "AALIS_LANGAUGE: there is no such setting. Did you mean AALIS_LANGUAGE?")
	})
	t.Run("named file is missing", func(t *testing.T) {
		english(t)
		_, problem := load(t, globals{config: "/nowhere/c.yaml"})
		wants(t, "the mistake", problem, "/nowhere/c.yaml: there is no such file")
	})
	t.Run("log level flag", func(t *testing.T) {
		english(t)
		_, problem := load(t, globals{logLevel: "inf"})
		wants(t, "the mistake", problem, "--log-level: inf is not possible here. Did you mean info?")
	})
	t.Run("in Chinese", func(t *testing.T) {
		configure(t, english(t), "language: xx\n")
		t.Setenv("LC_ALL", "zh_CN.UTF-8")
		_, problem := load(t, globals{})
		wants(t, "the mistake", problem, "这里不能用 xx。可用的有：zh-CN, en。")
	})
}
