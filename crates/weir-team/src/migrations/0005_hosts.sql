-- Which user of a tenant each host belongs to. A released migration never changes.
--
-- A host is bound when somebody sends records of it. One that has records already is bound to their author, so that
-- nothing has to be filled in here, and what a server of the version before appends counts too. The name is empty for a
-- host with records of several users, which is that of a server.
CREATE TABLE weir.hosts (
    tenant_id bigint NOT NULL REFERENCES weir.tenants,
    host uuid NOT NULL,
    user_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, host)
);
ALTER TABLE weir.hosts ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.hosts USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));
