-- Which database each tenant is in. A released migration never changes.

-- The databases. `number` gives them an order that never changes. An address is what `weir-server` takes for a database,
-- so it may be `@FILE`, which each server reads on its own machine.
CREATE TABLE weir_directory.cells (
    number integer GENERATED ALWAYS AS IDENTITY UNIQUE,
    name text COLLATE "C" PRIMARY KEY CHECK (name <> ''),
    address text NOT NULL
);

-- The tenants, each in one cell. `generation` grows with every move that begins, is repeated or is taken back; what a move
-- writes names it, so that of two moves of a tenant only the later one has an effect. A tenant that is `moving` is on its
-- way to the cell `other`; one that is `leaving` has arrived, and what it left in `other` is to be erased.
CREATE TABLE weir_directory.tenants (
    name text COLLATE "C" PRIMARY KEY CHECK (name <> ''),
    cell text COLLATE "C" NOT NULL REFERENCES weir_directory.cells,
    generation bigint NOT NULL DEFAULT 1,
    state text COLLATE "C" NOT NULL DEFAULT 'settled' CHECK (state IN ('settled', 'moving', 'leaving')),
    other text COLLATE "C" REFERENCES weir_directory.cells,
    CHECK ((state = 'settled') = (other IS NULL)),
    CHECK (other <> cell)
);
CREATE INDEX tenants_cell ON weir_directory.tenants (cell);

-- The tenant of each token, because a token is looked up before its tenant is known. What a token is good for, its cell
-- says. A row stays when the token is revoked.
CREATE TABLE weir_directory.tokens (
    id text COLLATE "C" PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL
);

-- Tells servers which tenant has moved, or with an empty text that the cells are others.
CREATE FUNCTION weir_directory.tell() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_notify('weir_directory', CASE TG_TABLE_NAME WHEN 'tenants' THEN coalesce(NEW.name, OLD.name) ELSE '' END);
    RETURN NULL;
END
$$;
CREATE TRIGGER told AFTER UPDATE OR DELETE ON weir_directory.tenants FOR EACH ROW EXECUTE FUNCTION weir_directory.tell();
CREATE TRIGGER told AFTER INSERT OR UPDATE OR DELETE ON weir_directory.cells
    FOR EACH ROW EXECUTE FUNCTION weir_directory.tell();

-- Returns the cell of a tenant, after giving it one if it has none: the cell `wanted`, or else the one with the fewest
-- tenants.
CREATE FUNCTION weir_directory.place(tenant text, wanted text) RETURNS SETOF weir_directory.tenants
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO weir_directory.tenants (name, cell)
        SELECT tenant, c.name FROM weir_directory.cells c WHERE wanted IS NULL OR c.name = wanted
        ORDER BY (SELECT count(*) FROM weir_directory.tenants t WHERE t.cell = c.name), c.number LIMIT 1
        ON CONFLICT (name) DO NOTHING;
    RETURN QUERY SELECT * FROM weir_directory.tenants t WHERE t.name = tenant;
END
$$;
REVOKE EXECUTE ON FUNCTION weir_directory.place(text, text), weir_directory.tell() FROM PUBLIC;
