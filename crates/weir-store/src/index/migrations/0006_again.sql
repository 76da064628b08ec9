-- `unreadable` is 1 for an entry whose text is lost, and 2 for one whose text could not be read for a reason that may
-- pass. Both are tried again. What was marked before may be either.
DROP INDEX documents_unreadable;
CREATE INDEX documents_unreadable ON documents (entry_id) WHERE unreadable > 0;
UPDATE documents SET unreadable = 2 WHERE unreadable = 1;
