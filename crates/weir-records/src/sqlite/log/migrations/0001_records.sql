-- The position of the newest record of each project. Advanced in the transaction that appends, so that a reader never
-- passes a record that appears later. `bytes` has those of the records that are not erased: of their JSON, and of their
-- texts, each counted for itself.
CREATE TABLE heads (
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    position INTEGER NOT NULL,
    bytes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, project)
) STRICT, WITHOUT ROWID;

-- The records. `json` is the record itself; what stands beside it is for look-ups. An erased record has neither, only
-- its id and its position. `about_host` and `about_number` name the record that this one supersedes, confirms or
-- removes; `text` is the hash of the text. `imprint` tells an erased record from another one with the same id: 32 bits
-- of the hash of its JSON, too few to confirm a guess of what it said. Null for a record that is not erased.
CREATE TABLE records (
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    position INTEGER NOT NULL,
    host BLOB NOT NULL,
    number INTEGER NOT NULL,
    author TEXT NOT NULL,
    audience TEXT NOT NULL,
    reference TEXT,
    about_host BLOB,
    about_number INTEGER,
    text BLOB,
    json TEXT,
    imprint INTEGER,
    PRIMARY KEY (tenant, project, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX records_id ON records (tenant, host, number);
CREATE INDEX records_reference ON records (tenant, project, reference) WHERE reference IS NOT NULL;
CREATE INDEX records_about ON records (tenant, project, about_host, about_number) WHERE about_host IS NOT NULL;
CREATE INDEX records_text ON records (tenant, text) WHERE text IS NOT NULL;
-- An erased record has no JSON, and so no topic.
CREATE INDEX records_topic ON records (tenant, project, json_extract(json, '$.body.kept.note.topic'), position)
    WHERE json_extract(json, '$.body.kept.note.topic') IS NOT NULL;

-- Which user of a tenant each host belongs to: the first who has sent records of it. Empty for a host with records of
-- several users, which is that of a server. A host that is not here is bound when it is used next.
CREATE TABLE hosts (
    tenant TEXT NOT NULL,
    host BLOB NOT NULL,
    user TEXT NOT NULL,
    PRIMARY KEY (tenant, host)
) STRICT, WITHOUT ROWID;

-- Tenants that can have tokens. A log needs none.
CREATE TABLE tenants (
    name TEXT NOT NULL PRIMARY KEY,
    max_records INTEGER,
    max_bytes INTEGER
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
-- `target` is the range of positions that were appended, or the id of a record or token. `token` is the id of the
-- token that the change was made with; null for one that was made on the server itself.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    tenant TEXT NOT NULL,
    project TEXT,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    token TEXT
) STRICT;
CREATE INDEX audit_tenant ON audit (tenant, id);

-- Where the team is being moved to, or was moved to. No row, or one: while there is one, nothing is written to the log or
-- to the accounts. `place` is shown to people and has no password.
CREATE TABLE moving (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    place TEXT NOT NULL,
    is_done INTEGER NOT NULL CHECK (is_done IN (0, 1))
) STRICT;
