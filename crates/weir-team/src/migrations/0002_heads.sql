-- Finds the heads that have moved, for servers whose index follows the log. Nothing is added to what an append writes:
-- a row already has the transaction that wrote it (`xmin`).

-- Looks at the next `most` heads of all tenants after the head (`after_tenant`, `after_project`). Returns those that
-- were written by the transaction `since` or a later one, or all of them if `since` is 0, and the last one that it
-- looked at in any case. `looked_at` is how many it looked at; with fewer than `most`, these were the last.
--
-- `mark` is the oldest transaction that is still open. Whatever this call does not see yet has that number or a greater
-- one, so a walk with this mark as its `since` finds it, however late it commits.
--
-- A row has 32 bits of the number of its transaction. They are compared by age; a mark that is older than these can
-- tell, or that another database gave, finds all heads. The function runs as its owner, because a walk is about all
-- tenants. It gives their names, and no content.
CREATE FUNCTION weir.list_heads(since bigint, after_tenant bigint, after_project bigint, most bigint) RETURNS TABLE (
    tenant text, project text, head bigint, tenant_number bigint, project_number bigint, mark bigint, looked_at bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH snapshot AS (
        SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest,
            pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS newest
    ), walk AS MATERIALIZED (
        SELECT s.oldest, CASE
            WHEN since = 0 OR since > s.newest OR s.newest - since >= 2147483647 THEN 2147483647
            ELSE age(since::text::xid8::xid)
        END AS most_age FROM snapshot s
    ), next AS MATERIALIZED (
        SELECT h.tenant_id, h.project_id, h.position, age(h.xmin) AS age FROM weir.heads h
        WHERE (h.tenant_id, h.project_id) > (after_tenant, after_project)
        ORDER BY h.tenant_id, h.project_id LIMIT most
    ), whole AS MATERIALIZED (
        SELECT count(*) AS total, max(n.tenant_id) AS last_tenant FROM next n
    ), last AS MATERIALIZED (
        SELECT w.*, (SELECT max(n.project_id) FROM next n WHERE n.tenant_id = w.last_tenant) AS last_project
        FROM whole w
    )
    SELECT t.name, p.key, n.position, n.tenant_id, n.project_id, w.oldest, l.total
    FROM next n CROSS JOIN walk w CROSS JOIN last l
        JOIN weir.tenants t ON t.tenant_id = n.tenant_id
        JOIN weir.projects p ON p.tenant_id = n.tenant_id AND p.project_id = n.project_id
    WHERE n.age <= w.most_age OR (n.tenant_id, n.project_id) = (l.last_tenant, l.last_project)
    ORDER BY n.tenant_id, n.project_id
$$;

REVOKE EXECUTE ON FUNCTION weir.list_heads(bigint, bigint, bigint, bigint) FROM PUBLIC;
