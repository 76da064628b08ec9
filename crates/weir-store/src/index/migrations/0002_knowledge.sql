-- Chunks by what the text is, with the place they stand in; words as they are written; vectors. All of it is derived
-- from the log, so the tables before are dropped and filled anew.
DROP TABLE words;
DROP TABLE pieces;
DROP TABLE chunks;
DROP TABLE documents;
DROP TABLE progress;

-- How far into the log's order the index has come; whether words of forgotten entries are left in the pages of the
-- full-text tables; the id of the next chunk, since none is ever given twice; and up to which chunk there are vectors,
-- by which model. One row.
CREATE TABLE progress (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    applied INTEGER NOT NULL,
    residue INTEGER NOT NULL,
    next_chunk INTEGER NOT NULL,
    embedded INTEGER NOT NULL,
    model TEXT NOT NULL
) STRICT;
INSERT INTO progress (id, applied, residue, next_chunk, embedded, model) VALUES (1, 0, 0, 1, 0, '');

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

-- `title` is the entry's, with the headings, symbols or keys that the chunk stands under. `before` is the turn before,
-- in a conversation.
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    entry_id INTEGER NOT NULL REFERENCES documents (entry_id),
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    line INTEGER NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    hidden TEXT NOT NULL,
    before TEXT NOT NULL
) STRICT;
CREATE INDEX chunks_entry ON chunks (entry_id, ordinal);

CREATE VIRTUAL TABLE words USING fts5 (
    title, body, hidden, before,
    content = 'chunks', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
);
-- The title counts twice, hidden words and the turn before half.
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(2.0, 1.0, 0.5, 0.5)');

-- The words as they are written, in lower case, between marks that let their ends be found: ^pool$. From here a word
-- is found by its beginning, by a part of it, and when it is misspelt. Three-letter pieces of the whole text would do
-- the same, for five times the time to write.
CREATE TABLE vocabulary (
    id INTEGER PRIMARY KEY,
    word TEXT NOT NULL UNIQUE
) STRICT;
CREATE VIRTUAL TABLE spellings USING fts5 (
    word, content = 'vocabulary', content_rowid = 'id', tokenize = 'trigram', detail = none
);

-- Vectors, many in a row. `ids` has the distance of each chunk's id from `first`, four bytes each; `scales` what the
-- bytes of a vector are multiplied with, as a 32-bit float; zero for a chunk that is gone.
CREATE TABLE vectors (
    first INTEGER PRIMARY KEY,
    ids BLOB NOT NULL,
    scales BLOB NOT NULL,
    data BLOB NOT NULL
) STRICT;
