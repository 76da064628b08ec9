//! Appends records. Invariants: the head of the project is locked before the log is looked at and moved before the
//! transaction commits; what was done is in the audit of the same transaction; appending again changes nothing, so a
//! transaction that collided with another one is simply run again.

use std::collections::BTreeMap;

use deadpool_postgres::Object;
use tokio_postgres::types::ToSql;
use weir_core::Scope;
use weir_records::sealed::GRANTS;
use weir_records::{ErrorKind, Imprint, Once, PortError, Position, Record, RecordId, RequestKey, Result, Texts};

use super::database::{Database, check_tenant};
use super::fault::Fault;
use super::places::Place;
use super::plan::{AppendPlan, KnownRecord, LogState, plan};
use super::queries::{
    ADVANCE, AUDIT, CREATE_PROJECT, EARLIER, ENTER_TO_WRITE, ERASE, INSERT, KNOWN, LOCK_HEAD, PLACE, ReadyQuery,
};
use super::requests;
use super::transaction::OpenTransaction;
use super::values::{SqlHost, SqlIds, SqlRows};

const DOING: &str = "append to the log";
/// How often a transaction is run that collides with others.
const MAX_ATTEMPTS: usize = 3;

/// What is to be appended.
#[derive(Clone, Copy)]
pub(super) struct Appending<'a> {
    /// The records, which were checked already.
    pub(super) records: &'a [Record],
    /// The texts that are kept with those of them that have them.
    pub(super) texts: &'a Texts<'a>,
    /// The key of the request that the first record is for, if it has one.
    pub(super) key: Option<&'a RequestKey>,
}

/// What an append has done.
pub(super) enum Appended {
    /// The positions of the records.
    At(Vec<Position>),
    /// Nothing, because the key of the request stands for this.
    Nothing(Once),
}

/// Appends records.
pub(super) fn append(database: &Database, scope: &Scope, appending: Appending<'_>) -> Result<Appended> {
    check_tenant(scope, DOING)?;
    database.wait_for(DOING, async {
        let mut attempt = 1;
        loop {
            match once(database, scope, appending).await {
                Err(fault) if fault.is_collision() && attempt < MAX_ATTEMPTS => attempt += 1,
                other => return other,
            }
        }
    })
}

/// Runs the transaction once: one exchange to look, one to write.
async fn once(database: &Database, scope: &Scope, appending: Appending<'_>) -> Result<Appended, Fault> {
    let Appending { records, texts, key } = appending;
    let client = database.client().await?;
    let look = Look::prepare(database, &client).await?;
    let write = Write::prepare(database, &client).await?;
    let wanted = Wanted::of(records);
    let remembered = database.places().get(scope);
    let transaction = OpenTransaction::on(&client);
    let (begun, seen) = match remembered {
        Some(place) => {
            let begin = database.begin_write_in(place.tenant);
            tokio::join!(biased; client.batch_execute(&begin), look.run(&client, scope, place, &wanted))
        }
        None => (client.batch_execute(database.begin_write()).await, Ok(None)),
    };
    if let Err(error) = begun {
        let fault = Fault::from(error);
        // The other side may have become a replica, where no transaction that writes can begin. The next call makes a
        // new connection, and finds the primary.
        if !fault.is_about_tenant() {
            transaction.end();
            drop(Object::take(client));
        }
        return Err(fault);
    }
    let seen = match seen? {
        Some(seen) => seen,
        None => {
            let missing = || PortError::new(ErrorKind::Damaged, DOING).because("the project has no head");
            let place = enter_project(database, &client, scope).await?.ok_or_else(missing)?;
            database.places().set(scope, Some(place));
            look.run(&client, scope, place, &wanted).await?.ok_or_else(missing)?
        }
    };
    if let (Some(key), Some(first)) = (key, records.first()) {
        let known = match requests::find(database, &client, &scope.tenant, key).await? {
            None => requests::keep(database, &client, &scope.tenant, key, first.id).await?,
            known => known,
        };
        // The transaction is rolled back.
        if let Some(known) = known {
            return Ok(Appended::Nothing(known));
        }
    }
    let plan = plan(records, seen.log)?;
    if !plan.rows.is_empty() {
        let erase = if plan.erased.is_empty() { None } else { Some(database.ready(&client, &ERASE).await?) };
        let token = scope.session.as_ref().map(|session| session.key.as_str()).filter(|key| !key.is_empty());
        let change = Change { place: seen.place, actor: &scope.user.0, token, plan: &plan, texts };
        write.run(&client, erase.as_ref(), &change).await?;
        transaction.end();
    }
    Ok(Appended::At(plan.positions))
}

