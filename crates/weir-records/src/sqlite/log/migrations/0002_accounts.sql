-- Tenants that can have tokens. A log needs none.
CREATE TABLE tenants (
    name TEXT NOT NULL PRIMARY KEY,
    max_records INTEGER
) STRICT, WITHOUT ROWID;

-- The tokens. `hash` is that of the secret half, which is stored nowhere. `projects` is a JSON array of keys, or null
-- for all projects of the tenant. Times are milliseconds since 1970.
CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (name),
    user TEXT NOT NULL,
    scope TEXT NOT NULL,
    projects TEXT,
    hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_tenant ON tokens (tenant, created_at);

-- Who changed what and when, written in the transaction that makes the change. `actor` is the user of the call.
-- `target` is the range of positions that were appended, or the id of a record or token.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    tenant TEXT NOT NULL,
    project TEXT,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL
) STRICT;
CREATE INDEX audit_tenant ON audit (tenant, id);
