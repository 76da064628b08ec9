-- Fills the tables of the migration before from the records that were there. It reads, and locks nobody out: what is
-- appended meanwhile has its topic from the trigger. A released migration never changes.

INSERT INTO weir.topics (tenant_id, project_id, topic, position)
    SELECT r.tenant_id, r.project_id, weir.topic_of(r.json), r.position FROM weir.records r
    WHERE r.json LIKE '%"topic":"%' AND weir.topic_of(r.json) IS NOT NULL
    ON CONFLICT DO NOTHING;

INSERT INTO weir.earlier_usage (tenant_id, project_id, bytes)
    SELECT r.tenant_id, r.project_id, sum(octet_length(r.json)
        + coalesce((substring(r.json FROM '"bytes":([0-9]{1,15})[},]'))::bigint, 0))
    FROM weir.records r WHERE r.json IS NOT NULL GROUP BY r.tenant_id, r.project_id;