/// Enters the tenant of a scope within a transaction that writes, creates what does not exist, and returns the place.
pub(super) async fn enter_project(database: &Database, client: &Object, scope: &Scope) -> Result<Option<Place>, Fault> {
    let names: [&(dyn ToSql + Sync); 2] = [&scope.tenant.0, &scope.project.0];
    database.run(client, &ENTER_TO_WRITE, &names[..1]).await?;
    let found = Place::of(&database.run(client, &PLACE, &names).await?)?;
    if let Some(place) = found.filter(|place| place.project > 0) {
        return Ok(Some(place));
    }
    database.run(client, &CREATE_PROJECT, &names).await?;
    Place::of(&database.run(client, &PLACE, &names).await?)
}

/// How the bodies begin that an earlier record may have, in its JSON.
const REMOVED: &str = "\"body\":{\"removed\":";
const GRANTED: &str = "\"body\":{\"granted\":";

/// The ids that an append asks about.
struct Wanted<'a> {
    /// Those of the records, and of what they remove.
    known: SqlIds,
    /// Those that earlier records may be about: the records, and the keys of the project.
    new: SqlIds,
    /// By whom each of these counts, if only one does.
    authors: Vec<Option<&'a str>>,
    bodies: Vec<&'static str>,
}

impl<'a> Wanted<'a> {
    fn of(records: &'a [Record]) -> Self {
        let removed = records.iter().filter_map(|record| record.body.removal()).map(|(_, target)| target);
        let new = || records.iter().map(|record| record.id);
        let authors = records.iter().map(|record| Some(record.author.user.0.as_str()));
        Self {
            known: new().chain(removed).collect(),
            new: new().chain([GRANTS]).collect(),
            authors: authors.chain([None]).collect(),
            bodies: records.iter().map(|_| REMOVED).chain([GRANTED]).collect(),
        }
    }
}

/// What an append has seen, with the head locked.
struct Seen {
    place: Place,
    log: LogState,
}

/// The statements that lock the head and look at the log.
struct Look {
    lock: ReadyQuery,
    known: ReadyQuery,
    earlier: ReadyQuery,
}

impl Look {
    async fn prepare(database: &Database, client: &Object) -> Result<Self, Fault> {
        Ok(Self {
            lock: database.ready(client, &LOCK_HEAD).await?,
            known: database.ready(client, &KNOWN).await?,
            earlier: database.ready(client, &EARLIER).await?,
        })
    }

