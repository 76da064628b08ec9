-- The tables of the log and of the accounts. A released migration never changes.
--
-- Row-level security is the second lock: the program names the tenant in every statement, and the database shows a
-- transaction only the rows of the tenant that it has entered (`weir.enter`). A transaction that has entered none gets
-- an error and not an empty answer: the setting is then unknown, or the empty text, which is not a number.
--
-- Every key begins with the tenant, so that a tenant can move to another database. Names are compared byte by byte.

CREATE TABLE weir.tenants (
    tenant_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE CHECK (name <> ''),
    -- How many records and bytes it may have; null for the server's default.
    max_records bigint CHECK (max_records > 0),
    max_bytes bigint CHECK (max_bytes > 0)
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
-- appears later. Each page has room for the next version of a row. `bytes` has those of the records that are not erased:
-- of their JSON, and of their texts, each counted for itself.
CREATE TABLE weir.heads (
    tenant_id bigint NOT NULL,
    project_id bigint NOT NULL,
    position bigint NOT NULL,
    bytes bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, project_id),
    FOREIGN KEY (tenant_id, project_id) REFERENCES weir.projects
) WITH (fillfactor = 50);
ALTER TABLE weir.heads ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.heads USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));

-- The records. `json` is the record itself, byte for byte; the columns beside it are for look-ups. An erased record has
-- neither, only its id and its position. `about_host` and `about_number` name the record that this one supersedes,
-- confirms or removes; `text` is the hash of the text. There is no foreign key, because the ids of a row are those of
-- the head that its transaction has locked. `imprint` tells an erased record from another one with the same id: 32 bits
-- of the hash of its JSON, too few to confirm a guess of what it said. Null for a record that is not erased.
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
    imprint bigint,
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
-- What stays of an erased record does not change any more.
CREATE POLICY erased_once ON weir.records AS RESTRICTIVE FOR UPDATE USING (json IS NOT NULL) WITH CHECK (true);

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
-- that was removed; what is done to tenants and tokens is about no project. `token` is the id of the token that the
-- change was made with; null for one that was made on the server itself.
CREATE TABLE weir.audit (
    tenant_id bigint NOT NULL,
    audit_id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    project_id bigint,
    actor text NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    token text,
    PRIMARY KEY (tenant_id, audit_id)
);
ALTER TABLE weir.audit ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.audit USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));

-- The tokens. `hash` is that of the secret half, which is stored nowhere. `projects` has the keys of the projects that a
-- token is good for, or is null for all of the tenant. Times are milliseconds since 1970. The id is unique in the whole
-- database, because a token is looked up before its tenant is known.
CREATE TABLE weir.tokens (
    tenant_id bigint NOT NULL REFERENCES weir.tenants,
    id text COLLATE "C" NOT NULL,
    user_name text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    projects text[],
    hash bytea NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX tokens_id ON weir.tokens (id);
ALTER TABLE weir.tokens ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.tokens USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));
-- A token changes once: when it is revoked.
CREATE POLICY only_revoked ON weir.tokens AS RESTRICTIVE FOR UPDATE
    USING (revoked_at IS NULL) WITH CHECK (revoked_at IS NOT NULL);

-- Which user of a tenant each host belongs to. A host is bound when somebody sends records of it. The name is empty for a
-- host with records of several users, which is that of a server.
CREATE TABLE weir.hosts (
    tenant_id bigint NOT NULL REFERENCES weir.tenants,
    host uuid NOT NULL,
    user_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, host)
);
ALTER TABLE weir.hosts ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.hosts USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));

-- Sets the tenant of this transaction: the first call of each. A name that is not known yet is the tenant 0, which has
-- no rows. These functions run as their owner, because nothing is visible before a tenant is entered.
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

-- Creates a tenant if it does not exist, enters it, and returns whether it is new.
CREATE FUNCTION weir.create_tenant(tenant text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_new boolean;
BEGIN
    INSERT INTO weir.tenants (name) VALUES (tenant) ON CONFLICT (name) DO NOTHING;
    is_new := FOUND;
    PERFORM weir.enter(tenant);
    RETURN is_new;
END
$$;

-- Returns the token with an id, of whatever tenant. The caller must know the id, and the hash decides the rest.
CREATE FUNCTION weir.find_token(wanted text) RETURNS TABLE (
    tenant text, id text, user_name text, scope text, projects text[], hash bytea, created_at bigint, expires_at bigint,
    revoked_at bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.name, k.id, k.user_name, k.scope, k.projects, k.hash, k.created_at, k.expires_at, k.revoked_at
    FROM weir.tokens k JOIN weir.tenants t USING (tenant_id) WHERE k.id = wanted
$$;

-- Where the notes on a topic are. `topic` is its SHA-256: a topic may be longer than a key of an index can be. Triggers
-- keep the table.
CREATE TABLE weir.topics (
    tenant_id bigint NOT NULL,
    project_id bigint NOT NULL,
    topic bytea NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (tenant_id, project_id, topic, position)
);
ALTER TABLE weir.topics ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.topics USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));

-- Returns the hash of the topic that a record has, or null. JSON with an escaped zero byte cannot be read here. JSON
-- that speaks of such an escape can, and has another backslash before it.
CREATE FUNCTION weir.topic_of(record text) RETURNS bytea
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN strpos(record, '\u0000') = 0 OR record !~ '(^|[^\\])(\\\\)*\\u0000'
        THEN sha256(convert_to(record::json #>> '{body,kept,note,topic}', 'UTF8')) END
$$;

CREATE FUNCTION weir.add_topic() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    hash bytea := weir.topic_of(NEW.json);
BEGIN
    IF hash IS NOT NULL THEN
        INSERT INTO weir.topics (tenant_id, project_id, topic, position)
            VALUES (NEW.tenant_id, NEW.project_id, hash, NEW.position) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION weir.remove_topic() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM weir.topics k WHERE k.tenant_id = OLD.tenant_id AND k.project_id = OLD.project_id
        AND k.topic = weir.topic_of(OLD.json) AND k.position = OLD.position;
    RETURN NULL;
END
$$;

CREATE TRIGGER records_topic AFTER INSERT ON weir.records FOR EACH ROW
    WHEN (NEW.json LIKE '%"topic":"%') EXECUTE FUNCTION weir.add_topic();
CREATE TRIGGER records_topic_erased AFTER UPDATE ON weir.records FOR EACH ROW
    WHEN (OLD.json LIKE '%"topic":"%' AND NEW.json IS NULL) EXECUTE FUNCTION weir.remove_topic();

REVOKE EXECUTE ON FUNCTION weir.enter(text), weir.create_project(text, text), weir.create_tenant(text),
    weir.find_token(text), weir.topic_of(text), weir.add_topic(), weir.remove_topic() FROM PUBLIC;
