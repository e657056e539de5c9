package app

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/viper"

	"aalis/backend/fault"
	"aalis/backend/provider"
	"aalis/backend/room/local"
	document "aalis/backend/settings"
	"aalis/backend/text"
)

// settings are what flags, environment and config.yaml say together, in this order of weight.
type settings struct {
	dataDir    string
	configFile string
	logLevel   slog.Level
	name       string
	language   text.Language
	listen     []string
	providers  provider.Config
	localRooms *local.Config  // nil: the local platform is not played
	autostart  bool           // at the start; who runs asks the instance, because it can be set
	fixed      map[string]any // what the environment says of keys that the program writes, too; nil: nothing
}

const (
	defaultName = "Aalis"
	maxName     = 64
	envPrefix   = "AALIS"
)

// configKeys are the keys of config.yaml, each also an environment variable AALIS_<KEY>.
var configKeys = []string{"name", "language", "listen", "log_level", "providers", "default_model"}

// documentKeys are the keys that stand in the file alone; package settings reads them.
var documentKeys = []string{"settings", "plugins", shellKey}

// fileKeys are all keys of config.yaml that are no variables.
var fileKeys = append(slices.Clone(documentKeys), roomsKey)

// written are the keys that the program writes as well: a variable stands before them until it does.
var written = []string{"name", "language", "default_model"}

// envOnly are the variables that are no key of the file.
var envOnly = []string{"AALIS_DATA_DIR", "AALIS_CONFIG"}

var (
	providerKeys = []string{"id", "type", "base_url", "api_key_env", "models", "idle_timeout"}
	modelKeys    = []string{"name", "context_window"}
	logLevels    = []string{"debug", "info", "warn", "error"}
	languages    = []string{string(text.Chinese), string(text.English)}
)

// locate settles where data and configuration lie. It must not need the configuration.
func (p *program) locate() error {
	var mistakes []error
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, envPrefix+"_") && !slices.Contains(envNames(), name) {
			mistakes = append(mistakes, usage("config.file", "file", name, "problem",
				text.New("config.unknown-env", "hint", hint(name, envNames()))))
		}
	}
	if len(mistakes) > 0 {
		return errors.Join(mistakes...)
	}
	if p.flags.dataDir == "" {
		p.flags.dataDir = os.Getenv("AALIS_DATA_DIR")
	}
	if p.flags.dataDir == "" {
		dir, err := defaultDataDir()
		if err != nil {
			return err
		}
		p.flags.dataDir = dir
	}
	dir, err := filepath.Abs(p.flags.dataDir)
	if err != nil {
		return usage("config.data-dir-bad", "folder", p.flags.dataDir, "reason", err.Error())
	}
	p.flags.dataDir = dir
	return nil
}

func envNames() []string {
	names := slices.Clone(envOnly)
	for _, key := range configKeys {
		names = append(names, envName(key))
	}
	return names
}

func envName(key string) string { return envPrefix + "_" + strings.ToUpper(key) }

