-- The index: derived from the log, dropped and rebuilt at will.

-- How far into the log's order the index has come, and whether words of forgotten entries are left in the pages of
-- the full-text tables. One row.
CREATE TABLE progress (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    applied INTEGER NOT NULL,
    residue INTEGER NOT NULL
) STRICT;
INSERT INTO progress (id, applied, residue) VALUES (1, 0, 0);

-- What the filters of a search need to know of an entry.
CREATE TABLE documents (
    entry_id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    level TEXT NOT NULL,
    client TEXT,
    session TEXT,
    work TEXT,
    source TEXT,
    at INTEGER NOT NULL
) STRICT;

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    entry_id INTEGER NOT NULL REFERENCES documents (entry_id),
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    line INTEGER NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    hidden TEXT NOT NULL
) STRICT;
CREATE INDEX chunks_entry ON chunks (entry_id, ordinal);

CREATE VIRTUAL TABLE words USING fts5 (
    title, body, hidden, content = 'chunks', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
);
-- The title counts twice, hidden words half.
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(2.0, 1.0, 0.5)');

-- Three-letter pieces find what stands inside words. Positions are left out: they would triple the size, and a
-- candidate is checked against its text anyway.
CREATE VIRTUAL TABLE pieces USING fts5 (
    title, body, content = 'chunks', content_rowid = 'id', tokenize = 'trigram', detail = none
);
