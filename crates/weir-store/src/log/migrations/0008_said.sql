-- What was said and what happened in sessions can be searched: the next search makes entries of the events that say
-- something. How far that has come, and which event an entry repeats.
ALTER TABLE totals ADD COLUMN said_to INTEGER NOT NULL DEFAULT 0;
CREATE TABLE said (
    entry_id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    event_id INTEGER NOT NULL
) STRICT;
