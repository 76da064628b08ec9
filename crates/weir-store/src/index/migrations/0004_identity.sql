-- The log that was followed, and the last change of it that was: its entry and the entry's reference. An index that does
-- not fit its log is made anew. The default stands for an index from before, whose log is not known.
ALTER TABLE progress ADD COLUMN log TEXT NOT NULL DEFAULT '';
ALTER TABLE progress ADD COLUMN last_entry INTEGER NOT NULL DEFAULT 0;
ALTER TABLE progress ADD COLUMN last_reference TEXT NOT NULL DEFAULT '';
-- How many chunks were removed since the full-text tables were last written anew.
ALTER TABLE progress ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;

-- Entries whose text could not be read, or not to its end.
ALTER TABLE documents ADD COLUMN unreadable INTEGER NOT NULL DEFAULT 0;
CREATE INDEX documents_unreadable ON documents (unreadable, entry_id) WHERE unreadable = 1;
