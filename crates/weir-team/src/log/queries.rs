//! The statements of the log. Invariant: each names the tenant, and the project unless it is about the whole tenant, so
//! that nothing depends on row-level security alone.
//!
//! A look-up names tenant and project by the numbers that this server remembers, so that the database reads the
//! partition of the tenant and no other, and by their names, so that a number that is not theirs finds nothing. Then it
//! returns no row; otherwise it returns at least one, if only of nulls. What is written names them by the numbers of the
//! head that the transaction has locked.

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, Statement};

/// A statement with the types of its parameters.
pub(crate) struct Query {
    pub(crate) sql: &'static str,
    pub(crate) types: &'static [Type],
}

/// A statement that can be sent at once.
pub(super) enum ReadyQuery {
    /// The connection has parsed it.
    Prepared(Statement),
    /// It is sent with its text, for a pooler that gives each transaction another connection.
    Unnamed(&'static Query),
}

impl ReadyQuery {
    /// Runs the statement. The first poll hands it to the connection, so that several of them that are polled in turn
    /// arrive in that order.
    pub(super) async fn run(&self, client: &Client, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error> {
        match self {
            Self::Prepared(statement) => client.query(statement, values).await,
            Self::Unnamed(query) => {
                let types = query.types.iter().cloned();
                let typed: Vec<(&(dyn ToSql + Sync), Type)> = values.iter().copied().zip(types).collect();
                client.query_typed(query.sql, &typed).await
            }
        }
    }
}

/// The columns of the rows `s` of the tenant `$1`, if it is called `$3`.
macro_rules! in_tenant {
    ($columns:literal, $($rows:expr),+ $(,)?) => {
        concat!(
            "SELECT ", $columns, " FROM weir.tenants t LEFT JOIN LATERAL (", $($rows),+,
            ") s ON true WHERE t.tenant_id = $1 AND t.name = $3"
        )
    };
}

/// The columns of the rows `s` of the project `$2` of the tenant `$1`, if they are called `$4` and `$3`.
macro_rules! in_project {
    ($columns:literal, $($rows:expr),+ $(,)?) => {
        concat!(
            "SELECT ", $columns, " FROM weir.tenants t JOIN weir.projects p ON p.tenant_id = t.tenant_id
             LEFT JOIN LATERAL (", $($rows),+,
            ") s ON true WHERE t.tenant_id = $1 AND t.name = $3 AND p.tenant_id = $1 AND p.project_id = $2
                 AND p.key = $4"
        )
    };
}

/// A record that the user `$5` sees.
macro_rules! visible {
    () => {
        "r.json IS NOT NULL AND (r.audience = 'team' OR r.author = $5)"
    };
}

/// The end of a look-up by several ids. `OFFSET 0` keeps the look-up apart, so that it is made by its index once for
/// each id. The planner does not know how large the project is, and would otherwise choose to read all of it.
macro_rules! one_by_one {
    () => {
        " OFFSET 0) x"
    };
}

/// The types of the parameters that a look-up begins with, and of its own.
macro_rules! place_and {
    ($($own:ident),*) => {
        &[Type::INT8, Type::INT8, Type::TEXT, Type::TEXT, $(Type::$own),*]
    };
}

/// Enters the tenant: the first statement of every transaction that reads.
pub(super) static ENTER: Query = Query { sql: "SELECT weir.enter($1)", types: &[Type::TEXT] };

/// Enters the tenant to write in it, and waits if a move has paused those who write.
pub(super) static ENTER_TO_WRITE: Query = Query { sql: "SELECT weir.enter_to_write($1)", types: &[Type::TEXT] };

/// Creates a project, and its tenant if there is none.
pub(super) static CREATE_PROJECT: Query =
    Query { sql: "SELECT weir.create_project($1, $2)", types: &[Type::TEXT, Type::TEXT] };

/// Creates a tenant if it does not exist, and enters it.
pub(super) static CREATE_TENANT: Query = Query { sql: "SELECT weir.create_tenant($1)", types: &[Type::TEXT] };

/// The users of these hosts, as far as they are bound.
pub(super) static HOST_USERS: Query = Query {
    sql: "SELECT h.host, h.user_name FROM weir.tenants t JOIN weir.hosts h USING (tenant_id)
          WHERE t.name = $1 AND h.host = ANY ($2)",
    types: &[Type::TEXT, Type::UUID_ARRAY],
};

/// Binds these hosts to the authors of their records, or to the user `$3` if they have none. It reads all records of a
/// host, once in the life of the host.
pub(super) static BIND_HOSTS: Query = Query {
    sql: "INSERT INTO weir.hosts (tenant_id, host, user_name)
          SELECT t.tenant_id, wanted.host, coalesce((
              SELECT CASE WHEN min(r.author) <> max(r.author) THEN '' ELSE min(r.author) END FROM weir.records r
              WHERE r.tenant_id = t.tenant_id AND r.host = wanted.host AND r.author <> ''), $3)
          FROM weir.tenants t CROSS JOIN unnest($2) AS wanted (host) WHERE t.name = $1
          ON CONFLICT (tenant_id, host) DO NOTHING RETURNING host, user_name",
    types: &[Type::TEXT, Type::UUID_ARRAY, Type::TEXT],
};

/// Adds to the audit of a tenant what the user `$2` did to no project in particular, with the token `$5`.
pub(super) static AUDIT_TENANT: Query = Query {
    sql: "INSERT INTO weir.audit (tenant_id, actor, action, target, token)
          SELECT t.tenant_id, $2, done.action, done.target, $5
          FROM weir.tenants t CROSS JOIN unnest($3, $4) AS done (action, target) WHERE t.name = $1",
    types: &[Type::TEXT, Type::TEXT, Type::TEXT_ARRAY, Type::TEXT_ARRAY, Type::TEXT],
};

/// The numbers of the tenant `$1` and of its project `$2`, or of the tenant alone.
pub(super) static PLACE: Query = Query {
    sql: "SELECT t.tenant_id, p.project_id FROM weir.tenants t
          LEFT JOIN weir.projects p ON p.tenant_id = t.tenant_id AND p.key = $2 WHERE t.name = $1",
    types: &[Type::TEXT, Type::TEXT],
};

/// The position of the newest record.
pub(super) static HEAD: Query = Query {
    sql: in_project!("s.position", "SELECT h.position FROM weir.heads h WHERE h.tenant_id = $1 AND h.project_id = $2"),
    types: place_and!(),
};

/// The head, with each of the records after `$6`, or with none: at most `$7`, up to the one with which they have `$8`
/// bytes of JSON.
pub(super) static READ_SINCE: Query = Query {
    sql: concat!(
        in_project!(
            "s.head, s.position, s.json",
            "SELECT h.position AS head, b.position, b.json FROM weir.heads h LEFT JOIN LATERAL (
                 SELECT n.position, n.json,
                     sum(octet_length(n.json)) OVER (ORDER BY n.position) - octet_length(n.json) AS bytes_before
                 FROM (SELECT r.position, r.json FROM weir.records r
                     WHERE r.tenant_id = $1 AND r.project_id = $2 AND r.position > $6
                         AND r.json IS NOT NULL AND ($9 OR r.audience = 'team' OR r.author = $5)
                     ORDER BY r.position LIMIT $7) n) b ON b.bytes_before < $8
             WHERE h.tenant_id = $1 AND h.project_id = $2"
        ),
        " ORDER BY s.position"
    ),
    types: place_and!(TEXT, INT8, INT8, INT8, BOOL),
};

/// The records with these ids.
pub(super) static RECORDS: Query = Query {
    sql: in_project!(
        "s.position, s.json",
        "SELECT x.position, x.json FROM unnest($6, $7) AS wanted (host, number) CROSS JOIN LATERAL (
             SELECT r.position, r.json FROM weir.records r
             WHERE r.host = wanted.host AND r.number = wanted.number AND r.tenant_id = $1 AND r.project_id = $2 AND ",
        visible!(),
        one_by_one!()
    ),
    types: place_and!(TEXT, UUID_ARRAY, INT8_ARRAY),
};

/// The newest records that are about these ids, at most `$8` about each.
pub(super) static ABOUT: Query = Query {
    sql: concat!(
        in_project!(
            "s.position, s.json",
            "SELECT n.position, n.json FROM unnest($6, $7) AS wanted (host, number) CROSS JOIN LATERAL (
                 SELECT x.position, x.json FROM (SELECT r.position, r.json FROM weir.records r
                     WHERE r.about_host = wanted.host AND r.about_number = wanted.number
                         AND r.tenant_id = $1 AND r.project_id = $2 AND ",
            visible!(),
            one_by_one!(),
            " ORDER BY x.position DESC LIMIT $8) n"
        ),
        " ORDER BY s.position"
    ),
    types: place_and!(TEXT, UUID_ARRAY, INT8_ARRAY, INT8),
};

/// The oldest records with this reference. They are looked up apart, so that the planner does not read the project in
/// the order of its positions until it has found enough of them.
pub(super) static NAMED: Query = Query {
    sql: concat!(
        in_project!(
            "s.position, s.json",
            "SELECT x.position, x.json FROM (SELECT r.position, r.json FROM weir.records r
                 WHERE r.tenant_id = $1 AND r.project_id = $2 AND r.reference = $6 AND ",
            visible!(),
            one_by_one!(),
            " ORDER BY x.position LIMIT $7"
        ),
        " ORDER BY s.position"
    ),
    types: place_and!(TEXT, TEXT, INT8),
};

/// The newest notes on each of these topics, at most `$7`, up to the one with which they have `$8` bytes of JSON.
pub(super) static ON_TOPICS: Query = Query {
    sql: concat!(
        in_project!(
            "s.position, s.json",
            "SELECT b.position, b.json FROM unnest($6) AS wanted (topic) CROSS JOIN LATERAL (
                 SELECT n.position, n.json,
                     sum(octet_length(n.json)) OVER (ORDER BY n.position DESC) - octet_length(n.json) AS bytes_before
                 FROM (SELECT x.position, x.json FROM weir.topics k CROSS JOIN LATERAL (
                         SELECT r.position, r.json FROM weir.records r
                         WHERE r.tenant_id = $1 AND r.project_id = $2 AND r.position = k.position AND ",
            visible!(),
            one_by_one!(),
            "    WHERE k.tenant_id = $1 AND k.project_id = $2
                         AND k.topic = sha256(convert_to(wanted.topic, 'UTF8'))
                     ORDER BY k.position DESC LIMIT $7) n) b WHERE b.bytes_before < $8"
        ),
        " ORDER BY s.position"
    ),
    types: place_and!(TEXT, TEXT_ARRAY, INT8, INT8),
};

/// How many records of the tenant have this text.
pub(super) static TEXT_USES: Query = Query {
    sql: in_tenant!("s.uses", "SELECT count(*) AS uses FROM weir.records r WHERE r.tenant_id = $1 AND r.text = $5"),
    types: place_and!(BYTEA),
};

/// Returns those of the texts that a record of the tenant has.
pub(super) static USED_TEXTS: Query = Query {
    sql: in_tenant!(
        "s.text",
        "SELECT x.text FROM unnest($5) AS wanted (text) CROSS JOIN LATERAL (
             SELECT r.text FROM weir.records r WHERE r.tenant_id = $1 AND r.text = wanted.text LIMIT 1) x"
    ),
    types: place_and!(BYTEA_ARRAY),
};

/// Returns those of the texts that are kept with a record of the tenant.
pub(super) static KEPT_TEXTS: Query = Query {
    sql: in_tenant!(
        "s.text, s.content",
        "SELECT x.text, x.content FROM unnest($5) AS wanted (text) CROSS JOIN LATERAL (
             SELECT r.text, r.content FROM weir.records r
             WHERE r.tenant_id = $1 AND r.text = wanted.text AND r.content IS NOT NULL LIMIT 1) x"
    ),
    types: place_and!(BYTEA_ARRAY),
};

/// Locks the head of the project until the transaction ends. Nobody else appends to the project meanwhile. If the
/// numbers are not those of the names, there is no row, as in a look-up.
pub(super) static LOCK_HEAD: Query = Query {
    sql: "SELECT h.position FROM weir.heads h WHERE h.tenant_id = $1 AND h.project_id = $2 AND EXISTS (
              SELECT FROM weir.tenants t JOIN weir.projects p ON p.tenant_id = t.tenant_id
              WHERE t.tenant_id = $1 AND t.name = $3 AND p.tenant_id = $1 AND p.project_id = $2 AND p.key = $4)
          FOR NO KEY UPDATE",
    types: place_and!(),
};

