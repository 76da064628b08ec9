-- How the runs went whose output is kept.
-- `ended`: exited, timeout, cancelled, quota, memory or lost.
-- `pieces`: which bytes of the text came from which stream, as `weir_core::run::Pieces` writes it; none when the
-- streams were merged.
CREATE TABLE runs (
    entry_id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    exit_code INTEGER,
    signal INTEGER,
    millis INTEGER NOT NULL,
    sandbox TEXT NOT NULL,
    ended TEXT NOT NULL,
    pieces BLOB
) STRICT;

-- How many line ends each frame of a text has, four bytes each, so that a line is found without reading all before it.
-- None for a text of one frame, and for texts from before.
ALTER TABLE blobs ADD COLUMN lines BLOB;