// settings reads everything. The error joins one mistake per wrong value, each naming the file or
// variable, the key, what is wrong and what would be right.
func (p *program) settings(listen []string) (settings, error) {
	if err := p.locate(); err != nil {
		return settings{}, err
	}
	v, err := p.readConfig()
	if err != nil {
		return settings{}, err
	}
	r := reader{v: v, file: p.flags.config}
	s := settings{
		dataDir:    p.flags.dataDir,
		configFile: p.flags.config,
		name:       r.name(),
		language:   p.lang,
		listen:     listen,
		localRooms: r.localRooms(),
		providers:  provider.Config{Providers: r.providers(), DefaultModel: r.text("default_model", ""), Getenv: os.Getenv},
	}
	s.autostart = r.shellSettings()
	for _, key := range written {
		if value, given := os.LookupEnv(envName(key)); given && value != "" {
			if s.fixed == nil {
				s.fixed = map[string]any{}
			}
			s.fixed[key] = value
		}
	}
	if word := r.oneOf("language", languages); word != "" {
		s.language, _ = text.ParseLanguage(word)
		p.lang = s.language
	}
	if configured := r.texts("listen"); len(listen) == 0 {
		s.listen = configured
	}
	level := r.oneOf("log_level", logLevels)
	if p.flags.logLevel != "" {
		level = p.flags.logLevel
		if !slices.Contains(logLevels, level) {
			r.mistakes = append(r.mistakes, usage("config.file", "file", "--log-level", "problem",
				text.New("config.want-one-of", "value", visible(level), "hint", hint(level, logLevels))))
		}
	}
	_ = s.logLevel.UnmarshalText([]byte(orElse(level, "info"))) // one of logLevels, or a mistake already
	return s, errors.Join(r.mistakes...)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// readConfig reads the file and the environment. A file that was not named may be missing.
func (p *program) readConfig() (*viper.Viper, error) {
	named := p.flags.config != "" || os.Getenv("AALIS_CONFIG") != ""
	if p.flags.config == "" {
		p.flags.config = orElse(os.Getenv("AALIS_CONFIG"), filepath.Join(p.flags.dataDir, "config.yaml"))
	}
	v := viper.New()
	v.SetConfigType("yaml")
	v.SetEnvPrefix(envPrefix)
	for _, key := range configKeys {
		if err := v.BindEnv(key); err != nil {
			return nil, fmt.Errorf("binding %s: %w", key, err)
		}
	}
	data, err := os.ReadFile(p.flags.config)
	wrong := func(key text.Key, args ...any) error {
		return usage("config.file", "file", p.flags.config, "problem", text.New(key, args...))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return v, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, wrong("config.missing")
	case err != nil:
		return nil, wrong("config.unreadable", "reason", reasonOf(err))
	}
	if err := v.ReadConfig(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))); err != nil {
		if strings.Contains(err.Error(), "cannot unmarshal") {
			return nil, wrong("config.not-map")
		}
		return nil, wrong("config.syntax", "reason", strings.TrimPrefix(reasonOf(err), "yaml: "))
	}
	var mistakes []error
	for key := range v.AllSettings() {
		if !slices.Contains(configKeys, key) && !slices.Contains(fileKeys, key) {
			mistakes = append(mistakes, usage("config.mistake", "file", p.flags.config, "key", visibleLine(key), "problem",
				text.New("config.unknown-key", "hint", hint(key, slices.Concat(configKeys, fileKeys)))))
		}
	}
	for _, one := range document.CheckDocument(data) {
		mistakes = append(mistakes, usage("config.file", "file", p.flags.config, "problem", one.Message))
	}
	return v, errors.Join(mistakes...)
}

// reasonOf is the innermost cause: the outer ones repeat the file's name.
func reasonOf(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err.Error()
}

// reader takes typed values out of what was read and collects the mistakes.
type reader struct {
	v        *viper.Viper
	file     string
	mistakes []error
}

// wrong notes a mistake at a key, in the file or the variable it came from.
func (r *reader) wrong(key string, problem text.Key, args ...any) {
	file, top := r.file, key
	if cut := strings.IndexAny(key, ".["); cut >= 0 {
		top = key[:cut]
	}
	if os.Getenv(envName(top)) != "" {
		file = envName(top)
	}
	r.mistakes = append(r.mistakes, usage("config.mistake", "file", file, "key", key, "problem", text.New(problem, args...)))
}

func shown(value any) string { return visibleLine(fmt.Sprint(value)) }

func (r *reader) text(key, otherwise string) string {
	value := r.v.Get(key)
	if value == nil {
		return otherwise
	}
	s, ok := value.(string)
	if !ok {
		r.wrong(key, "config.want-text", "value", shown(value))
	}
	return s
}

func (r *reader) name() string {
	name := strings.TrimSpace(r.text("name", defaultName))
	if name == "" || utf8.RuneCountInString(name) > maxName || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) {
		r.wrong("name", "config.name-long", "max", maxName)
	}
	return name
}

func (r *reader) oneOf(key string, known []string) string {
	word := r.text(key, "")
	if word != "" && !slices.Contains(known, word) {
		r.wrong(key, "config.want-one-of", "value", shown(word), "hint", hint(word, known))
		return ""
	}
	return word
}

