-- The last hook of each client, so that a person can see whether hooks arrive and what they cost.
CREATE TABLE hooks (
    client TEXT PRIMARY KEY,
    event TEXT NOT NULL,
    at INTEGER NOT NULL,
    micros INTEGER NOT NULL,
    count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whether a guide waits for the first hook that can carry it. Not every client says when it has compacted.
ALTER TABLE guides ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0;
CREATE INDEX guides_waiting ON guides (session_id) WHERE waiting = 1;

-- The newest session of a client, for one that is resumed under another key.
CREATE INDEX sessions_client ON sessions (client);
