package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"aalis/backend/background"
	"aalis/backend/core"
	"aalis/backend/engine/native"
	"aalis/backend/principal"
	"aalis/backend/provider"
	"aalis/backend/room"
	"aalis/backend/settings"
	"aalis/backend/settings/field"
	"aalis/backend/store"
	"aalis/backend/text"
	"aalis/backend/tool/subtask"
)

// nativeHarness is the id of our own engine: of the sessions it conducts, and of its settings.
const nativeHarness = "aalis"

// host is the plugin that declares what is the host's own.
const (
	host           = "host"
	hostShell      = "desktop" // has what Config.Fields declares
	hostLanguage   = "language"
	hostForeground = "foreground"
)

// hostFields declares what is set for the program itself. The language applies to no kind of session:
// everything is said to the owner alone (Spec SP-I18N-02, decisions L1).
func (b *Backend) hostFields() field.Plugin {
	least, most := 1.0, 3600.0 // seconds
	names := []field.Option{{Label: text.Plain("中文"), Value: field.Raw(text.Chinese)}, {Label: text.Plain("English"), Value: field.Raw(text.English)}}
	return field.Plugin{ID: host, Fields: []field.Field{{
		Key: hostLanguage, Type: field.Select, Label: text.New("settings.language"), Description: text.New("settings.language-about"),
		Options: names, Pattern: "^(" + string(text.Chinese) + "|" + string(text.English) + ")$", Preference: true, Path: []string{"language"},
		Session: field.Spec{AppliesTo: []field.Kind{}, Prominence: field.Common, Unset: text.New("settings.language-unset")},
		Actual: func() (field.Actual, bool) {
			now := field.Actual{Value: field.Raw(b.config.Language)}
			for _, o := range names {
				if string(o.Value) == string(now.Value) {
					now.Label = o.Label
				}
			}
			return now, true
		},
	}, {
		Key: hostForeground, Type: field.Number, Label: text.New("settings.foreground"), Description: text.New("settings.foreground-about"),
		Default: field.Raw(int(background.DefaultForeground.Seconds())), Min: &least, Max: &most, Integer: true,
		Session: field.Spec{AppliesTo: []field.Kind{}, Prominence: field.Advanced},
	}}}
}

// foreground is how long a call keeps its turn waiting before it goes to the background.
func (b *Backend) foreground() time.Duration {
	seconds := background.DefaultForeground.Seconds()
	if raw := b.settings.Global(host, hostForeground); raw != nil {
		_ = json.Unmarshal(raw, &seconds) // a number, or the field would not have it
	}
	return time.Duration(seconds * float64(time.Second))
}

// openSettings opens the host document and declares everybody's fields. From here on the setting says
// which model is the default, and the set has none of its own.
func (b *Backend) openSettings(models *provider.Set) (err error) {
	path, fixed := b.config.Document, map[string]any{}
	if path == "" {
		path = filepath.Join(b.config.DataDir, "config.yaml")
	}
	maps.Copy(fixed, b.config.Fixed)
	if b.document, err = settings.OpenDocument(settings.DocumentOptions{Path: path, Fixed: fixed, Log: b.log}); err != nil {
		return err
	}
	b.models = models.WithDefault("")
	if len(b.config.Provider.Providers) == 0 { // the demo engine knows its model without being asked over a network
		if _, err := b.models.Default(context.Background()); err != nil {
			return fmt.Errorf("asking the demo engine for its model: %w", err)
		}
	}
	plugins := []field.Plugin{b.hostFields(), native.Fields(nativeHarness, b.models), subtask.Fields(), room.Fields()}
	if len(b.config.Fields) > 0 {
		plugins = append(plugins, field.Plugin{ID: hostShell, Fields: b.config.Fields})
	}
	b.settings = settings.New(settings.Options{
		Document: b.document,
		Plugins:  plugins,
		// The program's own surfaces are platforms without types of chats.
		Platforms: func() []settings.Platform {
			return append([]settings.Platform{{ID: principal.SurfaceWeb}, {ID: principal.SurfaceCLI}, {ID: principal.SurfaceClient}}, b.platforms()...)
		},
		Claims: func(id string) string { return room.Claims(b.adapters, id) },
		Home:   principal.SurfaceWeb,
	})
	return nil
}

