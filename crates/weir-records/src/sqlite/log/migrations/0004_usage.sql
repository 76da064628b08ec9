-- Usage in bytes, the token of each change, and notes by their topic.
ALTER TABLE tenants ADD COLUMN max_bytes INTEGER;

-- The bytes of a project's records that are not erased: of their JSON, and of their texts, each counted for itself.
ALTER TABLE heads ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE heads SET bytes = (
    SELECT coalesce(sum(length(CAST(r.json AS BLOB)) + coalesce(json_extract(r.json, '$.body.kept.bytes'), 0)), 0)
    FROM records r WHERE r.tenant = heads.tenant AND r.project = heads.project AND r.json IS NOT NULL);

-- The id of the token that a change was made with; null for one that was made on the server itself.
ALTER TABLE audit ADD COLUMN token TEXT;

-- An erased record has no JSON, and so no topic.
CREATE INDEX records_topic ON records (tenant, project, json_extract(json, '$.body.kept.note.topic'), position)
    WHERE json_extract(json, '$.body.kept.note.topic') IS NOT NULL;
