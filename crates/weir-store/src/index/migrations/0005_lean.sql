-- The texts are no longer copied: a chunk is a span of its entry's text, and the full-text table keeps postings only.
-- Everything here is derived from the log, so the tables are dropped and filled again.
DROP TABLE words;
DROP TABLE spellings;
DROP TABLE vocabulary;
DROP TABLE vectors;
DROP TABLE chunks;
DROP TABLE documents;
DROP TABLE progress;

-- How far into the log's order the index has come, and of which log: its identity, and the last change that was
-- followed, by its entry and the entry's reference. `residue` tells whether words of forgotten entries are left in the
-- pages of the full-text table or in the vocabulary, `removed` how many chunks were removed since the vocabulary was
-- last learnt. `next_chunk` is the id of the next chunk, since no id is used twice; `embedded` the last chunk with a
-- vector, by `model`. One row.
CREATE TABLE progress (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    log TEXT NOT NULL,
    applied INTEGER NOT NULL,
    last_entry INTEGER NOT NULL,
    last_reference TEXT NOT NULL,
    residue INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    next_chunk INTEGER NOT NULL,
    embedded INTEGER NOT NULL,
    model TEXT NOT NULL
) STRICT;
INSERT INTO progress VALUES (1, '', 0, 0, '', 0, 0, 1, 0, '');

-- What the filters of a search need to know of an entry. `unreadable` marks an entry whose text could not be read, or
-- not to its end.
CREATE TABLE documents (
    entry_id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    level TEXT NOT NULL,
    client TEXT,
    session TEXT,
    work TEXT,
    source TEXT,
    at INTEGER NOT NULL,
    unreadable INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX documents_unreadable ON documents (unreadable, entry_id) WHERE unreadable = 1;

-- A span of an entry's text as a terminal would show it: the stored text from byte `anchor` on is cleaned, `skip` bytes
-- of the result are passed over, and the next `bytes` are the chunk. `heading` has the headings, symbols or keys above
-- it, `line` the line of the entry on which it begins.
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    entry_id INTEGER NOT NULL REFERENCES documents (entry_id),
    ordinal INTEGER NOT NULL,
    anchor INTEGER NOT NULL,
    skip INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    line INTEGER NOT NULL,
    heading TEXT NOT NULL
) STRICT;
CREATE INDEX chunks_entry ON chunks (entry_id, ordinal);

-- The body is the first column, because the engine writes two bytes less for each posting of the first.
CREATE VIRTUAL TABLE words USING fts5 (
    body, title, hidden, before,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
-- The title counts twice, hidden words and the turn before half.
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(1.0, 2.0, 0.5, 0.5)');
-- A transaction has up to 4 MB of text. Its postings are written at once, so that there is less to merge.
INSERT INTO words (words, rank) VALUES ('hashsize', 8388608);

-- The words as they are written, in lower case, between marks by which their ends are found: ^pool$. They resolve
-- prefixes, parts of words and misspellings.
CREATE TABLE vocabulary (
    id INTEGER PRIMARY KEY,
    word TEXT NOT NULL UNIQUE
) STRICT;
CREATE VIRTUAL TABLE spellings USING fts5 (
    word, content = 'vocabulary', content_rowid = 'id', tokenize = 'trigram', detail = none
);
-- A word that is removed is wiped from the pages at once.
INSERT INTO spellings (spellings, rank) VALUES ('secure-delete', 1);

-- Vectors, up to 1,024 in a row. `ids` has the distance of each chunk's id from `first`, four bytes each; `scales` the
-- factor of each vector's bytes, a 32-bit float, zero for a chunk that is gone.
CREATE TABLE vectors (
    first INTEGER PRIMARY KEY,
    ids BLOB NOT NULL,
    scales BLOB NOT NULL,
    data BLOB NOT NULL
) STRICT;
