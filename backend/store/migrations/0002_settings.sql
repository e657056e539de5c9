-- What is set at places and sessions. The wider layers are in the host document.

CREATE TABLE place_settings (
  place_key  TEXT NOT NULL,
  plugin     TEXT NOT NULL,
  key        TEXT NOT NULL,
  value      TEXT NOT NULL CHECK (json_valid(value)),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (place_key, plugin, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_settings (
  sid        INTEGER NOT NULL REFERENCES sessions(sid),
  plugin     TEXT NOT NULL,
  key        TEXT NOT NULL,
  value      TEXT NOT NULL CHECK (json_valid(value)),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (sid, plugin, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_settings_plugin ON session_settings(plugin);

CREATE INDEX sessions_place ON sessions(place_key) WHERE parent_sid IS NULL AND place_key IS NOT NULL;
