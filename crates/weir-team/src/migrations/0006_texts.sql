-- Small texts in the rows of their records, so that they are appended and erased in the same transaction. Null for a text
-- that is in the store of texts, which every server can read. Servers of the version before know nothing of this column,
-- so nothing is written to it until none of them can start (`weir.migrations.oldest_server`).
ALTER TABLE weir.records ADD COLUMN content bytea;

-- An erased record has no text, whichever server erases it.
CREATE FUNCTION weir.erase_content() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.content := NULL;
    RETURN NEW;
END
$$;

CREATE TRIGGER records_content_erased BEFORE UPDATE ON weir.records FOR EACH ROW
    WHEN (NEW.json IS NULL AND OLD.content IS NOT NULL) EXECUTE FUNCTION weir.erase_content();

REVOKE EXECUTE ON FUNCTION weir.erase_content() FROM PUBLIC;
