//! The statements of a move. Invariant: each names its tenant, as those of the log do.

use tokio_postgres::types::Type;

use super::super::queries::Query;

/// All records of a project after `$3`, up to the one with which they have `$5` bytes of JSON and texts.
pub(super) static MOVED_RECORDS: Query = Query {
    sql: "SELECT r.position, r.host, r.number, r.audience, r.json, r.imprint, r.content
          FROM weir.tenants t JOIN weir.projects p USING (tenant_id) CROSS JOIN LATERAL (
              SELECT n.*, sum(n.bytes) OVER (ORDER BY n.position) - n.bytes AS bytes_before FROM (
                  SELECT r.*, coalesce(octet_length(r.json), 0) + coalesce(octet_length(r.content), 0) AS bytes
                  FROM weir.records r
                  WHERE r.tenant_id = p.tenant_id AND r.project_id = p.project_id AND r.position > $3
                  ORDER BY r.position LIMIT $4) n) r
          WHERE t.name = $1 AND p.key = $2 AND r.bytes_before < $5 ORDER BY r.position",
    types: &[Type::TEXT, Type::TEXT, Type::INT8, Type::INT8, Type::INT8],
};

/// Holds off others who take in the same tenant until the transaction ends.
pub(super) static LOCK_TENANT: Query =
    Query { sql: "SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1 FOR NO KEY UPDATE", types: &[Type::TEXT] };

pub(super) static AUDIT_COUNT: Query = Query {
    sql: "SELECT count(*) FROM weir.audit a JOIN weir.tenants t USING (tenant_id) WHERE t.name = $1",
    types: &[Type::TEXT],
};

pub(super) static AUDIT_ROWS: Query = Query {
    sql: "SELECT (extract(epoch FROM a.at) * 1000)::bigint, p.key, a.actor, a.action, a.target, a.token
          FROM weir.audit a JOIN weir.tenants t USING (tenant_id)
          LEFT JOIN weir.projects p ON p.tenant_id = a.tenant_id AND p.project_id = a.project_id
          WHERE t.name = $1 ORDER BY a.audit_id LIMIT $3 OFFSET $2",
    types: &[Type::TEXT, Type::INT8, Type::INT8],
};

pub(super) static BOUND_HOSTS: Query = Query {
    sql: "SELECT h.host, h.user_name FROM weir.hosts h JOIN weir.tenants t USING (tenant_id)
          WHERE t.name = $1 AND ($2 IS NULL OR h.host > $2) ORDER BY h.host LIMIT $3",
    types: &[Type::TEXT, Type::UUID, Type::INT8],
};

pub(super) static TAKE_HOSTS: Query = Query {
    sql: "INSERT INTO weir.hosts (tenant_id, host, user_name)
          SELECT t.tenant_id, taken.host, taken.user_name
          FROM weir.tenants t CROSS JOIN unnest($2, $3) AS taken (host, user_name) WHERE t.name = $1
          ON CONFLICT (tenant_id, host) DO NOTHING",
    types: &[Type::TEXT, Type::UUID_ARRAY, Type::TEXT_ARRAY],
};

pub(super) static HEADS_OF: Query = Query {
    sql: "SELECT p.key, h.position FROM weir.tenants t JOIN weir.projects p USING (tenant_id)
          JOIN weir.heads h USING (tenant_id, project_id) WHERE t.name = $1",
    types: &[Type::TEXT],
};

pub(super) static KEPT_REQUESTS: Query = Query {
    sql: "SELECT r.name, r.content, r.host, r.number, r.at FROM weir.requests r JOIN weir.tenants t USING (tenant_id)
          WHERE t.name = $1 AND ($2 IS NULL OR r.name > $2) ORDER BY r.name LIMIT $3",
    types: &[Type::TEXT, Type::BYTEA, Type::INT8],
};

pub(super) static TAKE_REQUESTS: Query = Query {
    sql: "INSERT INTO weir.requests (tenant_id, name, content, host, number, at)
          SELECT t.tenant_id, taken.name, taken.content, taken.host, taken.number, taken.at
          FROM weir.tenants t CROSS JOIN unnest($2, $3, $4, $5, $6) AS taken (name, content, host, number, at)
          WHERE t.name = $1
          ON CONFLICT (tenant_id, name) DO UPDATE SET content = excluded.content, host = excluded.host,
              number = excluded.number, at = excluded.at",
    types: &[Type::TEXT, Type::BYTEA_ARRAY, Type::INT8_ARRAY, Type::UUID_ARRAY, Type::INT8_ARRAY, Type::INT8_ARRAY],
};

pub(super) static SET_QUOTAS: Query = Query {
    sql: "UPDATE weir.tenants SET max_records = $2, max_bytes = $3
          WHERE name = $1 AND (max_records, max_bytes) IS DISTINCT FROM ($2, $3)",
    types: &[Type::TEXT, Type::INT8, Type::INT8],
};

pub(super) static TAKE_TOKEN: Query = Query {
    sql: "INSERT INTO weir.tokens
              (tenant_id, id, user_name, scope, projects, hash, created_at, expires_at, revoked_at)
          SELECT t.tenant_id, $2, $3, $4, $5, $6, $7, $8, $9 FROM weir.tenants t WHERE t.name = $1
          ON CONFLICT (tenant_id, id) DO NOTHING",
    types: &[
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT_ARRAY,
        Type::BYTEA,
        Type::INT8,
        Type::INT8,
        Type::INT8,
    ],
};

pub(super) static REVOKE: Query = Query {
    sql: "UPDATE weir.tokens SET revoked_at = $3 WHERE revoked_at IS NULL AND id = $2
              AND tenant_id = (SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1)",
    types: &[Type::TEXT, Type::TEXT, Type::INT8],
};

/// What was removed by records at the positions `$5` and is not erased.
pub(super) static REMOVED: Query = Query {
    sql: "SELECT r.position, r.json FROM unnest($3, $4, $5) AS removed (host, number, removed_at)
          JOIN weir.records r ON r.host = removed.host AND r.number = removed.number
              AND r.position < removed.removed_at
          WHERE r.tenant_id = $1 AND r.project_id = $2 AND r.json IS NOT NULL",
    types: &[Type::INT8, Type::INT8, Type::UUID_ARRAY, Type::INT8_ARRAY, Type::INT8_ARRAY],
};

pub(super) static TAKE_AUDIT: Query = Query {
    sql: "INSERT INTO weir.audit (tenant_id, at, project_id, actor, action, target, token)
          SELECT t.tenant_id, timestamptz 'epoch' + done.at * interval '1 millisecond', p.project_id, done.actor,
              done.action, done.target, done.token
          FROM weir.tenants t
          CROSS JOIN unnest($2, $3, $4, $5, $6, $7) WITH ORDINALITY
              AS done (at, project, actor, action, target, token, number)
          LEFT JOIN weir.projects p ON p.tenant_id = t.tenant_id AND p.key = done.project
          WHERE t.name = $1 ORDER BY done.number",
    types: &[
        Type::TEXT,
        Type::INT8_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
    ],
};
