-- The requests that users may repeat, by their keys, for a day. `name` is the hash of the user and of their name for the
-- request, `content` 32 bits of the hash of that name and of what the request said. `host` and `number` are the id of
-- the record that was appended for it.
CREATE TABLE requests (
    tenant TEXT NOT NULL,
    name BLOB NOT NULL,
    content INTEGER NOT NULL,
    host BLOB NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_at ON requests (tenant, at);
