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
