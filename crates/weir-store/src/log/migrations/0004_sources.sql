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
