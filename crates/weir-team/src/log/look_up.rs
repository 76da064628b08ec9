//! Looks things up in a project, by the numbers that this server remembers. Invariant: a look-up that finds nothing by a
//! number from memory asks for the number again, since the place of that name may be another one by now.

use std::collections::BTreeMap;
use std::sync::Arc;

use deadpool_postgres::Object;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use weir_core::Scope;
use weir_records::{KeptTexts, LookUps, MAX_TOPIC_BYTES, RecordId, Result, StoredRecord, TextKey};

use super::collect;
use super::database::{Database, check_tenant};
use super::fault::Fault;
use super::places::Place;
use super::queries::{ABOUT, ENTER, KEPT_TEXTS, ON_TOPICS, PLACE, Query, RECORDS};
use super::transaction::{OpenTransaction, end_unseen};
use super::values::SqlIds;

/// The parameters of a look-up that are its own, without those that name its place.
type Own<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Runs a look-up in the project of a scope, in one exchange with the server. It returns no row if there is no such
/// project.
pub(super) fn look_up(
    database: &Database,
    doing: &str,
    scope: &Scope,
    query: &'static Query,
    own: Own<'_>,
) -> Result<Vec<Row>> {
    check_tenant(scope, doing)?;
    database.wait_for(doing, async {
        let client = database.client().await?;
        if let Some(place) = database.places().get(scope) {
            let rows = once(database, &client, &At { scope, place }, query, own).await?;
            if !rows.is_empty() {
                return Ok(rows);
            }
        }
        match find_place(database, &client, scope).await? {
            Some(place) => once(database, &client, &At { scope, place }, query, own).await,
            None => Ok(Vec::new()),
        }
    })
}

/// A scope, and where its project is.
struct At<'a> {
    scope: &'a Scope,
    place: Place,
}

impl<'a> At<'a> {
    /// Returns the parameters of a look-up.
    fn values(&'a self, own: Own<'a>) -> Vec<&'a (dyn ToSql + Sync)> {
        let Self { scope, place } = self;
        let mut values: Vec<&(dyn ToSql + Sync)> =
            vec![&place.tenant, &place.project, &scope.tenant.0, &scope.project.0];
        values.extend(own);
        values
    }
}

/// Runs a look-up in a transaction of its own.
async fn once(
    database: &Database,
    client: &Object,
    at: &At<'_>,
    query: &'static Query,
    own: Own<'_>,
) -> Result<Vec<Row>, Fault> {
    let query = database.ready(client, query).await?;
    let (begin, values) = (database.begin_read_in(at.place.tenant), at.values(own));
    let transaction = OpenTransaction::on(client);
    let (begun, rows, ended) = tokio::join!(
        biased;
        client.batch_execute(&begin),
        query.run(client, &values),
        client.batch_execute("COMMIT"),
    );
    transaction.end();
    begun?;
    let rows = rows?;
    ended?;
    Ok(rows)
}

/// Asks for the numbers of a scope's project in a transaction of its own, and remembers them.
async fn find_place(database: &Database, client: &Object, scope: &Scope) -> Result<Option<Place>, Fault> {
    let (enter, find) = (database.ready(client, &ENTER).await?, database.ready(client, &PLACE).await?);
    let tenant: [&(dyn ToSql + Sync); 1] = [&scope.tenant.0];
    let names: [&(dyn ToSql + Sync); 2] = [&scope.tenant.0, &scope.project.0];
    let transaction = OpenTransaction::on(client);
    let (begun, entered, rows, ended) = tokio::join!(
        biased;
        client.batch_execute(database.begin_read()),
        enter.run(client, &tenant),
        find.run(client, &names),
        client.batch_execute("COMMIT"),
    );
    transaction.end();
    begun?;
    entered?;
    let rows = rows?;
    ended?;
    let place = Place::of(&rows)?;
    database.places().set(scope, place);
    Ok(place)
}

/// Look-ups in one transaction, which begins with the first of them.
pub(super) struct TransactionLookUps<'a> {
    database: Arc<Database>,
    scope: &'a Scope,
    open: Option<Opened>,
}

/// A connection with a transaction. The transaction ends when this is dropped.
struct Opened {
    client: Object,
    place: Place,
}

impl Drop for Opened {
    fn drop(&mut self) {
        // Nothing was written, so nothing depends on the answer.
        end_unseen(&self.client, "COMMIT");
    }
}