// Setting gives what counts now of a field of Config.Fields: what is set, else its default; nil for
// neither, and for a field that was not declared. It is cheap.
func (b *Backend) Setting(key string) json.RawMessage { return b.settings.Global(hostShell, key) }

// OnSettings has fn called, too, when Run begins and after every change of what is set for the program,
// be it of Config.Fields or not. It may block for a moment: calls come one at a time, from a goroutine of
// Run's, and one may stand for several changes. It must be called before Run.
func (b *Backend) OnSettings(fn func()) { b.retold = append(b.retold, fn) }

// followSettings tells of changes until ctx ends.
func (b *Backend) followSettings(ctx context.Context) error {
	if len(b.retold) == 0 {
		<-ctx.Done()
		return nil
	}
	tell := func() {
		for _, fn := range b.retold {
			fn()
		}
	}
	cursor := b.loop.Cursor()
	tell() // of what changed before anybody followed
	for {
		entries, err := cursor.Next(ctx)
		if err != nil && !errors.Is(err, core.ErrFellBehind) {
			return err
		}
		changed := err != nil // what was missed may have been one
		for _, e := range entries {
			changed = changed || e.Note != nil && e.Note.Kind == core.NoteHost
		}
		if changed {
			tell()
		}
	}
}

// effective gives a turn's settings to its record.
func (b *Backend) effective(rows core.SettingRows, s store.Session, platform string) (map[string]json.RawMessage, error) {
	return b.settings.Effective(rows, s, platform, s.Harness)
}

// resolve gives a session's settings to its engine, whose id is that of its fields.
func (b *Backend) resolve(ctx context.Context, sessionID, harness, platform string) (map[string]json.RawMessage, error) {
	return b.settings.Resolve(ctx, sessionID, platform, harness)
}

// language is that of everything said to the owner: what is set for the host, else what it was started
// with.
func (b *Backend) language() text.Language {
	if raw := b.settings.Global(host, hostLanguage); raw != nil {
		return text.Language(strings.Trim(string(raw), `"`)) // one of the field's two words
	}
	return b.config.Language
}

// maxName bounds the app's name, in characters.
const maxName = 64

// name is the app's, as the host document has it now (Spec SP-INIT-08, -09). One that is no name, which
// a hand edit can leave, changes nothing.
func (b *Backend) name() string {
	name, _ := b.document.Get("name").(string)
	name = strings.TrimSpace(name)
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if name == "" || utf8.RuneCountInString(name) > maxName || strings.ContainsFunc(name, odd) {
		return b.config.Name
	}
	return name
}

// Options gives the choices of a source, as fields name them: llm, llm-thinking, toolGroups. dependency
// is the value of the field that the asking one depends on. A source that is not there has none
// (Spec SP-CONF-34, -36).
func (b *Backend) Options(ctx context.Context, source, dependency string) (field.Listing, error) {
	var all field.Choices
	var err error
	switch source {
	case native.SourceModels:
		all, err = b.modelChoices(ctx)
	case native.SourceThinking:
		all = native.ThinkingChoices(b.models, dependency)
	case native.SourceToolGroups:
		all = native.GroupChoices(b.groups)
	}
	return all.In(b.language()), err
}

// modelChoices lists the models of every provider that answers, and says which do not.
func (b *Backend) modelChoices(ctx context.Context) (field.Choices, error) {
	entries, err := b.models.List(ctx)
	if ctx.Err() != nil {
		return field.Choices{}, context.Cause(ctx)
	}
	var all field.Choices
	for _, e := range entries {
		all.Choices = append(all.Choices, field.Choice{Value: e.ID, Label: text.Plain(e.Name), Description: text.Plain(e.Provider)})
	}
	for _, one := range each(err) {
		b.log.Warn("a provider does not list its models", "err", one)
		if known, ok := errors.AsType[*provider.Error](one); ok {
			all.Problems = append(all.Problems, known.Message)
		}
	}
	return all, nil
}

// each takes joined errors apart.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err != nil {
		return []error{err}
	}
	return nil
}
