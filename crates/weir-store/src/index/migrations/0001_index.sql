-- The index: derived from the log, dropped and rebuilt at will. A chunk is a span of its entry's text, and the full-text
-- table keeps postings only.

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

-- What the filters of a search need to know of an entry. `unreadable` is 1 for an entry whose text is lost, and 2
-- for one whose text could not be read, or not to its end, for a reason that may pass. Both are tried again.
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
CREATE INDEX documents_unreadable ON documents (entry_id) WHERE unreadable > 0;

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

-- The map of folders: what is known of their files. It is made of the files, not of the log, and can be made again at any
-- time.

-- A folder that was mapped; the commit up to which its history was read, and which files each commit changed: a path on
-- a line, an empty line between commits.
CREATE TABLE map_roots (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    head TEXT NOT NULL,
    commits TEXT NOT NULL
) STRICT;

-- A file. `spec` is the language and the version of what reads it, `count` how many symbols it has. `words`, `defines`
-- and `mentions` are numbers of four bytes each; `symbols` has one symbol on a line. What is asked for least stands last,
-- since long rows are read from their beginning.
CREATE TABLE map_files (
    id INTEGER PRIMARY KEY,
    root_id INTEGER NOT NULL REFERENCES map_roots (id),
    path TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    hash BLOB NOT NULL,
    spec TEXT NOT NULL,
    count INTEGER NOT NULL,
    words BLOB NOT NULL,
    defines BLOB NOT NULL,
    mentions BLOB NOT NULL,
    symbols TEXT NOT NULL,
    UNIQUE (root_id, path)
) STRICT;
