package native

import (
	"encoding/json"

	"aalis/backend/fault"
	"aalis/backend/provider"
	"aalis/backend/rule"
	"aalis/backend/settings/field"
	"aalis/backend/text"
	"aalis/backend/tool"
)

// KeyModel is the key of the setting that names the model.
const KeyModel = "model"

// The keys of the other settings that the engine obeys.
const (
	keyThinking   = "thinking"
	keyToolGroups = "toolGroups"
	keyToolLimit  = "toolLimit"
	keyPersona    = "persona"
	keyExtra      = "extraPrompt"
	keyCompress   = "compressAt"
	keyAsking     = "asking"
	keyAllow      = "allow"
	keyAsk        = "ask"
	keyDeny       = "deny"
)

// The ways of asking.
const (
	askUsual = "usual"
	askNever = "never"
)

// The sources of choices of its fields.
const (
	SourceModels     = "llm"
	SourceThinking   = "llm-thinking"
	SourceToolGroups = "toolGroups"
)

// maxToolLimit bounds the rounds of tools of one turn.
const maxToolLimit = 500

// ToolGroup is tools that are switched on and off together. Tools in no group are always on.
type ToolGroup struct {
	ID    string
	Label text.Text
	About text.Text
	Tools []tool.Definition
}

// Fields declares what a session can be set to. plugin is the id under which the engine conducts
// sessions. The model for all is config.yaml's default_model, which people know.
func Fields(plugin string, models *provider.Set) field.Plugin {
	at := func(n float64) *float64 { return &n }
	ownWords := []field.Kind{field.Owner, field.Task} // not rooms, where others speak, too
	return field.Plugin{ID: plugin, Fields: []field.Field{
		{
			Key: KeyModel, Type: field.LLMRef, Label: text.New("settings.model"), Description: text.New("settings.model-about"),
			DynamicOptions: SourceModels, AllowCustom: true, Preference: true, Path: []string{"default_model"},
			Session: field.Spec{Prominence: field.Composer, Order: at(10), Unset: text.New("settings.model-unset")},
			Fits: func(value json.RawMessage) bool {
				var id string
				return json.Unmarshal(value, &id) == nil && models.Takes(id)
			},
			Actual: func() (field.Actual, bool) {
				id, known := models.DefaultNow()
				return field.Actual{Value: field.Raw(id), Label: text.New("settings.model-now", "model", id)}, known
			},
		},
		{
			Key: keyThinking, Type: field.Select, Label: text.New("settings.thinking"), Description: text.New("settings.thinking-about"),
			DynamicOptions: SourceThinking, Pattern: `^[a-z]{1,16}$`,
			Session: field.Spec{Prominence: field.Composer, Order: at(20), DependsOn: KeyModel, Unset: text.New("settings.thinking-unset")},
		},
		{
			Key: keyToolGroups, Type: field.MultiSelect, Label: text.New("settings.tools"), Description: text.New("settings.tools-about"),
			DynamicOptions: SourceToolGroups, Pattern: `^\S+$`,
			Session: field.Spec{Prominence: field.Common, Order: at(30), Unset: text.New("settings.tools-unset")},
		},
		{
			Key: keyPersona, Type: field.TextArea, Label: text.New("settings.persona"), Description: text.New("settings.persona-about"),
			Session: field.Spec{Prominence: field.Common, Order: at(40)},
		},
		{
			Key: keyExtra, Type: field.TextArea, Label: text.New("settings.extra"), Description: text.New("settings.extra-about"),
			Session: field.Spec{Prominence: field.Common, Order: at(50)},
		},
		{
			Key: keyToolLimit, Type: field.Number, Label: text.New("settings.tool-limit"), Description: text.New("settings.tool-limit-about"),
			Default: field.Raw(DefaultToolLimit), Min: at(1), Max: at(maxToolLimit), Integer: true, Step: at(1),
			Session: field.Spec{Prominence: field.Advanced, Order: at(60)},
		},
		{
			Key: keyCompress, Type: field.Number, Label: text.New("settings.compress"), Description: text.New("settings.compress-about"),
			Default: field.Raw(DefaultCompressAt), Min: at(0), Max: at(95), Integer: true, Step: at(5),
			Session: field.Spec{Prominence: field.Advanced, Order: at(70)},
		},
		rules(keyDeny, "settings.deny", "settings.deny-about", 80, nil),
		rules(keyAsk, "settings.ask", "settings.ask-about", 81, nil),
		rules(keyAllow, "settings.allow", "settings.allow-about", 82, ownWords),
		{
			Key: keyAsking, Type: field.Select, Label: text.New("settings.asking"), Description: text.New("settings.asking-about"),
			Options: []field.Option{
				{Label: text.New("settings.asking-usual"), Value: field.Raw(askUsual)}, {Label: text.New("settings.asking-never"), Value: field.Raw(askNever)},
			},
			Default: field.Raw(askUsual), Pattern: "^(" + askUsual + "|" + askNever + ")$",
			Session: field.Spec{AppliesTo: ownWords, Prominence: field.Advanced, Order: at(83)},
		},
	}}
}

// rules declares a list of the owner's standing answers. Those of all layers count together, since a
// narrow layer must not undo what a wide one forbids.
func rules(key string, label, about text.Key, order float64, kinds []field.Kind) field.Field {
	return field.Field{
		Key: key, Type: field.List, Label: text.New(label), Description: text.New(about), Joined: true,
		Session: field.Spec{AppliesTo: kinds, Prominence: field.Advanced, Order: &order},
		Wrong: func(value json.RawMessage) text.Text {
			var all []string
			if err := json.Unmarshal(value, &all); err != nil {
				return text.New("rule.form")
			}
			for _, one := range all {
				if _, err := rule.Parse(one); err != nil {
					return fault.Of(err).Message
				}
			}
			return text.Text{}
		},
	}
}

// ThinkingChoices gives the ways to think that the model of an entry takes; "" is the model used
// without any setting.
func ThinkingChoices(models *provider.Set, id string) field.Choices {
	if id == "" {
		id, _ = models.DefaultNow()
	}
	var all field.Choices
	for _, word := range models.Thinking(id) {
		label := text.Plain(word)
		switch word {
		case provider.ThinkNone:
			label = text.New("settings.thinking-none")
		case provider.ThinkLow:
			label = text.New("settings.thinking-low")
		case provider.ThinkMedium:
			label = text.New("settings.thinking-medium")
		case provider.ThinkHigh:
			label = text.New("settings.thinking-high")
		}
		all.Choices = append(all.Choices, field.Choice{Value: word, Label: label})
	}
	return all
}

// GroupChoices gives the groups of tools there are.
func GroupChoices(groups []ToolGroup) field.Choices {
	var all field.Choices
	for _, g := range groups {
		all.Choices = append(all.Choices, field.Choice{Value: g.ID, Label: g.Label, Description: g.About})
	}
	return all
}
