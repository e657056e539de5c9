package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aalis/backend/core"
	"aalis/backend/settings"
	"aalis/backend/settings/field"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

// configured is the settings service of a stage.
type configured struct {
	service *settings.Service
	doc     *settings.Document
	path    string
	disk    error // what writing the document fails with
}

// settingsStep is what happens to settings without any client:
//
//	settings                 the settings service begins, with the fields of lamp and shade
//	document TEXT            somebody writes the host document; \n stands for a new line
//	disk full, refuse, good  what writing the document comes to
//	fields away, back        the plugin shade is switched off and on
func (s *stage) settingsStep(word, rest string) {
	s.t.Helper()
	c := &s.configured
	switch word {
	case "settings":
		s.startSettings()
	case "document":
		if err := os.WriteFile(c.path, []byte(strings.ReplaceAll(rest, `\n`, "\n")), 0o600); err != nil {
			s.t.Fatal(err)
		}
		c.doc.Reload()
	case "disk":
		c.disk = map[string]error{"full": &os.PathError{Op: "write", Path: c.path, Err: syscall.ENOSPC}, "refuse": os.ErrPermission}[rest]
	case "fields":
		if rest == "away" {
			c.service.Withdraw("shade")
		} else if err := c.service.Register(shade); err != nil {
			s.t.Fatal(err)
		}
	}
}

// settingSteps are the words of settingsStep.
var settingSteps = map[string]bool{"settings": true, "document": true, "disk": true, "fields": true}

func (s *stage) startSettings() {
	s.t.Helper()
	c := &s.configured
	c.path = filepath.Join(s.t.TempDir(), "config.yaml")
	var err error
	if c.doc, err = settings.OpenDocument(settings.DocumentOptions{Path: c.path, Replace: func(path string, data []byte) error {
		if c.disk != nil {
			return c.disk
		}
		return os.WriteFile(path, data, 0o600)
	}}); err != nil {
		s.t.Fatal(err)
	}
	c.service = settings.New(settings.Options{
		Document: c.doc, Plugins: []field.Plugin{lamp, shade}, Home: "webui",
		Platforms: func() []settings.Platform {
			return []settings.Platform{{ID: "webui"}, {ID: "onebot", Types: []settings.PlatformType{{Name: "group", Label: text.Plain("Group chat")}}}}
		},
	})
	c.service.Attach(s.kernel.loop)
	s.server.Update(func(all *session.Services) { all.Settings = c.service })
}

// lamp and shade have a field of every type, and every part of a declaration.
var (
	one, nine = 1.0, 9.0

	lamp = field.Plugin{ID: "lamp", Fields: []field.Field{
		{
			Key: "color", Type: field.Select, Label: text.New("settings.thinking"), Description: text.New("settings.thinking-about"),
			Options: []field.Option{{Label: text.New("settings.thinking-low"), Value: field.Raw("low")}}, DynamicOptions: "colors", AllowCustom: true,
			Fits: func(v json.RawMessage) bool { return string(v) != `"black"` },
			Actual: func() (field.Actual, bool) {
				return field.Actual{Value: field.Raw(map[string]string{"key": "internal"}), Label: text.New("settings.model-unset")}, true
			},
			Session: field.Spec{Prominence: field.Composer, Order: &one, Group: "light", DependsOn: "shade/model", Unset: text.New("settings.thinking-unset")},
		},
		{
			Key: "watts", Type: field.Number, Label: text.Plain("Watts"), Default: field.Raw(3), Min: &one, Max: &nine, Integer: true, Step: &one,
			Session: field.Spec{AppliesTo: []field.Kind{field.Owner, field.Room}, Prominence: field.Common},
		},
		{Key: "wide", Type: field.Boolean, Label: text.Plain("Wide"), Session: field.Spec{PlaceOnly: true}},
		{
			Key: "host", Type: field.String, Label: text.Plain("Host"), Pattern: "^[a-z]+$", Required: true, Preference: true, Path: []string{"lamp_host"},
			Session: field.Spec{AppliesTo: []field.Kind{}},
		},
	}}
	shade = field.Plugin{ID: "shade", Fields: []field.Field{
		{Key: "model", Type: field.LLMRef, Label: text.Plain("Model"), Session: field.Spec{Prominence: field.Composer}},
		{Key: "rooms", Type: field.MultiSelect, Label: text.Plain("Rooms"), Session: field.Spec{AppliesTo: []field.Kind{field.Room}}},
	}}
)

func TestTheHostsLanguage(t *testing.T) {
	bubble(t, "SP-CONF-68 SP-I18N-04 a change of the host's language is told with the push that settings changed, once", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		d.server.Update(func(s *session.Services) { s.Settings = service{} })
		p := d.person(t)
		told := func() (all []string) {
			d.loop.Note(core.Note{Kind: core.NoteHost})
			for _, c := range pushed[session.ConfigChanged](p, "session/config/changed") {
				if c.Ext != nil {
					all = append(all, c.Ext.Language)
				} else {
					all = append(all, "-")
				}
			}
			return all
		}
		equal(t, told(), []string{"-"})
		d.language = text.Chinese
		equal(t, told(), []string{"zh-CN"})
		equal(t, told(), []string{"-"})
	})
}
