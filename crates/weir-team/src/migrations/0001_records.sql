-- The tables of the log. A released migration never changes.
--
-- Row-level security is the second lock: the program names the tenant in every statement, and the database shows a
-- transaction only the rows of the tenant that it has entered (`weir.enter`). A transaction that has entered none gets
-- an error and not an empty answer: the setting is then unknown, or the empty text, which is not a number.
--
-- Every key begins with the tenant, so that a tenant can move to another database. Names are compared byte by byte.

CREATE TABLE weir.tenants (
    tenant_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE CHECK (name <> '')
);
ALTER TABLE weir.tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.tenants USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));

CREATE TABLE weir.projects (
    tenant_id bigint NOT NULL REFERENCES weir.tenants,
    project_id bigint GENERATED ALWAYS AS IDENTITY,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, project_id),
    UNIQUE (tenant_id, key)
);
ALTER TABLE weir.projects ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.projects USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));

-- The position of the newest record of each project. An append locks the row before it looks at the log, and advances
-- it before it commits. So records become visible in the order of their positions, and a reader never passes one that
-- appears later. Each page has room for the next version of a row.
CREATE TABLE weir.heads (
    tenant_id bigint NOT NULL,
    project_id bigint NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (tenant_id, project_id),
    FOREIGN KEY (tenant_id, project_id) REFERENCES weir.projects
) WITH (fillfactor = 50);
ALTER TABLE weir.heads ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.heads USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));

-- The records. `json` is the record itself, byte for byte; the columns beside it are for look-ups. An erased record has
-- neither, only its id and its position. `about_host` and `about_number` name the record that this one supersedes,
-- confirms or removes; `text` is the hash of the text. There is no foreign key, because the ids of a row are those of
-- the head that its transaction has locked.
CREATE TABLE weir.records (
    tenant_id bigint NOT NULL,
    project_id bigint NOT NULL,
    position bigint NOT NULL,
    number bigint NOT NULL,
    about_number bigint,
    host uuid NOT NULL,
    about_host uuid,
    audience text COLLATE "C" NOT NULL,
    author text COLLATE "C" NOT NULL,
    reference text COLLATE "C",
    text bytea,
    json text COLLATE "C",
    PRIMARY KEY (tenant_id, project_id, position),
    UNIQUE (tenant_id, host, number)
) PARTITION BY HASH (tenant_id);
CREATE INDEX records_reference ON weir.records (tenant_id, project_id, reference) WHERE reference IS NOT NULL;
CREATE INDEX records_about ON weir.records (tenant_id, project_id, about_host, about_number)
    WHERE about_host IS NOT NULL;
CREATE INDEX records_text ON weir.records (tenant_id, text) WHERE text IS NOT NULL;
ALTER TABLE weir.records ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.records USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));
-- What was appended does not change; it can only be erased.
CREATE POLICY only_erased ON weir.records AS RESTRICTIVE FOR UPDATE
    WITH CHECK (author = '' AND num_nonnulls(reference, about_host, about_number, text, json) = 0);

-- A partition can be named instead of its table, so it has the policy as well. Only removals leave dead rows, which
-- still have what was removed. They are vacuumed in the next round, and not only once there are many.
DO $$
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format(
            'CREATE TABLE weir.records_%1$s PARTITION OF weir.records FOR VALUES WITH (MODULUS 16, REMAINDER %1$s)
                 WITH (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
             ALTER TABLE weir.records_%1$s ENABLE ROW LEVEL SECURITY;
             CREATE POLICY own_tenant ON weir.records_%1$s
                 USING (tenant_id = (SELECT current_setting(''weir.tenant'')::bigint))',
            part);
    END LOOP;
END
$$;

-- Who changed what and when, written in the transaction that makes the change. `actor` is the user of the call, who
-- need not be the author of a record. `target` is the range of positions that were appended, or the id of the record
-- that was removed.
CREATE TABLE weir.audit (
    tenant_id bigint NOT NULL,
    audit_id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    project_id bigint NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    PRIMARY KEY (tenant_id, audit_id)
);
ALTER TABLE weir.audit ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.audit USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));

-- Sets the tenant of this transaction: the first call of each. A name that is not known yet is the tenant 0, which has
-- no rows. Both functions run as their owner, because nothing is visible before a tenant is entered.
CREATE FUNCTION weir.enter(tenant text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('weir.tenant', coalesce(
        (SELECT t.tenant_id FROM weir.tenants t WHERE t.name = tenant), 0)::text, true);
END
$$;

-- Creates a project with its tenant and its head, as far as they do not exist, and enters the tenant.
CREATE FUNCTION weir.create_project(tenant text, project text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO weir.tenants (name) VALUES (tenant) ON CONFLICT (name) DO NOTHING;
    PERFORM weir.enter(tenant);
    INSERT INTO weir.projects (tenant_id, key)
        SELECT t.tenant_id, project FROM weir.tenants t WHERE t.name = tenant ON CONFLICT (tenant_id, key) DO NOTHING;
    INSERT INTO weir.heads (tenant_id, project_id, position)
        SELECT p.tenant_id, p.project_id, 0 FROM weir.projects p JOIN weir.tenants t USING (tenant_id)
        WHERE t.name = tenant AND p.key = project ON CONFLICT (tenant_id, project_id) DO NOTHING;
END
$$;

REVOKE EXECUTE ON FUNCTION weir.enter(text), weir.create_project(text, text) FROM PUBLIC;
