-- Whether a record came sealed. One that did not is there by the server's word alone.
ALTER TABLE records ADD COLUMN is_sealed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX records_granted ON records (kind) WHERE kind = 'granted';
