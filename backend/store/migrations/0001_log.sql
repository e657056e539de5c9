-- The log and everything derived from it. Times are integer milliseconds since 1970, JSON is text.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE principals (
  id             TEXT PRIMARY KEY,
  kind           TEXT NOT NULL CHECK (kind IN ('owner','user','app','environment','system')),
  tenant_id      TEXT NOT NULL,
  user_id        TEXT,
  platform       TEXT,
  app_id         TEXT,
  environment_id TEXT,
  display_name   TEXT,
  created_at     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX principals_user ON principals(platform, user_id) WHERE user_id IS NOT NULL;

CREATE TABLE credentials (
  token_hash   BLOB PRIMARY KEY,             -- SHA-256 of the secret or of the token's id; never the secret
  principal_id TEXT NOT NULL REFERENCES principals(id),
  kind         TEXT NOT NULL CHECK (kind IN ('ws','v1_cookie','v1_desktop','jwt_jti','app_key','environment_secret')),
  device_id    TEXT,                         -- the bound device, or the name a token was given
  roles        TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(roles)),
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  revoked_at   INTEGER
) STRICT;
CREATE INDEX credentials_kind ON credentials(kind, created_at);

CREATE TABLE projects (
  id         TEXT PRIMARY KEY,
  tenant_id  TEXT NOT NULL,
  place_key  TEXT UNIQUE,
  name       TEXT NOT NULL,
  root_path  TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions (
  sid                    INTEGER PRIMARY KEY,          -- internal, never on a wire
  id                     TEXT NOT NULL UNIQUE,         -- UUIDv7, the wire id
  ext_key                TEXT UNIQUE,                  -- room address such as onebot:<account>:group:20001
  tenant_id              TEXT NOT NULL,
  initiator_id           TEXT NOT NULL REFERENCES principals(id),
  origin                 TEXT NOT NULL CHECK (origin IN ('sp','v1','ch','ms','im','task')),
  kind                   TEXT NOT NULL CHECK (kind IN ('owner','room','task')),
  app_id                 TEXT,
  project_id             TEXT REFERENCES projects(id),
  place_key              TEXT,
  platform               TEXT,
  instance               TEXT,
  account                TEXT,
  chat                   TEXT CHECK (chat IS NULL OR json_valid(chat)),
  parent_sid             INTEGER REFERENCES sessions(sid),
  root_sid               INTEGER NOT NULL,
  spawned_by_event_id    TEXT,
  harness_id             TEXT NOT NULL,
  harness_version        INTEGER NOT NULL,
  environment_id         TEXT NOT NULL,
  environment_updated_at TEXT NOT NULL DEFAULT '',
  name                   TEXT,                         -- null: the default name, which search ignores
  title                  TEXT,                         -- given later; shown before the name
  metadata               TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
  gate                   TEXT NOT NULL DEFAULT 'open' CHECK (gate IN ('open','locked','closed')),
  archived_at            INTEGER,
  deleted_at             INTEGER,
  erased_at              INTEGER,                      -- payloads are gone
  purged_at              INTEGER,                      -- from here on rows may be deleted
  created_at             INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_parent  ON sessions(parent_sid) WHERE parent_sid IS NOT NULL;
CREATE INDEX sessions_root    ON sessions(root_sid);
CREATE INDEX sessions_project ON sessions(project_id) WHERE project_id IS NOT NULL;
CREATE INDEX sessions_app     ON sessions(app_id) WHERE app_id IS NOT NULL;
CREATE INDEX sessions_erasing ON sessions(deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX sessions_rooms   ON sessions(platform, instance, account, archived_at, deleted_at) WHERE kind = 'room'; -- room groups, from the index alone

CREATE TABLE session_heads (
  sid              INTEGER PRIMARY KEY REFERENCES sessions(sid),
  last_seq         INTEGER NOT NULL DEFAULT 0,
  ch_last_seq      INTEGER NOT NULL DEFAULT 0,
  ch_last_kseq     INTEGER,
  ch_last_at       INTEGER,
  updated_at       INTEGER NOT NULL,                   -- every event (chat API)
  record_at        INTEGER NOT NULL,                   -- changes of the record (session protocol)
  tick             INTEGER NOT NULL DEFAULT 0,         -- newest entry of this session that is in rows
  running_turn_id  TEXT,
  last_outcome     TEXT CHECK (last_outcome IN ('replied','silent','aborted','error')),
  last_ended_at    INTEGER,
  last_reply_at    INTEGER,
  last_error       TEXT CHECK (last_error IS NULL OR json_valid(last_error)),
  pending_actions  INTEGER NOT NULL DEFAULT 0,
  open_tools       INTEGER NOT NULL DEFAULT 0,
  open_background  INTEGER NOT NULL DEFAULT 0,
  tokens_in        INTEGER NOT NULL DEFAULT 0,
  tokens_out       INTEGER NOT NULL DEFAULT 0,
  plan_seq         INTEGER,                            -- newest plan.updated
  usage_seq        INTEGER,                            -- newest model.called
  cleared_seq      INTEGER NOT NULL DEFAULT 0,         -- conversation up to here is dead
  children         INTEGER NOT NULL DEFAULT 0,         -- direct ones
  sub_attention    INTEGER NOT NULL DEFAULT 0,         -- pending actions of all descendants
  sub_busy         INTEGER NOT NULL DEFAULT 0,         -- descendants with a turn or task running
  sub_tokens_in    INTEGER NOT NULL DEFAULT 0,
  sub_tokens_out   INTEGER NOT NULL DEFAULT 0,
  list             INTEGER NOT NULL DEFAULT 0,         -- 0 owner root, 1 room root, 2 child; +4 archived; 9 deleted
  rank             INTEGER NOT NULL DEFAULT 4          -- 0 needs me, 1 error, 2 unread, 3 running, 4; others than owner roots: 4
) STRICT;
CREATE INDEX heads_list ON session_heads(list, rank, record_at DESC, sid);
CREATE INDEX heads_attention ON session_heads(list) WHERE pending_actions + sub_attention > 0;

CREATE TABLE session_reads (
  sid          INTEGER NOT NULL REFERENCES sessions(sid),
  principal_id TEXT NOT NULL REFERENCES principals(id),
  seen_at      INTEGER NOT NULL,
  PRIMARY KEY (sid, principal_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  key       INTEGER PRIMARY KEY,                       -- sid << 32 | seq
  sid       INTEGER NOT NULL REFERENCES sessions(sid),
  seq       INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 4294967295),
  id        TEXT NOT NULL UNIQUE,
  type      TEXT NOT NULL,
  v         INTEGER NOT NULL DEFAULT 1,
  turn_id   TEXT,
  parent_id TEXT,
  actor     TEXT NOT NULL CHECK (json_valid(actor)),
  payload   TEXT CHECK (payload IS NULL OR json_valid(payload)),
  idem_key  TEXT,
  ch_seq    INTEGER,
  at        INTEGER NOT NULL,
  CHECK (key = (sid << 32) + seq)
) STRICT;
CREATE UNIQUE INDEX events_idem   ON events(sid, idem_key) WHERE idem_key IS NOT NULL;
CREATE UNIQUE INDEX events_chseq  ON events(sid, ch_seq)   WHERE ch_seq  IS NOT NULL;
CREATE INDEX        events_parent ON events(sid, parent_id, type) WHERE parent_id IS NOT NULL;
-- guards that hold even against a mistake in the program
CREATE UNIQUE INDEX guard_one_resolution ON events(sid, parent_id) WHERE type = 'user.action.resolved';
CREATE UNIQUE INDEX guard_one_result     ON events(sid, parent_id) WHERE type = 'tool.result';
CREATE UNIQUE INDEX guard_one_turn_end   ON events(sid, parent_id) WHERE type = 'turn.ended';
CREATE UNIQUE INDEX guard_one_delete     ON events(sid)            WHERE type = 'session.deleted';

CREATE TABLE event_aliases (                           -- UUIDs for caller-supplied event ids that are none
  alias    TEXT PRIMARY KEY,
  event_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE deltas (                                  -- streamed text: one row per item and flush
  key       INTEGER PRIMARY KEY,                       -- sid << 32 | seq, shared with events
  start_seq INTEGER NOT NULL,                          -- seq of the event that opened the item
  kind      INTEGER NOT NULL CHECK (kind IN (1,2,3)),  -- 1 her text, 2 reasoning, 3 tool output; only 1 is seen by /v1 and /api
  idx       INTEGER NOT NULL,                          -- kind 1: running number in the turn; else in the item
  ch_seq    INTEGER,
  at        INTEGER NOT NULL,
  text      TEXT NOT NULL CHECK (text <> '')
) STRICT;

CREATE TABLE delta_folds (
  sid       INTEGER NOT NULL,
  start_seq INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq  INTEGER NOT NULL,
  end_seq   INTEGER NOT NULL,
  cuts      BLOB NOT NULL,
  PRIMARY KEY (sid, start_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_turns (                              -- undone turns: readers skip their events
  sid        INTEGER NOT NULL REFERENCES sessions(sid),
  turn_id    TEXT NOT NULL,
  marker_seq INTEGER NOT NULL,
  PRIMARY KEY (sid, turn_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
  id               TEXT PRIMARY KEY,
  sid              INTEGER NOT NULL REFERENCES sessions(sid),
  started_seq      INTEGER NOT NULL,
  started_event_id TEXT NOT NULL,
  started_at       INTEGER NOT NULL,
  trigger_event_id TEXT,
  source           TEXT,
  status           TEXT NOT NULL CHECK (status IN ('running','done','canceled','failed')),
  phase            TEXT NOT NULL DEFAULT 'model' CHECK (phase IN ('model','tool','action','external','ending')),
  cancel_seq       INTEGER,
  ended_seq        INTEGER,
  outcome          TEXT CHECK (outcome IN ('replied','silent','aborted','error')),
  limited          INTEGER NOT NULL DEFAULT 0,         -- ended at the tool-call limit
  completion       INTEGER NOT NULL DEFAULT 0,         -- tokens of all its calls
  epoch            TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX turns_one_running ON turns(sid) WHERE status = 'running';
CREATE UNIQUE INDEX turns_trigger     ON turns(sid, trigger_event_id) WHERE trigger_event_id IS NOT NULL;
CREATE INDEX        turns_started     ON turns(sid, started_seq);

CREATE TABLE inputs (
  event_id TEXT PRIMARY KEY,
  sid      INTEGER NOT NULL REFERENCES sessions(sid),
  seq      INTEGER NOT NULL,
  state    TEXT NOT NULL CHECK (state IN ('pending','opened','joined','dropped','swallowed')),
  turn_id  TEXT,
  changed  TEXT                                        -- text after input.changed
) STRICT;
CREATE INDEX inputs_pending ON inputs(sid, seq) WHERE state = 'pending';
CREATE INDEX inputs_turn    ON inputs(turn_id) WHERE turn_id IS NOT NULL;

CREATE TABLE actions (
  event_id      TEXT PRIMARY KEY,
  sid           INTEGER NOT NULL REFERENCES sessions(sid),
  root_sid      INTEGER NOT NULL,
  turn_id       TEXT,
  tool_event_id TEXT,
  kind          TEXT NOT NULL CHECK (kind IN ('tool_approval','question','external')),
  revision      INTEGER NOT NULL CHECK (revision >= 1),
  content_hash  TEXT NOT NULL,
  policy        TEXT NOT NULL CHECK (json_valid(policy)),
  requested_at  INTEGER NOT NULL,
  expires_at    INTEGER,
  refused       INTEGER NOT NULL DEFAULT 0,            -- settled at launch, never shown
  state         TEXT NOT NULL CHECK (state IN ('pending','approved','denied','expired','cancelled','resolved')),
  resolved_event_id TEXT
) STRICT;
CREATE INDEX actions_pending ON actions(expires_at) WHERE state = 'pending';
CREATE INDEX actions_sid     ON actions(sid, state);
CREATE INDEX actions_rate    ON actions(root_sid, requested_at);

CREATE TABLE work_items (
  work_id         TEXT PRIMARY KEY,
  sid             INTEGER NOT NULL REFERENCES sessions(sid),
  root_sid        INTEGER NOT NULL,
  turn_id         TEXT,
  tool_event_id   TEXT NOT NULL,
  mode            TEXT NOT NULL DEFAULT 'execute' CHECK (mode IN ('execute','resume')),
  app_id          TEXT NOT NULL,
  environment_id  TEXT NOT NULL,
  execution_mode  TEXT NOT NULL CHECK (execution_mode IN ('inproc','hosted','self_hosted')),
  tool_name       TEXT NOT NULL,
  effect          TEXT NOT NULL CHECK (effect IN ('read','write')),
  retry_safe      INTEGER NOT NULL CHECK (retry_safe IN (0,1)),
  status          TEXT NOT NULL CHECK (status IN ('blocked','queued','leased','succeeded','failed','cancelled')),
  execution_status TEXT NOT NULL CHECK (execution_status IN ('accepted','pending-confirmation','succeeded','failed')),
  error_kind      TEXT,
  available_at    INTEGER NOT NULL,
  lease_owner     TEXT,
  lease_token     TEXT,
  lease_until     INTEGER,
  started_at      INTEGER,
  attempts        INTEGER NOT NULL DEFAULT 0,
  deadline_at     INTEGER,
  result_hash     TEXT,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  CHECK ((status = 'leased') = (lease_token IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX work_one_per_mode ON work_items(tool_event_id, mode);
CREATE INDEX work_claimable ON work_items(app_id, environment_id, execution_mode, available_at) WHERE status = 'queued';
CREATE INDEX work_leases    ON work_items(lease_until) WHERE status = 'leased';

CREATE TABLE background_tasks (
  id             TEXT PRIMARY KEY,
  sid            INTEGER NOT NULL REFERENCES sessions(sid),
  tool_event_id  TEXT NOT NULL,
  status         TEXT NOT NULL CHECK (status IN ('running','completed','failed','stopped','aborted')),
  label          TEXT NOT NULL,
  started_at     INTEGER NOT NULL,
  ended_at       INTEGER,
  last_line      TEXT,
  last_output_at INTEGER,
  reason         TEXT,
  exit_code      INTEGER,
  epoch          TEXT NOT NULL
) STRICT;
CREATE INDEX background_sid ON background_tasks(sid, ended_at);

CREATE TABLE request_idempotency (
  principal_id TEXT NOT NULL,
  op           TEXT NOT NULL,
  key          TEXT NOT NULL,
  fingerprint  TEXT NOT NULL,
  status       INTEGER NOT NULL,
  response     TEXT NOT NULL CHECK (json_valid(response)),
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  PRIMARY KEY (principal_id, op, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE harnesses (
  id TEXT NOT NULL, version INTEGER NOT NULL, spec TEXT NOT NULL CHECK (json_valid(spec)), created_at INTEGER NOT NULL,
  PRIMARY KEY (id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE environments (
  id TEXT PRIMARY KEY, app_id TEXT NOT NULL,
  execution_mode TEXT NOT NULL CHECK (execution_mode IN ('inproc','hosted','self_hosted')),
  resource_bindings TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(resource_bindings)),
  updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE skills (
  name TEXT PRIMARY KEY, app_id TEXT, version INTEGER NOT NULL CHECK (version >= 1),
  description TEXT NOT NULL, instructions TEXT NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0,1)),
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE tool_descriptors (
  app_id TEXT NOT NULL, tool_name TEXT NOT NULL,
  descriptor TEXT NOT NULL CHECK (json_valid(descriptor)),
  origin TEXT NOT NULL CHECK (origin IN ('platform_builtin','app_catalog','sub_agent')),
  updated_at TEXT NOT NULL,
  PRIMARY KEY (app_id, tool_name)
) STRICT, WITHOUT ROWID;

CREATE TABLE resource_slots (
  app_id TEXT NOT NULL, name TEXT NOT NULL, slot TEXT NOT NULL CHECK (json_valid(slot)), updated_at TEXT NOT NULL,
  PRIMARY KEY (app_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (                                   -- bytes are files under blobs/
  sha256 BLOB PRIMARY KEY, media_type TEXT, size INTEGER NOT NULL, created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE blob_refs (
  sha256 BLOB NOT NULL REFERENCES blobs(sha256), sid INTEGER NOT NULL, event_id TEXT NOT NULL,
  PRIMARY KEY (sha256, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_refs_sid ON blob_refs(sid);

-- append-only: the only UPDATE is payload -> NULL on a deleted session; no DELETE until purged_at is set
CREATE TRIGGER events_no_update BEFORE UPDATE ON events
WHEN NOT (NEW.payload IS NULL AND OLD.payload IS NOT NULL
          AND NEW.key IS OLD.key AND NEW.sid IS OLD.sid AND NEW.seq IS OLD.seq AND NEW.id IS OLD.id
          AND NEW.type IS OLD.type AND NEW.v IS OLD.v AND NEW.turn_id IS OLD.turn_id
          AND NEW.parent_id IS OLD.parent_id AND NEW.idem_key IS OLD.idem_key
          AND NEW.ch_seq IS OLD.ch_seq AND NEW.at IS OLD.at
          AND (SELECT deleted_at FROM sessions WHERE sid = OLD.sid) IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'events is append-only'); END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events
WHEN (SELECT purged_at FROM sessions WHERE sid = OLD.sid) IS NULL
BEGIN SELECT RAISE(ABORT, 'events is append-only'); END;
CREATE TRIGGER deltas_no_update BEFORE UPDATE ON deltas
BEGIN SELECT RAISE(ABORT, 'deltas are append-only'); END;
CREATE TRIGGER deltas_no_delete BEFORE DELETE ON deltas
WHEN (SELECT deleted_at FROM sessions WHERE sid = (OLD.key >> 32)) IS NULL
 AND NOT EXISTS (SELECT 1 FROM delta_folds f WHERE f.sid = (OLD.key >> 32) AND f.start_seq = OLD.start_seq)
BEGIN SELECT RAISE(ABORT, 'deltas are append-only'); END;
