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
