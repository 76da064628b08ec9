-- The invitations. `hash` is that of the secret half, which is stored nowhere. `user` is whom it is for, or null if those
-- who accept it name themselves. `projects` is a JSON array of keys, or null for all projects of the tenant. Times are
-- milliseconds since 1970.
CREATE TABLE invitations (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    hash BLOB NOT NULL,
    user TEXT,
    scope TEXT NOT NULL,
    projects TEXT,
    token_millis INTEGER,
    max_uses INTEGER NOT NULL,
    uses INTEGER NOT NULL DEFAULT 0,
    invited_by TEXT NOT NULL,
    invited_with TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX invitations_tenant ON invitations (tenant, created_at);
