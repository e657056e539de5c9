package session

// SettingSource is the layer an effective value comes from.
type SettingSource string

// The sources.
const (
	SourceDefault      SettingSource = "default"
	SourceGlobal       SettingSource = "global"
	SourcePlatform     SettingSource = "platform"
	SourcePlatformType SettingSource = "platformType"
	SourcePlace        SettingSource = "place"
	SourceSession      SettingSource = "session"
)

// Words lists the closed set.
func (SettingSource) Words() []string {
	return append([]string{string(SourceDefault)}, SettingLayerName("").Words()...)
}

// SettingLayerName names one of the five layers.
type SettingLayerName string

// Words lists the layers in order of precedence; later ones override earlier ones.
func (SettingLayerName) Words() []string {
	return []string{string(SourceGlobal), string(SourcePlatform), string(SourcePlatformType), string(SourcePlace), string(SourceSession)}
}

// SettingScope names a layer that can be asked for by itself: all but the session's.
type SettingScope string

// The scopes.
const (
	ScopeGlobal       SettingScope = "global"
	ScopePlatform     SettingScope = "platform"
	ScopePlatformType SettingScope = "platformType"
	ScopePlace        SettingScope = "place"
)

// SettingLayer is one layer outside sessions, told apart by scope. Only the fields of its scope are
// read. Platform layers go by platform name and do not tell adapter instances apart.
type SettingLayer struct {
	Scope    SettingScope `json:"scope"`
	Platform string       `json:"platform,omitzero"`
	Type     string       `json:"type,omitzero"`
	Key      string       `json:"key,omitzero"`
}

// layerVariants lists the shapes a SettingLayer has on the wire.
var layerVariants = []any{GlobalLayer{}, PlatformLayer{}, PlatformTypeLayer{}, PlaceLayer{}}

// GlobalLayer is the layer of the whole host.
type GlobalLayer struct {
	Scope string `json:"scope" jsonschema:"enum=global"`
}

// PlatformLayer is the layer of one chat platform.
type PlatformLayer struct {
	Scope    string `json:"scope" jsonschema:"enum=platform"`
	Platform string `json:"platform"`
}

// PlatformTypeLayer is the layer of one type of chat on a platform.
type PlatformTypeLayer struct {
	Scope    string `json:"scope" jsonschema:"enum=platformType"`
	Platform string `json:"platform"`
	Type     string `json:"type"`
}

// PlaceLayer is the layer of one place.
type PlaceLayer struct {
	Scope string `json:"scope" jsonschema:"enum=place"`
	// Key is the key of a session's place.
	Key string `json:"key"`
}

// SettingLayerInfo is a layer as the list of layers shows it.
type SettingLayerInfo struct {
	Layer SettingLayer `json:"layer"`
	// Label is the declared display name of a type, or a place's name without the platform.
	Label string `json:"label,omitzero"`
	// Platform and Type are given for window places.
	Platform string `json:"platform,omitzero"`
	Type     string `json:"type,omitzero"`
}

// Prominence is where a setting is offered.
type Prominence string

// The prominences.
const (
	ProminenceComposer Prominence = "composer"
	ProminenceCommon   Prominence = "common"
	ProminenceAdvanced Prominence = "advanced"
)

// Words lists the closed set.
func (Prominence) Words() []string {
	return []string{string(ProminenceComposer), string(ProminenceCommon), string(ProminenceAdvanced)}
}

// SettingRow is one setting at one place, identified by (plugin, key).
type SettingRow struct {
	// Plugin is the id of the plugin instance that declares the field.
	Plugin string       `json:"plugin"`
	Key    string       `json:"key"`
	Field  SettingField `json:"field"`
	// Prominence is the effective one, after surplus composer rows were demoted.
	Prominence Prominence `json:"prominence"`
	// Value is the raw value written at exactly this place; absent when nothing is.
	Value Value `json:"value,omitzero"`
	// Effective is the validated value resolved up to and including this place.
	Effective Value `json:"effective,omitzero"`
	// Source is absent when there is no effective value.
	Source SettingSource `json:"source,omitzero"`
	// Actual is what the declaring plugin really uses; only without an effective value.
	Actual *ActualValue `json:"actual,omitzero"`
}

// ActualValue is a value in use although no layer sets it.
type ActualValue struct {
	Value Value  `json:"value"`
	Label string `json:"label,omitzero"`
}

// SettingField is a field's declaration without its function members. Words for people are
// rendered; the default is not.
type SettingField struct {
	// Type is for example string, number, boolean, select, multiselect, textarea, list, map, llm-ref.
	Type        string        `json:"type"`
	Label       string        `json:"label,omitzero"`
	Description string        `json:"description,omitzero"`
	Default     Value         `json:"default,omitzero"`
	Required    bool          `json:"required,omitzero"`
	Options     []FieldOption `json:"options,omitzero"`
	Min         *float64      `json:"min,omitzero"`
	Max         *float64      `json:"max,omitzero"`
	Integer     bool          `json:"integer,omitzero"`
	// Step is a hint for the control, not a rule.
	Step *float64 `json:"step,omitzero"`
	// Pattern is an unanchored regular expression.
	Pattern string `json:"pattern,omitzero"`
	Secret  bool   `json:"secret,omitzero"`
	// DynamicOptions names a source of options.
	DynamicOptions string `json:"dynamicOptions,omitzero"`
	AllowCustom    bool   `json:"allowCustom,omitzero"`
	// Preference: outside places and sessions it is written as the plugin's own preference.
	Preference bool             `json:"preference,omitzero"`
	Session    SessionFieldSpec `json:"session"`
}

