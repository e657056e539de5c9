package server

import (
	"net/http"

	"aalis/backend/principal"
	"aalis/backend/settings/field"
)

// listChoices gives what a setting can be set to, to whoever may read settings.
func (d *door) listChoices(w http.ResponseWriter, r *http.Request, c principal.Caller) error {
	if !c.Can(principal.Read) {
		return refuse(http.StatusForbidden, "forbidden", "wire.right-missing", "right", string(principal.Read))
	}
	all := field.Listing{Models: []string{}}
	if d.o.Choices != nil {
		var err error
		if all, err = d.o.Choices(r.Context(), r.PathValue("service"), r.URL.Query().Get("dependency")); err != nil {
			return err
		}
	}
	writeJSON(w, http.StatusOK, all)
	return nil
}
