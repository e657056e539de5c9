package session

// PlacesListResult lists the folders a session can be filed in, the default workspace first. An addition
// of this server.
type PlacesListResult struct {
	Places []PlaceInfo `json:"places"`
}

// PlaceInfo is a folder of the owner's.
type PlaceInfo struct {
	// Key is what session/create takes, and what the place's settings go by.
	Key  string `json:"key"`
	Name string `json:"name"`
	// Root is the absolute folder.
	Root string `json:"root"`
	// Sessions is how many sessions live there, archived ones included.
	Sessions int `json:"sessions"`
	// Missing: the folder is not there now.
	Missing bool `json:"missing,omitzero"`
}

// PlacesFilesParams asks for files to name in a message. An addition of this server.
type PlacesFilesParams struct {
	// SessionID is the session whose place is looked through; absent, that of Place.
	SessionID string `json:"sessionId,omitzero"`
	// Place is the key of a place, for a session that is not there yet; absent, the default workspace.
	Place string `json:"place,omitzero"`
	// Query is what was typed of a name or path; "" gives some near the top.
	Query string `json:"query" jsonschema:"maxLength=400"`
}

// PlacesFilesResult is files by their paths in the place, the best first; links are not followed, and what
// .gitignore leaves out is left out.
type PlacesFilesResult struct {
	Files []string `json:"files"`
}

// PlaceAddParams adds a folder. An addition of this server.
type PlaceAddParams struct {
	// Path is the absolute folder; it must be there.
	Path string `json:"path" jsonschema:"minLength=1"`
	// Name is what it is called; absent, the folder's own name.
	Name string `json:"name,omitzero"`
}

// PlaceAddResult is the folder as it was added.
type PlaceAddResult struct {
	Place PlaceInfo `json:"place"`
}

// PlaceRemoveParams forgets a folder; nothing in it is touched. An addition of this server.
type PlaceRemoveParams struct {
	Key string `json:"key"`
}

// CreateExt says where a new session is to live.
type CreateExt struct {
	// Place is the key of one of ext/places/list.
	Place string `json:"place"`
}
