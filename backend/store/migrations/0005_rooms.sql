-- What is on its way into rooms, and what became of it.
CREATE TABLE deliveries (
  event_id TEXT PRIMARY KEY,                           -- what is delivered: agent.message, tool.called or host.notice
  sid      INTEGER NOT NULL REFERENCES sessions(sid),
  turn_id  TEXT,                                       -- whose conclusion waits for it
  kind     TEXT NOT NULL CHECK (kind IN ('message','call','notice','aside')),
  state    TEXT NOT NULL CHECK (state IN ('pending','accepted','refused','failed','partial','unknown')),
  seq      INTEGER NOT NULL,                           -- newest delivery.updated of it
  epoch    TEXT NOT NULL                               -- the start that is to deliver it
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_pending ON deliveries(sid, seq) WHERE state = 'pending';
CREATE INDEX deliveries_sid     ON deliveries(sid);