/// What the tenant has under these ids, in any project, erased or not.
pub(super) static KNOWN: Query = Query {
    sql: concat!(
        "SELECT wanted.host, wanted.number, x.project_id, x.position, x.json, x.imprint
         FROM unnest($2, $3) AS wanted (host, number) CROSS JOIN LATERAL (
             SELECT r.project_id, r.position, r.json, r.imprint FROM weir.records r
             WHERE r.host = wanted.host AND r.number = wanted.number AND r.tenant_id = $1",
        one_by_one!()
    ),
    types: &[Type::INT8, Type::UUID_ARRAY, Type::INT8_ARRAY],
};

/// The first record of the project about each of these ids that has the body `$6`, private ones too. It is by the
/// author `$5`, unless that is null. The names in JSON are Weir's, and a quote within a text is escaped, so that no
/// text passes for a body.
pub(super) static EARLIER: Query = Query {
    sql: concat!(
        "SELECT n.json FROM unnest($3, $4, $5, $6) AS wanted (host, number, author, body) CROSS JOIN LATERAL (
             SELECT x.json FROM (SELECT r.position, r.json FROM weir.records r
             WHERE r.about_host = wanted.host AND r.about_number = wanted.number AND r.json IS NOT NULL
                 AND (wanted.author IS NULL OR r.author = wanted.author) AND strpos(r.json, wanted.body) > 0
                 AND r.tenant_id = $1 AND r.project_id = $2",
        one_by_one!(),
        " ORDER BY x.position LIMIT 1) n"
    ),
    types: &[Type::INT8, Type::INT8, Type::UUID_ARRAY, Type::INT8_ARRAY, Type::TEXT_ARRAY, Type::TEXT_ARRAY],
};

/// Erases the content of the records at these positions, and keeps the imprint `$4` of each. The bounds are looked up in
/// the index even while the engine knows nothing of the rows, and takes a project for small.
pub(super) static ERASE: Query = Query {
    sql:
        "UPDATE weir.records SET author = '', reference = NULL, about_host = NULL, about_number = NULL, text = NULL,
              json = NULL, imprint = $4[array_position($3, position)]
          WHERE tenant_id = $1 AND project_id = $2 AND position = ANY ($3)
              AND position >= (SELECT min(p) FROM unnest($3) AS p) AND position <= (SELECT max(p) FROM unnest($3) AS p)",
    types: &[Type::INT8, Type::INT8, Type::INT8_ARRAY, Type::INT8_ARRAY],
};

/// Adds records.
pub(super) static INSERT: Query = Query {
    sql: "INSERT INTO weir.records (tenant_id, project_id, position, number, about_number, host, about_host, audience,
              author, reference, text, json, imprint, content)
          SELECT $1, $2, n.position, n.number, n.about_number, n.host, n.about_host, n.audience, n.author, n.reference,
              n.text, n.json, n.imprint, n.content
          FROM unnest($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS n (position, number, about_number, host,
              about_host, audience, author, reference, text, json, imprint, content)",
    types: &[
        Type::INT8,
        Type::INT8,
        Type::INT8_ARRAY,
        Type::INT8_ARRAY,
        Type::INT8_ARRAY,
        Type::UUID_ARRAY,
        Type::UUID_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::BYTEA_ARRAY,
        Type::TEXT_ARRAY,
        Type::INT8_ARRAY,
        Type::BYTEA_ARRAY,
    ],
};

/// Moves the head of the project, and its count of bytes.
pub(super) static ADVANCE: Query = Query {
    sql: "UPDATE weir.heads SET position = $3, bytes = bytes + $4 WHERE tenant_id = $1 AND project_id = $2",
    types: &[Type::INT8, Type::INT8, Type::INT8, Type::INT8],
};

/// Adds to the audit what the user `$3` did with the token `$6`.
pub(super) static AUDIT: Query = Query {
    sql: "INSERT INTO weir.audit (tenant_id, project_id, actor, action, target, token)
          SELECT $1, $2, $3, done.action, done.target, $6 FROM unnest($4, $5) AS done (action, target)",
    types: &[Type::INT8, Type::INT8, Type::TEXT, Type::TEXT_ARRAY, Type::TEXT_ARRAY, Type::TEXT],
};
