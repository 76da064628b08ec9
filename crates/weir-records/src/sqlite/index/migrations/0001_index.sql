-- How far into the log the index has come. One row.
CREATE TABLE progress (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    position INTEGER NOT NULL
) STRICT;
INSERT INTO progress VALUES (1, 0);

-- What the filters of a search need to know of a record.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    host BLOB NOT NULL,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    author TEXT NOT NULL,
    audience TEXT NOT NULL,
    source TEXT,
    at INTEGER NOT NULL,
    UNIQUE (host, number)
) STRICT;

-- Postings only: the texts are blobs. The body is the first column, because the engine writes two bytes less for each
-- posting of the first.
CREATE VIRTUAL TABLE words USING fts5 (
    body, title, hidden,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
-- The title counts twice, hidden words half.
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(1.0, 2.0, 0.5)');
