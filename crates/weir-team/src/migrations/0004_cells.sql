-- Whether a tenant may be used in this database, which may be one of several: a cell. A tenant is `here`; or it is
-- `arriving`, while a move copies it to this cell, and only that move may use it; or it has `left`, and what is left of
-- it is this row, so that a server that does not know of the move yet is refused and never creates the tenant again.
-- `generation` is the number of the move that wrote the row. A move with a smaller one changes nothing any more.
ALTER TABLE weir.tenants
    ADD COLUMN state text COLLATE "C" NOT NULL DEFAULT 'here' CHECK (state IN ('here', 'arriving', 'left')),
    ADD COLUMN generation bigint NOT NULL DEFAULT 0;

-- A statement that names its tenant finds nothing if the tenant is not here. The transaction then asks `enter`, which
-- says why. `weir.move` is the number of a move, in a transaction that belongs to it.
CREATE POLICY is_here ON weir.tenants AS RESTRICTIVE USING (state = 'here'
    OR (state = 'arriving' AND generation = nullif(current_setting('weir.move', true), '')::bigint));

-- Fails unless this transaction may use a tenant that is in this state.
CREATE FUNCTION weir.check_here(state text, generation bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF state = 'here'
        OR (state = 'arriving' AND generation = nullif(current_setting('weir.move', true), '')::bigint) THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'the tenant is in another cell, or on its way there' USING ERRCODE = 'WE001';
END
$$;

-- In the functions below, a check is in a list of columns and not in a condition, so that it is made for the one tenant
-- that is meant.
CREATE OR REPLACE FUNCTION weir.enter(tenant text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('weir.tenant', coalesce((
        SELECT CASE WHEN weir.check_here(t.state, t.generation) THEN t.tenant_id END
        FROM weir.tenants t WHERE t.name = tenant), 0)::text, true);
END
$$;

-- Holds the tenant with this number where it is until the transaction ends: a move waits for those who write. While
-- a move has paused them, others wait here for its end.
CREATE FUNCTION weir.hold(number bigint) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_advisory_xact_lock_shared(57110, (number & 2147483647)::integer)
$$;

-- Keeps all others from writing to the tenant with this number until the transaction ends.
CREATE FUNCTION weir.pause(number bigint) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_advisory_xact_lock(57110, (number & 2147483647)::integer)
$$;

-- Enters a tenant in order to write. The check is a statement of its own after the lock, so it sees what a move has
-- committed meanwhile.
CREATE FUNCTION weir.enter_to_write(tenant text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    number bigint := (SELECT t.tenant_id FROM weir.tenants t WHERE t.name = tenant);
BEGIN
    IF number IS NOT NULL THEN
        PERFORM weir.hold(number);
    END IF;
    PERFORM weir.enter(tenant);
END
$$;

-- Does the same for a tenant that the server remembers the number of. There need not be such a tenant any more.
CREATE FUNCTION weir.write_in(number bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM weir.hold(number);
    PERFORM weir.check_here(t.state, t.generation) FROM weir.tenants t WHERE t.tenant_id = number;
    PERFORM set_config('weir.tenant', number::text, true);
END
$$;

CREATE OR REPLACE FUNCTION weir.create_project(tenant text, project text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO weir.tenants (name) VALUES (tenant) ON CONFLICT (name) DO NOTHING;
    PERFORM weir.enter_to_write(tenant);
    INSERT INTO weir.projects (tenant_id, key)
        SELECT t.tenant_id, project FROM weir.tenants t WHERE t.name = tenant ON CONFLICT (tenant_id, key) DO NOTHING;
    INSERT INTO weir.heads (tenant_id, project_id, position)
        SELECT p.tenant_id, p.project_id, 0 FROM weir.projects p JOIN weir.tenants t USING (tenant_id)
        WHERE t.name = tenant AND p.key = project ON CONFLICT (tenant_id, project_id) DO NOTHING;
END
$$;

CREATE OR REPLACE FUNCTION weir.create_tenant(tenant text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_new boolean;
BEGIN
    INSERT INTO weir.tenants (name) VALUES (tenant) ON CONFLICT (name) DO NOTHING;
    is_new := FOUND;
    PERFORM weir.enter_to_write(tenant);
    RETURN is_new;
END
$$;

CREATE OR REPLACE FUNCTION weir.find_token(wanted text) RETURNS TABLE (
    tenant text, id text, user_name text, scope text, projects text[], hash bytea, created_at bigint, expires_at bigint,
    revoked_at bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN weir.check_here(t.state, t.generation) THEN t.name END,
        k.id, k.user_name, k.scope, k.projects, k.hash, k.created_at, k.expires_at, k.revoked_at
    FROM weir.tokens k JOIN weir.tenants t USING (tenant_id) WHERE k.id = wanted
$$;

REVOKE EXECUTE ON FUNCTION weir.check_here(text, bigint), weir.hold(bigint), weir.pause(bigint),
    weir.enter_to_write(text), weir.write_in(bigint) FROM PUBLIC;