// FieldOption is one choice of a select.
type FieldOption struct {
	Label string `json:"label"`
	Value Value  `json:"value"`
}

// NarrowestPlace is the one word of SessionFieldSpec.narrowest.
type NarrowestPlace string

// Words lists the closed set.
func (NarrowestPlace) Words() []string { return []string{"place"} }

// SessionFieldSpec is what makes a plugin's field a session setting.
type SessionFieldSpec struct {
	// AppliesTo lists the kinds of sessions it is for; absent means all.
	AppliesTo []SessionKind `json:"appliesTo,omitzero"`
	// Narrowest place: it cannot be set at a session.
	Narrowest NarrowestPlace `json:"narrowest,omitzero"`
	// Prominence is the declared one.
	Prominence Prominence `json:"prominence,omitzero"`
	// Order is inside one prominence; rows without one come last.
	Order *float64 `json:"order,omitzero"`
	// Group is the composer group; at most two rows of one group stay in the composer.
	Group string `json:"group,omitzero"`
	// DependsOn is the key of a row of the same plugin, or plugin/key of another's.
	DependsOn string `json:"dependsOn,omitzero"`
	// Unset is what to call the state without a value.
	Unset string `json:"unset,omitzero"`
}

// ConfigChanged says that settings are to be read again. Ext is an addition of this server, there when
// the host's language has changed.
type ConfigChanged struct {
	Ext *HostExt `json:"ext,omitzero"`
}

// ConfigGetResult is a session's settings.
type ConfigGetResult struct {
	Items []SettingRow `json:"items"`
	// Platform is the platform whose layer was consulted this time.
	Platform string `json:"platform,omitzero"`
}

// ConfigUpdateParams writes at one session. A null value removes what is written there.
type ConfigUpdateParams struct {
	SessionID string `json:"sessionId"`
	Plugin    string `json:"plugin"`
	Key       string `json:"key"`
	Value     any    `json:"value"`
}

// ConfigUpdateResult is the session's settings after the write.
type ConfigUpdateResult struct {
	Items    []SettingRow `json:"items"`
	Platform string       `json:"platform,omitzero"`
	// Unsaved is why the change is in effect but not on disk; absent when it was saved.
	Unsaved string `json:"unsaved,omitzero"`
}

// ConfigLayersResult lists the layers that can be edited and the order of precedence.
type ConfigLayersResult struct {
	Layers []SettingLayerInfo `json:"layers"`
	Order  []LayerLabel       `json:"order"`
}

// LayerLabel is a layer's name and what to call it.
type LayerLabel struct {
	Name  SettingLayerName `json:"name"`
	Label string           `json:"label"`
}

// ConfigLayerGetParams asks for the settings of one layer.
type ConfigLayerGetParams struct {
	Layer SettingLayer `json:"layer"`
}

// ConfigLayerGetResult is a layer's settings.
type ConfigLayerGetResult struct {
	Items []SettingRow `json:"items"`
}

// ConfigLayerUpdateParams writes at one layer. A null value removes what is written there.
type ConfigLayerUpdateParams struct {
	Layer  SettingLayer `json:"layer"`
	Plugin string       `json:"plugin"`
	Key    string       `json:"key"`
	Value  any          `json:"value"`
}

// ConfigLayerUpdateResult is the layer's settings after the write.
type ConfigLayerUpdateResult struct {
	Items []SettingRow `json:"items"`
	// Unsaved is why the change is in effect but not on disk; absent when it was saved.
	Unsaved string `json:"unsaved,omitzero"`
}

// ConfigOverridesParams asks where a plugin instance's settings are written.
type ConfigOverridesParams struct {
	Plugin string `json:"plugin"`
}

// ConfigOverridesResult lists every place outside the global layer, grouped by setting.
type ConfigOverridesResult struct {
	Items []SettingOverrides `json:"items"`
}

// SettingOverrides is where one setting is written.
type SettingOverrides struct {
	Key     string            `json:"key"`
	Entries []SettingOverride `json:"entries"`
}

// SettingOverride is one place and the raw value written there.
type SettingOverride struct {
	Target OverrideTarget `json:"target"`
	Value  Value          `json:"value"`
}

// OverrideTarget is a layer or one session, told apart by which key it has. Exactly one is set.
type OverrideTarget struct {
	Layer   *SettingLayer    `json:"layer,omitzero"`
	Label   string           `json:"label,omitzero"`
	Session *OverrideSession `json:"session,omitzero"`
}

// targetVariants lists the shapes an OverrideTarget has on the wire.
var targetVariants = []any{LayerTarget{}, SessionTarget{}}

// LayerTarget is an override written at a layer.
type LayerTarget struct {
	Layer SettingLayer `json:"layer"`
	Label string       `json:"label,omitzero"`
}

// SessionTarget is an override written at a session.
type SessionTarget struct {
	Session OverrideSession `json:"session"`
}

// OverrideSession names a session and, for a sub-session, its parent.
type OverrideSession struct {
	ID     string      `json:"id"`
	Title  string      `json:"title"`
	Parent *SessionRef `json:"parent,omitzero"`
}
