-- What a project shares with a team. The notes themselves are in the log; this is only what the server and the records
-- add to them.

-- The server that the project is connected to. One row.
CREATE TABLE connection (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    server TEXT NOT NULL,
    token_file TEXT NOT NULL,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    project TEXT NOT NULL,
    -- Who writes the records of this installation, and the number of its next record.
    host TEXT NOT NULL,
    next_index INTEGER NOT NULL,
    -- How far the server's log was read.
    position INTEGER NOT NULL,
    -- Whose notes were taken when it was read.
    taken_from TEXT NOT NULL,
    -- The clock of the records.
    time_millis INTEGER NOT NULL,
    time_count INTEGER NOT NULL,
    tried_at INTEGER,
    synced_at INTEGER,
    problem TEXT
) STRICT;

-- The records, in the order in which they were written or received.
CREATE TABLE records (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    is_own INTEGER NOT NULL,
    user TEXT NOT NULL,
    client TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- The record that this one is about, and the one that takes its place.
    about TEXT,
    successor TEXT,
    -- The entry in the log.
    reference TEXT,
    -- What is sent, byte for byte. Only for own records.
    json TEXT,
    problem TEXT,
    -- Whether it came sealed. One that did not is there by the server's word alone.
    is_sealed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX records_granted ON records (kind) WHERE kind = 'granted';
CREATE INDEX records_about ON records (about) WHERE about IS NOT NULL;
CREATE INDEX records_reference ON records (reference) WHERE reference IS NOT NULL;

-- What the user wants to share or confirm, until a record says so.
CREATE TABLE wishes (
    reference TEXT NOT NULL,
    wish TEXT NOT NULL,
    PRIMARY KEY (reference, wish)
) STRICT, WITHOUT ROWID;
