-- The log: what happened and what was kept. Everything else is derived from it.

-- Whose store this is. One row.
CREATE TABLE owner (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key TEXT NOT NULL
) STRICT;

-- The projects this user has stores for. Filled in the user's store only.
CREATE TABLE projects (
    key TEXT PRIMARY KEY,
    root TEXT NOT NULL,
    folder TEXT NOT NULL,
    used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE works (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    client TEXT NOT NULL,
    key TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    UNIQUE (client, key)
) STRICT;
CREATE INDEX sessions_key ON sessions (key);

-- Texts, addressed by content. `data` holds a small one; a large one lies in a file named by its hash.
-- `frames` holds the stored length of each frame, four bytes each; empty when the text is stored as it is.
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    frames BLOB NOT NULL,
    data BLOB
) STRICT;

-- One row, kept by every write, so that the quota needs no counting.
CREATE TABLE totals (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    entries INTEGER NOT NULL,
    stored INTEGER NOT NULL
) STRICT;
INSERT INTO totals (id, entries, stored) VALUES (1, 0, 0);

-- The one order of everything. An entry has the id of the event that kept it. Ids are never used again, so a
-- reader that remembers how far it came misses nothing: whatever removes events appends one first, so the newest
-- stays. (AUTOINCREMENT would promise the same for the price of another page in every append.)
-- There is no index by time: it would be a page in every append too, and the order of ids is the order of time as
-- well as clocks allow.
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    session_id INTEGER REFERENCES sessions (id),
    work_id INTEGER REFERENCES works (id),
    kind TEXT NOT NULL,
    priority TEXT NOT NULL,
    text TEXT NOT NULL,
    data TEXT,
    entry_id INTEGER
) STRICT;
CREATE INDEX events_session ON events (session_id, id) WHERE session_id IS NOT NULL;
CREATE INDEX events_work ON events (work_id, id) WHERE work_id IS NOT NULL;
CREATE INDEX events_entry ON events (entry_id) WHERE entry_id IS NOT NULL;
CREATE INDEX events_changes ON events (id, kind, entry_id) WHERE entry_id IS NOT NULL;

CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    reference TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    origin TEXT NOT NULL,
    level TEXT NOT NULL,
    session_id INTEGER REFERENCES sessions (id),
    work_id INTEGER REFERENCES works (id),
    title TEXT NOT NULL,
    source TEXT,
    blob_id INTEGER NOT NULL REFERENCES blobs (id),
    redactions INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT;
CREATE INDEX entries_blob ON entries (blob_id);
CREATE INDEX entries_at ON entries (at);
CREATE INDEX entries_session ON entries (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX entries_source ON entries (source) WHERE source IS NOT NULL;
CREATE INDEX entries_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL AND pinned = 0;
CREATE INDEX entries_eviction ON entries (used_at) WHERE kind = 'run' AND pinned = 0;

-- What is left of entries that are gone, so that nobody is told they never were.
CREATE TABLE gone (
    reference TEXT PRIMARY KEY,
    entry_id INTEGER NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    level TEXT NOT NULL,
    why TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE notes (
    entry_id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    topic TEXT,
    revision INTEGER NOT NULL,
    superseded_by INTEGER REFERENCES entries (id) ON DELETE SET NULL,
    commit_id TEXT,
    branch TEXT
) STRICT;
CREATE INDEX notes_topic ON notes (topic, entry_id) WHERE topic IS NOT NULL;
CREATE INDEX notes_superseded ON notes (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE note_files (
    entry_id INTEGER NOT NULL REFERENCES notes (entry_id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (entry_id, path)
) STRICT, WITHOUT ROWID;

-- A note keeps what it cites from expiring.
CREATE TABLE citations (
    note_id INTEGER NOT NULL REFERENCES notes (entry_id) ON DELETE CASCADE,
    entry_id INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    PRIMARY KEY (note_id, entry_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX citations_entry ON citations (entry_id);

CREATE TABLE guides (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions (id),
    at INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX guides_session ON guides (session_id, id);
