-- The position of the newest record of each project. Advanced in the transaction that appends, so that a reader never
-- passes a record that appears later.
CREATE TABLE heads (
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (tenant, project)
) STRICT, WITHOUT ROWID;

-- The records. `json` is the record itself; what stands beside it is for look-ups. An erased record has neither, only
-- its id and its position. `about_host` and `about_number` name the record that this one supersedes, confirms or
-- removes; `text` is the hash of the text.
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
    PRIMARY KEY (tenant, project, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX records_id ON records (tenant, host, number);
CREATE INDEX records_reference ON records (tenant, project, reference) WHERE reference IS NOT NULL;
CREATE INDEX records_about ON records (tenant, project, about_host, about_number) WHERE about_host IS NOT NULL;
CREATE INDEX records_text ON records (tenant, text) WHERE text IS NOT NULL;
