package subtask

import (
	"encoding/json"
	"fmt"

	"aalis/backend/core"
	"aalis/backend/settings/field"
	"aalis/backend/text"
)

// Plugin is the id under which the caps are set.
const Plugin = "subtasks"

const (
	keyDepth   = "depth"
	keyRunning = "running"
	keyTotal   = "total"
	keyTokens  = "tokens"
)

// Fields declares the caps of a tree of sub-tasks. They are those of its root, so that no sub-task has
// caps of its own.
func Fields() field.Plugin {
	caps := core.DefaultTaskCaps()
	number := func(key string, label, about text.Key, order, low, high float64, standard any) field.Field {
		step := 1.0
		return field.Field{
			Key: key, Type: field.Number, Label: text.New(label), Description: text.New(about), Default: field.Raw(standard),
			Min: &low, Max: &high, Integer: true, Step: &step,
			Session: field.Spec{AppliesTo: []field.Kind{field.Owner, field.Room}, Prominence: field.Advanced, Order: &order},
		}
	}
	return field.Plugin{ID: Plugin, Fields: []field.Field{
		number(keyDepth, "settings.subtask-depth", "settings.subtask-depth-about", 70, 0, 8, caps.Depth),
		number(keyRunning, "settings.subtask-running", "settings.subtask-running-about", 71, 1, 32, caps.Running),
		number(keyTotal, "settings.subtask-total", "settings.subtask-total-about", 72, 1, 500, caps.Total),
		number(keyTokens, "settings.subtask-tokens", "settings.subtask-tokens-about", 73, 0, 1e9, caps.Tokens),
	}}
}

// CapsOf reads the caps from values of the fields, by key.
func CapsOf(values map[string]json.RawMessage) (core.TaskCaps, error) {
	caps := core.DefaultTaskCaps()
	for key, set := range map[string]func(n float64){
		keyDepth:   func(n float64) { caps.Depth = int(n) },
		keyRunning: func(n float64) { caps.Running = int(n) },
		keyTotal:   func(n float64) { caps.Total = int(n) },
		keyTokens:  func(n float64) { caps.Tokens = int64(n) },
	} {
		raw, given := values[key]
		if !given {
			continue
		}
		var n float64 // 1e6 is a whole number, too
		if err := json.Unmarshal(raw, &n); err != nil {
			return caps, fmt.Errorf("reading the setting %s: %w", key, err)
		}
		set(n)
	}
	return caps, nil
}
