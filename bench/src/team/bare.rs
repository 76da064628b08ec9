//! Plain tables: the rows of the log without its rules, and texts under a GIN index.

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Statement};

use super::database::Database;
use super::made::{Made, MadeEntry};

/// The columns of `weir.records`.
const COLUMNS: &str = "tenant_id bigint NOT NULL, project_id bigint NOT NULL, position bigint NOT NULL,
    number bigint NOT NULL, about_number bigint, host uuid NOT NULL, about_host uuid, audience text NOT NULL,
    author text NOT NULL, reference text, text bytea, json text, PRIMARY KEY (tenant_id, project_id, position)";

/// The other keys of `weir.records`.
const KEYS: &str = "CREATE UNIQUE INDEX ON bare_keys (tenant_id, host, number);
    CREATE INDEX ON bare_keys (tenant_id, project_id, reference) WHERE reference IS NOT NULL;
    CREATE INDEX ON bare_keys (tenant_id, project_id, about_host, about_number) WHERE about_host IS NOT NULL;
    CREATE INDEX ON bare_keys (tenant_id, text) WHERE text IS NOT NULL";

/// Creates the tables for rows: one with its primary key only, one with all keys that the log has.
pub(super) fn create(database: &Database) {
    database.run(&format!("CREATE TABLE bare_rows ({COLUMNS}); CREATE TABLE bare_keys ({COLUMNS}); {KEYS}"));
}

/// The rows of one batch, ready to be sent.
pub(super) struct BareRows {
    tenant: i64,
    numbers: Vec<i64>,
    hosts: Vec<String>,
    audiences: Vec<String>,
    authors: Vec<String>,
    references: Vec<String>,
    texts: Vec<Vec<u8>>,
    jsons: Vec<String>,
}

impl BareRows {
    pub(super) fn of(made: &Made, batch: &[MadeEntry]) -> Self {
        let tenant = batch.first().map_or(0, |entry| entry.tenant as i64);
        let mut rows = Self {
            tenant,
            numbers: Vec::new(),
            hosts: Vec::new(),
            audiences: Vec::new(),
            authors: Vec::new(),
            references: Vec::new(),
            texts: Vec::new(),
            jsons: Vec::new(),
        };
        for entry in batch {
            let record = made.record(*entry);
            let kept = record.body.kept().unwrap();
            rows.numbers.push(record.id.index as i64);
            rows.hosts.push(record.id.host.to_string());
            rows.audiences.push(record.audience.as_str().to_owned());
            rows.authors.push(record.author.user.0.clone());
            rows.references.push(kept.reference.as_str().to_owned());
            rows.texts.push(kept.text.as_bytes().to_vec());
            rows.jsons.push(record.to_json().unwrap());
        }
        rows
    }

    pub(super) async fn insert(&self, client: &Client, statement: &Statement) {
        let project = 1i64;
        let rows = client
            .execute(
                statement,
                &[
                    &self.tenant, &project, &self.numbers, &self.hosts, &self.audiences, &self.authors,
                    &self.references, &self.texts, &self.jsons,
                ],
            )
            .await
            .unwrap();
        assert_eq!(rows as usize, self.numbers.len());
    }
}

/// Prepares the insert of a batch. The number of an entry is its position as well.
pub(super) async fn prepare(client: &Client, table: &str) -> Statement {
    let sql = format!(
        "INSERT INTO {table} (tenant_id, project_id, position, number, host, audience, author, reference, text, json)
         SELECT $1, $2, n.number, n.number, n.host::uuid, n.audience, n.author, n.reference, n.text, n.json
         FROM unnest($3, $4, $5, $6, $7, $8, $9) AS n (number, host, audience, author, reference, text, json)"
    );
    let arrays = [Type::TEXT_ARRAY, Type::TEXT_ARRAY, Type::TEXT_ARRAY, Type::TEXT_ARRAY, Type::BYTEA_ARRAY];
    let mut types = vec![Type::INT8, Type::INT8, Type::INT8_ARRAY];
    types.extend(arrays);
    types.push(Type::TEXT_ARRAY);
    client.prepare_typed(&sql, &types).await.unwrap()
}

/// Fills a table with the words of all entries, under a GIN index.
pub(super) fn fill_gin(made: &Made, database: &Database) {
    database.run("CREATE TABLE gin_texts (tenant bigint NOT NULL, number bigint NOT NULL, words tsvector NOT NULL)");
    let client = database.connect();
    let sql = "INSERT INTO gin_texts SELECT n.tenant, n.number, to_tsvector('simple', n.text)
               FROM unnest($1, $2, $3) AS n (tenant, number, text)";
    let types = [Type::INT8_ARRAY, Type::INT8_ARRAY, Type::TEXT_ARRAY];
    database.bridge().block_on(async {
        let statement = client.prepare_typed(sql, &types).await.unwrap();
        for batch in made.entries.chunks(1_000) {
            let tenants: Vec<i64> = batch.iter().map(|entry| entry.tenant as i64).collect();
            let numbers: Vec<i64> = batch.iter().map(|entry| entry.number as i64).collect();
            let texts: Vec<String> = batch.iter().map(|entry| entry.text()).collect();
            client.execute(&statement, &[&tenants, &numbers, &texts]).await.unwrap();
        }
    });
    database.run("CREATE INDEX ON gin_texts USING gin (words); CREATE INDEX ON gin_texts (tenant); ANALYZE gin_texts");
}

pub(super) async fn search_gin(client: &Client, statement: &Statement, tenant: usize, words: &str) -> usize {
    let query = words.split(' ').collect::<Vec<_>>().join(" | ");
    client.query(statement, &[&(tenant as i64), &query]).await.unwrap().len()
}

pub(super) async fn prepare_gin(client: &Client) -> Statement {
    let sql = "SELECT t.number, ts_rank(t.words, q) AS score FROM gin_texts t, to_tsquery('simple', $2) q
               WHERE t.tenant = $1 AND t.words @@ q ORDER BY score DESC LIMIT 20";
    client.prepare_typed(sql, &[Type::INT8, Type::TEXT]).await.unwrap()
}
