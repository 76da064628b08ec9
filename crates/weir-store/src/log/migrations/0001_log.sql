-- The log: what happened and what was kept. Everything else is derived from it.

-- Whose store this is. One row.
CREATE TABLE owner (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key TEXT NOT NULL
) STRICT;

-- Which log this is, so that an index made from another one is told apart. Drawn once. One row.
CREATE TABLE identity (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    value TEXT NOT NULL
) STRICT;
INSERT INTO identity (id, value) VALUES (1, lower(hex(randomblob(16))));

-- The projects this user has stores for. Filled in the user's store only. `identity` is that of the repository: its root
-- commit and its remote. Empty as long as it is not known.
CREATE TABLE projects (
    key TEXT PRIMARY KEY,
    root TEXT NOT NULL,
    folder TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    identity TEXT NOT NULL DEFAULT ''
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
-- The newest session of a client, for one that is resumed under another key.
CREATE INDEX sessions_client ON sessions (client, started_at);

-- Texts, addressed by content. `data` holds a small one; a large one lies in a file named by its hash.
-- `frames` holds the stored length of each frame, four bytes each; empty when the text is stored as it is. `lines` holds
-- how many line ends each frame has, four bytes each, so that a line is found without reading all before it; none for a
-- text of one frame.
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    frames BLOB NOT NULL,
    data BLOB,
    lines BLOB
) STRICT;

