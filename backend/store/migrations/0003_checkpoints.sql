-- What turns changed in files, so that a turn can be rewound. The bytes are files under blobs/.
CREATE TABLE checkpoints (
  id        TEXT PRIMARY KEY,                          -- the turn's id, or the undo's of a rewind
  sid       INTEGER NOT NULL REFERENCES sessions(sid),
  turn_id   TEXT NOT NULL,
  root      TEXT NOT NULL,                             -- absolute folder that the paths are below
  partial   TEXT CHECK (partial IS NULL OR json_valid(partial)), -- why not everything is known
  at        INTEGER NOT NULL,
  undone_at INTEGER                                    -- it was put back
) STRICT, WITHOUT ROWID;
CREATE INDEX checkpoints_sid ON checkpoints(sid);
CREATE INDEX checkpoints_at  ON checkpoints(at);

CREATE TABLE checkpoint_files (
  checkpoint_id TEXT NOT NULL REFERENCES checkpoints(id) ON DELETE CASCADE,
  path          TEXT NOT NULL,                         -- below root, with forward slashes
  before        TEXT NOT NULL CHECK (json_valid(before)),
  after         TEXT NOT NULL CHECK (json_valid(after)),
  PRIMARY KEY (checkpoint_id, path)
) STRICT, WITHOUT ROWID;
