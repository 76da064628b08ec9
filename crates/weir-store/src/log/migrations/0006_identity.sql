-- Which log this is, so that an index made from another one is told apart. Drawn once. One row.
CREATE TABLE identity (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    value TEXT NOT NULL
) STRICT;
INSERT INTO identity (id, value) VALUES (1, lower(hex(randomblob(16))));

-- What the quota needs to know without counting: bytes of texts that lie in files; bytes of the texts of runs, once for
-- each run; and bytes that the index takes, as of the last time it had caught up.
ALTER TABLE totals ADD COLUMN filed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN index_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE totals SET
    filed = (SELECT coalesce(sum(stored), 0) FROM blobs WHERE data IS NULL),
    runs = (SELECT coalesce(sum(b.stored), 0) FROM entries e JOIN blobs b ON b.id = e.blob_id WHERE e.kind = 'run')
WHERE id = 1;

-- Up to which event the old ones were removed, and when stray files were last looked for.
ALTER TABLE totals ADD COLUMN thinned_to INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN tidied_at INTEGER NOT NULL DEFAULT 0;

-- Hooks look for the failures of a session, and for the last session in which the user asked for something.
CREATE INDEX events_failures ON events (session_id, id) WHERE kind IN ('error', 'fix');
CREATE INDEX events_prompts ON events (session_id) WHERE kind = 'prompt';