// texts reads a list of texts, or one text with commas, which is how a variable writes a list.
func (r *reader) texts(key string) []string {
	switch value := r.v.Get(key).(type) {
	case nil:
		return nil
	case string:
		var list []string
		for part := range strings.SplitSeq(value, ",") {
			list = append(list, strings.TrimSpace(part))
		}
		return list
	case []any:
		list := make([]string, len(value))
		for i, each := range value {
			s, ok := each.(string)
			if !ok {
				r.wrong(fmt.Sprintf("%s[%d]", key, i), "config.want-text", "value", shown(each))
			}
			list[i] = s
		}
		return list
	default:
		r.wrong(key, "config.want-texts", "value", shown(value))
		return nil
	}
}

// providers reads the list; package provider checks what stands in it.
func (r *reader) providers() []provider.ProviderConfig {
	value := r.v.Get("providers")
	if s, ok := value.(string); ok { // from the environment: the same list as YAML or JSON
		inner := viper.New()
		inner.SetConfigType("yaml")
		if err := inner.ReadConfig(strings.NewReader("providers: " + s)); err != nil {
			r.wrong("providers", "config.syntax", "reason", strings.TrimPrefix(reasonOf(err), "yaml: "))
			return nil
		}
		value = inner.Get("providers")
	}
	if value == nil {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		r.wrong("providers", "config.want-list", "value", shown(value))
		return nil
	}
	all := make([]provider.ProviderConfig, len(list))
	for i, each := range list {
		at := fmt.Sprintf("providers[%d]", i)
		if e, ok := r.entry(at, each, providerKeys); ok {
			all[i] = provider.ProviderConfig{
				ID: e.text("id"), Type: e.text("type"), BaseURL: e.text("base_url"), APIKeyEnv: e.text("api_key_env"),
				IdleTimeout: e.duration("idle_timeout"), Models: e.models(),
			}
		}
	}
	return all
}

// entry is one map of a list.
type entry struct {
	r  *reader
	at string
	of map[string]any
}

func (r *reader) entry(at string, value any, known []string) (entry, bool) {
	of, ok := value.(map[string]any)
	if !ok {
		r.wrong(at, "config.want-entry", "value", shown(value))
		return entry{}, false
	}
	for key := range of {
		if !slices.Contains(known, key) {
			r.wrong(at+"."+visibleLine(key), "config.unknown-key", "hint", hint(key, known))
		}
	}
	return entry{r, at, of}, true
}

func (e entry) text(key string) string {
	value, there := e.of[key]
	if !there || value == nil {
		return ""
	}
	s, ok := value.(string)
	if !ok {
		e.r.wrong(e.at+"."+key, "config.want-text", "value", shown(value))
	}
	return s
}

func (e entry) duration(key string) time.Duration {
	value, there := e.of[key]
	if !there {
		return 0
	}
	d, err := time.ParseDuration(fmt.Sprint(value))
	if err != nil {
		e.r.wrong(e.at+"."+key, "config.want-time", "value", shown(value))
	}
	return d
}

// models reads names, or maps of a name and a context_window.
func (e entry) models() []provider.ModelConfig {
	value, there := e.of["models"]
	if !there || value == nil {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		e.r.wrong(e.at+".models", "config.want-list", "value", shown(value))
		return nil
	}
	models := make([]provider.ModelConfig, len(list))
	for i, each := range list {
		if name, ok := each.(string); ok {
			models[i].Name = name
			continue
		}
		at := fmt.Sprintf("%s.models[%d]", e.at, i)
		if m, ok := e.r.entry(at, each, modelKeys); ok {
			models[i] = provider.ModelConfig{Name: m.text("name"), ContextWindow: m.tokens("context_window")}
		}
	}
	return models
}

func (e entry) tokens(key string) int {
	value, there := e.of[key]
	if !there {
		return 0
	}
	n, err := strconv.Atoi(fmt.Sprint(value))
	if err != nil {
		e.r.wrong(e.at+"."+key, "config.want-number", "value", shown(value))
	}
	return n
}

// errNoHome says that the system does not tell where data belongs.
func errNoHome(variable string) error {
	return fault.New(fault.Invalid, text.New("config.no-data-dir", "variable", variable))
}
