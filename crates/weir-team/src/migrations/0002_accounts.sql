-- Tokens and quotas. A released migration never changes.

-- How many records a tenant may have; null for the server's default.
ALTER TABLE weir.tenants ADD COLUMN max_records bigint CHECK (max_records > 0);

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

-- What is done to tenants and tokens is about no project.
ALTER TABLE weir.audit ALTER COLUMN project_id DROP NOT NULL;

-- Creates a tenant if it does not exist, enters it, and returns whether it is new. It runs as its owner, because nothing
-- is visible before a tenant is entered.
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

REVOKE EXECUTE ON FUNCTION weir.create_tenant(text), weir.find_token(text) FROM PUBLIC;
