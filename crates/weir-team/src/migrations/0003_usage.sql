-- Usage in bytes, the token of each change, and notes by their topic. A released migration never changes.

-- How many bytes a tenant may have; null for the server's default.
ALTER TABLE weir.tenants ADD COLUMN max_bytes bigint CHECK (max_bytes > 0);

-- The bytes of a project's records that were appended and not erased since this migration: of their JSON, and of their
-- texts, each counted for itself. `weir.earlier_usage` has those of before. Filling it in here would lock every head.
ALTER TABLE weir.heads ADD COLUMN bytes bigint NOT NULL DEFAULT 0;

CREATE TABLE weir.earlier_usage (
    tenant_id bigint NOT NULL,
    project_id bigint NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (tenant_id, project_id)
);
ALTER TABLE weir.earlier_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.earlier_usage USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));

-- The id of the token that a change was made with; null for one that was made on the server itself.
ALTER TABLE weir.audit ADD COLUMN token text;

-- Where the notes on a topic are. `topic` is its SHA-256: a topic may be longer than a key of an index can be. Triggers
-- keep the table, so that a server of the version before need not know it.
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

REVOKE EXECUTE ON FUNCTION weir.topic_of(text), weir.add_topic(), weir.remove_topic() FROM PUBLIC;
