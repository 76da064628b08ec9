-- Which user of a tenant each host belongs to: the first who has sent records of it. Empty for a host with records of
-- several users, which is that of a server. A host that is not here is bound when it is used next.
CREATE TABLE hosts (
    tenant TEXT NOT NULL,
    host BLOB NOT NULL,
    user TEXT NOT NULL,
    PRIMARY KEY (tenant, host)
) STRICT, WITHOUT ROWID;
