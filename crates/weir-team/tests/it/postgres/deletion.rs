//! Tests that nothing is left of a deleted tenant: in any table, in the index on tantivy, or among the texts.

use std::sync::Arc;

use weir_core::{NoteKind, Scope, Timestamp};
use weir_records::{
    Accounts as _, ApiToken, Blobs as _, Credential, HostId, Index as _, Log as _, NewRecord, NoteFields, Ports,
    Position, SearchQuery, Shelf, TextKey, TokenScope,
};
use weir_team::{ObjectBlobs, PostgresLog, delete_tenant, delete_tokens};

use super::support::{Session, TestDatabase, bridge, scope};
use crate::support::{NOW, files, hits, note, open, shelf_of};

/// Keeps a note on a topic, and issues a token.
fn fill(shelf: &Shelf, log: &PostgresLog, place: &Scope) {
    let fields = NoteFields {
        kind: NoteKind::Finding,
        topic: Some("pool".into()),
        files: Vec::new(),
        commit: None,
        branch: None,
    };
    shelf.keep(place, NewRecord { note: Some(fields), ..note(&text_of(place)) }, NOW).unwrap();
    assert_eq!(hits(shelf, place, "common"), 1);
    let credential = Credential::draw().unwrap();
    let token = ApiToken {
        id: credential.id(),
        hash: credential.hash(),
        tenant: place.tenant.clone(),
        user: place.user.clone(),
        scope: TokenScope::Read,
        projects: None,
        created_at: Timestamp(1),
        expires_at: None,
        revoked_at: None,
    };
    log.accounts().add_token(&token, None).unwrap();
    assert_eq!(log.bind_hosts(place, &[HostId::random().unwrap()]).unwrap(), []);
}

fn text_of(place: &Scope) -> String {
    // Too long for the row of its record.
    format!("common words of {} {}", place.tenant.0, "and more ".repeat(1_000))
}

/// Returns the tables that have rows of a tenant, and their number in each.
fn rows_of(owner: &Session, number: &str) -> Vec<String> {
    let tables = "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                  WHERE c.relnamespace = 'weir'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                      AND a.attname = 'tenant_id' ORDER BY 1";
    let mut found = Vec::new();
    for table in owner.run(tables).unwrap() {
        let count = owner.run(&format!("SELECT count(*) FROM weir.{table} WHERE tenant_id = {number}")).unwrap();
        found.extend(count.iter().filter(|count| *count != "0").map(|count| format!("{table} {count}")));
    }
    found
}

#[test]
fn nothing_is_left_of_a_deleted_tenant_but_its_audit() {
    let (database, folder) = (TestDatabase::new(), tempfile::tempdir().unwrap());
    let (index_folder, texts_folder) = (folder.path().join("index"), folder.path().join("texts"));
    let (log, index) = (Arc::new(database.log()), open(&index_folder));
    let blobs = Arc::new(ObjectBlobs::in_folder(&texts_folder).unwrap());
    let shelf = shelf_of(Ports { log: log.clone(), index: index.clone(), blobs: blobs.clone() });
    let (ours, theirs) = (scope("acme", "ana", "api"), scope("umbrella", "ana", "api"));
    fill(&shelf, &log, &ours);
    fill(&shelf, &log, &theirs);
    let owner = database.session("owner");
    let number =
        |name: &str| owner.run(&format!("SELECT tenant_id FROM weir.tenants WHERE name = '{name}'")).unwrap().concat();
    let (our_number, their_number) = (number("acme"), number("umbrella"));
    let full = ["audit 3", "heads 1", "hosts 2", "projects 1", "records 1", "tenants 1", "tokens 1", "topics 1"];
    assert_eq!(rows_of(&owner, &our_number), full);

    let options = database.options("owner");
    assert_eq!(delete_tokens(&options, bridge(), &ours.tenant).unwrap(), 1);
    index.remove_tenant(&ours.tenant).unwrap();
    assert_eq!(blobs.remove_tenant(&ours.tenant).unwrap(), 1);
    let deleted = delete_tenant(&options, bridge(), &ours.tenant).unwrap();
    assert_eq!((deleted.existed, deleted.records, deleted.tokens), (true, 1, 0));

    assert_eq!(rows_of(&owner, &our_number), ["audit 4"]);
    assert_eq!(rows_of(&owner, &their_number), full);
    assert_eq!(log.accounts().usage(&ours.tenant).unwrap(), weir_records::TenantUsage::default());
    assert_eq!(log.on_topics(&ours, &["pool"], 10).unwrap(), []);
    assert_eq!(log.on_topics(&theirs, &["pool"], 10).unwrap().len(), 1);
    assert_eq!(index.position(&ours).unwrap(), Position(0));
    assert_eq!(index.search(&ours, &SearchQuery::new("common", 9)).unwrap().hits, []);
    assert_eq!((index.figures().projects, index.figures().documents), (1, 1));
    assert_eq!(files(&texts_folder).len(), 1);
    let text = text_of(&theirs);
    assert_eq!(blobs.get(&theirs, &TextKey::of(text.as_bytes())).unwrap().unwrap(), text.as_bytes());
    // A tenant of the same name starts from nothing.
    fill_again(&shelf, &log, &ours);
    // That of the server and that of the user.
    let rows = rows_of(&owner, &number("acme"));
    assert!(rows.contains(&"hosts 2".to_owned()), "{rows:?}");
    assert_eq!((hits(&shelf, &ours, "common"), hits(&shelf, &theirs, "common")), (1, 1));
}

fn fill_again(shelf: &Shelf, log: &PostgresLog, place: &Scope) {
    assert!(log.accounts().create_tenant(&place.tenant).unwrap());
    fill(shelf, log, place);
    assert_eq!((log.head(place).unwrap(), log.accounts().usage(&place.tenant).unwrap().records), (Position(1), 1));
}