    /// Locks the head of a place and reads what matters, if the place is that of the scope. Each statement sees what was committed before it began, so the last two
    /// see everything that was appended before the lock was given.
    async fn run(
        &self,
        client: &Object,
        scope: &Scope,
        place: Place,
        wanted: &Wanted<'_>,
    ) -> Result<Option<Seen>, Fault> {
        let Place { tenant, project } = &place;
        let of_lock: [&(dyn ToSql + Sync); 4] = [tenant, project, &scope.tenant.0, &scope.project.0];
        let of_known: [&(dyn ToSql + Sync); 3] = [tenant, &wanted.known.hosts, &wanted.known.numbers];
        let Wanted { new, authors, bodies, .. } = wanted;
        let of_earlier: [&(dyn ToSql + Sync); 6] = [tenant, project, &new.hosts, &new.numbers, authors, bodies];
        let (head, known, earlier) = tokio::join!(
            biased;
            self.lock.run(client, &of_lock),
            self.known.run(client, &of_known),
            self.earlier.run(client, &of_earlier),
        );
        let (head, known_rows, earlier_rows) = (head?, known?, earlier?);
        let Some(head) = head.first() else { return Ok(None) };
        let head = Position(head.try_get::<_, i64>(0)? as u64);
        let mut known = BTreeMap::new();
        for row in &known_rows {
            let id = RecordId { host: row.try_get::<_, SqlHost>(0)?.0, index: row.try_get::<_, i64>(1)? as u64 };
            let is_here = row.try_get::<_, i64>(2)? == place.project;
            let position = Position(row.try_get::<_, i64>(3)? as u64);
            let imprint = row.try_get::<_, Option<i64>>(5)?.and_then(Imprint::from_number);
            known.insert(id, KnownRecord { position, is_here, json: row.try_get(4)?, imprint });
        }
        let mut earlier: BTreeMap<RecordId, Vec<Record>> = BTreeMap::new();
        for row in &earlier_rows {
            let record = Record::from_json(row.try_get(0)?)?;
            if let Some(about) = record.body.about() {
                earlier.entry(about).or_default().push(record);
            }
        }
        Ok(Some(Seen { place, log: LogState { head, known, earlier } }))
    }
}

/// What an append changes, where, and by whom.
struct Change<'a> {
    place: Place,
    actor: &'a str,
    /// The id of the token, if the call was made with one.
    token: Option<&'a str>,
    plan: &'a AppendPlan<'a>,
    texts: &'a Texts<'a>,
}

/// The statements that write.
struct Write {
    insert: ReadyQuery,
    advance: ReadyQuery,
    audit: ReadyQuery,
}

impl Write {
    async fn prepare(database: &Database, client: &Object) -> Result<Self, Fault> {
        Ok(Self {
            insert: database.ready(client, &INSERT).await?,
            advance: database.ready(client, &ADVANCE).await?,
            audit: database.ready(client, &AUDIT).await?,
        })
    }

    /// Writes and commits. If a statement fails, the commit is a rollback.
    async fn run(&self, client: &Object, erase: Option<&ReadyQuery>, change: &Change<'_>) -> Result<(), Fault> {
        let Change { place: Place { tenant, project }, actor, token, plan, texts } = change;
        let rows = SqlRows::of(&plan.rows, texts);
        let (actions, targets) = audit_of(plan);
        let (erased, imprints): (Vec<i64>, Vec<i64>) =
            plan.erased.iter().map(|row| (row.position.0 as i64, row.imprint.number())).unzip();
        let head = rows.positions.last().copied().unwrap_or_default();
        let of_erase: [&(dyn ToSql + Sync); 4] = [tenant, project, &erased, &imprints];
        let of_insert = rows.values(tenant, project);
        let growth = plan.growth();
        let of_advance: [&(dyn ToSql + Sync); 4] = [tenant, project, &head, &growth];
        let of_audit: [&(dyn ToSql + Sync); 6] = [tenant, project, actor, &actions, &targets, token];
        let erasing = async {
            match erase {
                Some(erase) => erase.run(client, &of_erase).await.map(drop),
                None => Ok(()),
            }
        };
        let (erased, inserted, advanced, audited, committed) = tokio::join!(
            biased;
            erasing,
            self.insert.run(client, &of_insert),
            self.advance.run(client, &of_advance),
            self.audit.run(client, &of_audit),
            client.batch_execute("COMMIT"),
        );
        erased?;
        inserted?;
        advanced?;
        audited?;
        Ok(committed?)
    }
}

/// Returns the actions of an append and what each was done to.
fn audit_of(plan: &AppendPlan<'_>) -> (Vec<&'static str>, Vec<String>) {
    let ends = plan.rows.first().zip(plan.rows.last());
    let appended = ends.map(|(first, last)| ("append", format!("{}-{}", first.position.0, last.position.0)));
    let removed = plan.removed.iter().map(|(action, id)| (*action, id.to_string()));
    appended.into_iter().chain(removed).unzip()
}
