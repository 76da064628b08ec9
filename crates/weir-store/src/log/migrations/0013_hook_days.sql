-- The hooks that ran, by client, day, what became of the output that they reported, and time: `within` is the limit that
-- the time kept, in microseconds, and `bytes` the size of the outputs. `outcome` is empty if there was no output. The
-- other columns are the last hook of the row. Hooks from before, and those of days that are long past, are one row of
-- each client, with 0 for the day and for the limit.
ALTER TABLE hooks RENAME TO hooks_of_clients;
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
INSERT INTO hooks SELECT client, 0, '', 0, event, at, micros, count, 0 FROM hooks_of_clients;
DROP TABLE hooks_of_clients;
