-- Where the team is being moved to, or was moved to. No row, or one: while there is one, nothing is written to the log or
-- to the accounts. `place` is shown to people and has no password.
CREATE TABLE moving (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    place TEXT NOT NULL,
    is_done INTEGER NOT NULL CHECK (is_done IN (0, 1))
) STRICT;