const DOING: &str = "read records";

impl<'a> TransactionLookUps<'a> {
    pub(super) fn new(database: &Arc<Database>, scope: &'a Scope) -> Self {
        Self { database: Arc::clone(database), scope, open: None }
    }

    fn look_up(&mut self, query: &'static Query, own: Own<'_>) -> Result<Vec<StoredRecord>> {
        collect(&self.rows(query, own)?, 0).map_err(|fault| fault.at(DOING))
    }

    fn rows(&mut self, query: &'static Query, own: Own<'_>) -> Result<Vec<Row>> {
        check_tenant(self.scope, DOING)?;
        let (database, scope, open) = (&self.database, self.scope, &mut self.open);
        database.wait_for(DOING, async {
            if let Some(Opened { client, place }) = open {
                let query = database.ready(client, query).await?;
                let rows = query.run(client, &At { scope, place: *place }.values(own)).await?;
                if !rows.is_empty() {
                    return Ok(rows);
                }
                // The tenant has been deleted or moved meanwhile.
                *open = None;
            }
            let client = database.client().await?;
            if let Some(place) = database.places().get(scope) {
                let rows = begin_with(database, &client, &At { scope, place }, query, own).await?;
                if !rows.is_empty() {
                    *open = Some(Opened { client, place });
                    return Ok(rows);
                }
                end_unseen(&client, "COMMIT");
            }
            let Some(place) = find_place(database, &client, scope).await? else { return Ok(Vec::new()) };
            let rows = begin_with(database, &client, &At { scope, place }, query, own).await?;
            *open = Some(Opened { client, place });
            Ok(rows)
        })
    }
}

/// Begins a transaction with a look-up. It stays open unless there is an error.
async fn begin_with(
    database: &Database,
    client: &Object,
    at: &At<'_>,
    query: &'static Query,
    own: Own<'_>,
) -> Result<Vec<Row>, Fault> {
    let query = database.ready(client, query).await?;
    let (begin, values) = (database.begin_read_in(at.place.tenant), at.values(own));
    let transaction = OpenTransaction::on(client);
    let (begun, rows) = tokio::join!(biased; client.batch_execute(&begin), query.run(client, &values));
    begun?;
    let rows = rows?;
    transaction.end();
    Ok(rows)
}

impl LookUps for TransactionLookUps<'_> {
    fn records(&mut self, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (user, ids): (_, SqlIds) = (&self.scope.user.0, ids.iter().copied().collect());
        self.look_up(&RECORDS, &[user, &ids.hosts, &ids.numbers])
    }

    fn about(&mut self, ids: &[RecordId], limit: usize) -> Result<Vec<StoredRecord>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (user, ids): (_, SqlIds) = (&self.scope.user.0, ids.iter().copied().collect());
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        self.look_up(&ABOUT, &[user, &ids.hosts, &ids.numbers, &most])
    }

    fn on_topics(&mut self, topics: &[&str], limit: usize) -> Result<Vec<StoredRecord>> {
        // PostgreSQL reads no topic with a zero byte, and no statement can be sent with one.
        let topics: Vec<&str> = topics.iter().copied().filter(|topic| !topic.contains('\0')).collect();
        if topics.is_empty() {
            return Ok(Vec::new());
        }
        let (user, most) = (&self.scope.user.0, i64::try_from(limit).unwrap_or(i64::MAX));
        self.look_up(&ON_TOPICS, &[user, &topics, &most, &(MAX_TOPIC_BYTES as i64)])
    }

    fn kept_texts(&mut self, keys: &[TextKey]) -> Result<KeptTexts> {
        if keys.is_empty() {
            return Ok(KeptTexts::new());
        }
        let wanted: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes().as_slice()).collect();
        let rows = self.rows(&KEPT_TEXTS, &[&wanted])?;
        let column = |row: &Row, at: usize| -> Result<Option<Vec<u8>>> {
            row.try_get(at).map_err(|error| Fault::from(error).at(DOING))
        };
        let mut found = BTreeMap::new();
        for row in &rows {
            // A tenant without any of these has a row of nulls.
            if let (Some(text), Some(content)) = (column(row, 0)?, column(row, 1)?) {
                found.insert(text, content);
            }
        }
        Ok(keys.iter().filter_map(|key| Some((*key, found.remove(key.as_bytes().as_slice())?))).collect())
    }
}
