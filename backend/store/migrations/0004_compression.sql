-- The newest summary that stands for the beginning of a conversation in front of the model; 0 without one.
ALTER TABLE session_heads ADD COLUMN compacted_seq INTEGER NOT NULL DEFAULT 0;
