-- The invitations. `hash` is that of the secret half, which is stored nowhere. `user_name` is whom it is for, or null if
-- those who accept it name themselves. `projects` has the keys of the projects that its tokens are good for, or is null
-- for all of the tenant. Times are milliseconds since 1970. The id is unique in the whole database, because an
-- invitation is looked up before its tenant is known.
CREATE TABLE weir.invitations (
    tenant_id bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    user_name text COLLATE "C",
    scope text COLLATE "C" NOT NULL,
    projects text[],
    token_millis bigint,
    max_uses integer NOT NULL,
    uses integer NOT NULL DEFAULT 0 CHECK (uses <= max_uses),
    invited_by text COLLATE "C" NOT NULL,
    invited_with text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    revoked_at bigint,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX invitations_id ON weir.invitations (id);
ALTER TABLE weir.invitations ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.invitations USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));

-- The invitations as the program reads them. One is revoked with the token that it was made with.
CREATE VIEW weir.shown_invitations WITH (security_invoker = true) AS
    SELECT t.name AS tenant, i.id, i.hash, i.user_name, i.scope, i.projects, i.token_millis, i.max_uses, i.uses,
        i.invited_by, i.invited_with, i.created_at, i.expires_at, coalesce(i.revoked_at, k.revoked_at) AS revoked_at
    FROM weir.invitations i JOIN weir.tenants t USING (tenant_id)
        LEFT JOIN weir.tokens k ON k.tenant_id = i.tenant_id AND k.id = i.invited_with;

-- Returns the invitation with an id, of whatever tenant, which must be here. The caller must know the id, and the hash decides the rest.
CREATE FUNCTION weir.find_invitation(wanted text) RETURNS SETOF weir.shown_invitations
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN weir.check_here(t.state, t.generation) THEN i.tenant END, i.id, i.hash, i.user_name, i.scope,
        i.projects, i.token_millis, i.max_uses, i.uses, i.invited_by, i.invited_with, i.created_at, i.expires_at,
        i.revoked_at
    FROM weir.shown_invitations i JOIN weir.tenants t ON t.name = i.tenant WHERE i.id = wanted
$$;

REVOKE EXECUTE ON FUNCTION weir.find_invitation(text) FROM PUBLIC;
