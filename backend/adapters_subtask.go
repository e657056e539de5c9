package backend

import (
	"aalis/backend/core"
	"aalis/backend/engine/native"
	"aalis/backend/provider"
	"aalis/backend/settings/field"
	"aalis/backend/store"
	"aalis/backend/tool/subtask"
)

// caps gives the writer what a tree of sub-tasks may amount to.
func (b *Backend) caps(rows core.SettingRows, root store.Session) (core.TaskCaps, error) {
	values, err := b.settings.Effective(rows, root, root.Platform, subtask.Plugin)
	if err != nil {
		return core.TaskCaps{}, err
	}
	return subtask.CapsOf(values)
}

// modelSetting lets a sub-task be set to a model that there is.
func modelSetting(models *provider.Set) func(id string) (store.Setting, bool) {
	return func(id string) (store.Setting, bool) {
		return store.Setting{Plugin: nativeHarness, Key: native.KeyModel, Value: field.Raw(id)}, models.Takes(id)
	}
}
