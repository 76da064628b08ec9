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