-- What the quota needs to know without counting, kept by every write: `filed` has the bytes of texts that lie in files,
-- `runs` the bytes of the texts of runs, once for each run, and `index_bytes` those that the index takes, as of the last
-- time it had caught up. `thinned_to` is the event up to which the old ones were removed, `tidied_at` when stray files
-- were last looked for, `said_to` the event up to which there are entries of what was said, and
-- `turns_to` the one up to which there are entries of turns and fixes. `clock_believed` is the last
-- time at which the clock was believed, `clock_doubted` a later one that another day has to confirm; 0 if there was none.
-- One row.
CREATE TABLE totals (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    entries INTEGER NOT NULL DEFAULT 0,
    stored INTEGER NOT NULL DEFAULT 0,
    filed INTEGER NOT NULL DEFAULT 0,
    runs INTEGER NOT NULL DEFAULT 0,
    index_bytes INTEGER NOT NULL DEFAULT 0,
    thinned_to INTEGER NOT NULL DEFAULT 0,
    tidied_at INTEGER NOT NULL DEFAULT 0,
    said_to INTEGER NOT NULL DEFAULT 0,
    turns_to INTEGER NOT NULL DEFAULT 0,
    clock_believed INTEGER NOT NULL DEFAULT 0,
    clock_doubted INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO totals (id) VALUES (1);

-- The one order of everything. An entry has the id of the event that kept it. Ids are never used again, so a
-- reader that remembers how far it came misses nothing: whatever removes events appends one first, so the newest
-- stays. (AUTOINCREMENT would promise the same for the price of another page in every append.)
-- Past sessions are taken in from transcripts long after they happened, so what happened is read in the order of time.
-- Every index is a page in every append, and something to read whenever a hook opens the store.
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
CREATE INDEX events_at ON events (at);
CREATE INDEX events_session ON events (session_id, at) WHERE session_id IS NOT NULL;
CREATE INDEX events_entry ON events (entry_id) WHERE entry_id IS NOT NULL;
CREATE INDEX events_changes ON events (id, kind, entry_id) WHERE entry_id IS NOT NULL;
-- Hooks look for the failures of a session, and for the last session in which the user asked for something.
CREATE INDEX events_failures ON events (session_id, id) WHERE kind IN ('error', 'fix');
CREATE INDEX events_prompts ON events (session_id) WHERE kind = 'prompt';

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

-- `confirmed_at` is when the user confirmed a note that a model wrote.
CREATE TABLE notes (
    entry_id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    topic TEXT,
    revision INTEGER NOT NULL,
    superseded_by INTEGER REFERENCES entries (id) ON DELETE SET NULL,
    commit_id TEXT,
    branch TEXT,
    confirmed_at INTEGER
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

-- `waiting` tells whether a guide waits for the first hook that can carry it. Not every client says when it has compacted.
CREATE TABLE guides (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions (id),
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    waiting INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX guides_session ON guides (session_id, id);
CREATE INDEX guides_waiting ON guides (session_id) WHERE waiting = 1;

-- How the runs went whose output is kept. `ended`: exited, timeout, cancelled, quota, memory or lost.
CREATE TABLE runs (
    entry_id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    exit_code INTEGER,
    signal INTEGER,
    millis INTEGER NOT NULL,
    sandbox TEXT NOT NULL,
    ended TEXT NOT NULL
) STRICT;

-- The hooks that ran, by client, day, what became of the output that they reported, and time: `within` is the limit that
-- the time kept, in microseconds, and `bytes` the size of the outputs. `outcome` is empty if there was no output. The
-- other columns are the last hook of the row. Hooks of days that are long past are one row of each client, with 0 for
-- the day and for the limit.
CREATE TABLE hooks (
    client TEXT,
    day INTEGER,
    outcome TEXT,
    within INTEGER,
    event TEXT NOT NULL,
    at INTEGER NOT NULL,
    micros INTEGER NOT NULL,
    count INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (client, day, outcome, within)
) STRICT, WITHOUT ROWID;

-- Files that were indexed, so that only those that changed are read again: as large and as new as they were, and the
-- hash of their bytes.
CREATE TABLE files (
    source TEXT PRIMARY KEY,
    entry_id INTEGER NOT NULL UNIQUE REFERENCES entries (id) ON DELETE CASCADE,
    bytes INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Pages that were fetched, with what their servers need to say whether they have changed.
CREATE TABLE pages (
    url TEXT PRIMARY KEY,
    entry_id INTEGER NOT NULL UNIQUE REFERENCES entries (id) ON DELETE CASCADE,
    etag TEXT,
    last_modified TEXT,
    checked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The files that a session has before it: what it knows of each, and whether the model still has the text.
CREATE TABLE session_files (
    session_id INTEGER NOT NULL REFERENCES sessions (id),
    path TEXT NOT NULL,
    hash TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    outline_tokens INTEGER,
    known_at INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    edits INTEGER NOT NULL,
    active INTEGER NOT NULL,
    was_read INTEGER NOT NULL,
    shown INTEGER NOT NULL,
    PRIMARY KEY (session_id, path)
) STRICT, WITHOUT ROWID;

-- In the order of their last use, for lists and for what goes first.
CREATE INDEX session_files_turn ON session_files (session_id, turn);
CREATE INDEX session_files_active ON session_files (session_id) WHERE active = 1;
CREATE INDEX session_files_shown ON session_files (shown) WHERE shown = 1;

-- Records of the spool that were taken in and whose files may still be there: taken in once, whatever ends the process.
CREATE TABLE spooled (
    name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- What was said and what happened in sessions can be searched: the next search makes entries of the events that say
-- something, of turns, and of failures with what fixed them. Which events an entry repeats.
CREATE TABLE said (
    entry_id INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    event_id INTEGER NOT NULL,
    PRIMARY KEY (entry_id, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX said_event ON said (event_id);

-- How far the transcript of a conversation was taken in: how many steps, and the message of the last. A session has one
-- conversation of its own and one with each subagent. Stays when the session is gone, so that nothing comes back that
-- was forgotten.
CREATE TABLE imports (
    client TEXT NOT NULL,
    key TEXT NOT NULL,
    subagent TEXT NOT NULL,
    steps INTEGER NOT NULL,
    message TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (client, key, subagent)
) STRICT, WITHOUT ROWID;

-- What Weir did to conversations, by day, session and tool. `what`: held (an output was replaced), told (something was said
-- without being asked), answered (one of our own tools was called), ran (one of our own tools ran a program, and its
-- output was held back). `given` has the tokens that the model would have got without Weir, `shown` those that it got,
-- `output` those of the outputs in full.
CREATE TABLE meter (
    day INTEGER NOT NULL,
    client TEXT NOT NULL,
    session TEXT NOT NULL,
    tool TEXT NOT NULL,
    what TEXT NOT NULL,
    times INTEGER NOT NULL,
    given INTEGER NOT NULL,
    shown INTEGER NOT NULL,
    output INTEGER NOT NULL,
    PRIMARY KEY (day, client, session, tool, what)
) STRICT, WITHOUT ROWID;
