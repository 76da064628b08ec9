-- When the user confirmed a note that a model wrote.
ALTER TABLE notes ADD COLUMN confirmed_at INTEGER;
