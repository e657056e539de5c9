package store

// Project is a folder the owner added as a place: a row of projects.
type Project struct {
	ID        string
	Place     string // its key
	Name      string
	Root      string // absolute
	CreatedAt int64
	Sessions  int // root sessions that live there
}

// Projects lists the folders the owner added, by name.
func (r reads) Projects() ([]Project, error) {
	var all []Project
	err := r.each(`SELECT p.id, p.place_key, p.name, p.root_path, p.created_at, (SELECT count(*) FROM sessions s
			WHERE s.parent_sid IS NULL AND s.place_key = p.place_key AND s.deleted_at IS NULL)
		FROM projects p WHERE p.place_key IS NOT NULL ORDER BY p.name, p.id`, nil, func(w row) error {
		all = append(all, Project{ID: w.str(0), Place: w.str(1), Name: w.str(2), Root: w.str(3), CreatedAt: w.int(4), Sessions: int(w.int(5))})
		return nil
	})
	return all, err
}

// PlaceRoot gives the folder behind a place that the owner added.
func (r reads) PlaceRoot(place string) (root string, found bool, err error) {
	found, err = r.c.one("SELECT root_path FROM projects WHERE place_key = ?", []any{place}, func(w row) { root = w.str(0) })
	return root, found, err
}

// SessionsAt counts the root sessions that live at a place.
func (r reads) SessionsAt(place string) (n int, err error) {
	_, err = r.c.one("SELECT count(*) FROM sessions WHERE parent_sid IS NULL AND place_key = ? AND deleted_at IS NULL", []any{place}, func(w row) { n = int(w.int(0)) })
	return n, err
}

// PutProject adds a folder.
func (tx *Tx) PutProject(p Project) error {
	_, err := tx.c.exec("INSERT INTO projects(id, tenant_id, place_key, name, root_path, created_at, updated_at) VALUES (?, 'local', ?, ?, ?, ?, ?)",
		p.ID, p.Place, p.Name, p.Root, tx.Now, tx.Now)
	return err
}

// DropProject forgets a folder; what is set for its place stays with the sessions that live there.
func (tx *Tx) DropProject(place string) (dropped bool, err error) {
	n, err := tx.c.exec("DELETE FROM projects WHERE place_key = ?", place)
	return n > 0, err
}
