//! Runs the contract on the log in PostgreSQL, paired with the indexes of `weir-records`.

use std::sync::{Arc, Mutex};

use weir_records::contract::{self, NewShelf};
use weir_records::memory::{MemoryBlobs, MemoryIndex};
use weir_records::sqlite::SqliteIndex;
use weir_records::{Index, Ports, Shelf, Writer};
use weir_team::{PostgresLog, Statements};

use super::support::{TestDatabase, bridge};

/// What has to live as long as the shelves on it.
#[derive(Default)]
struct Places {
    databases: Vec<TestDatabase>,
    folders: Vec<tempfile::TempDir>,
}

/// Where the index is that the log is paired with.
#[derive(Debug, Clone, Copy)]
enum IndexPlace {
    Memory,
    Disk,
}

/// Makes a shelf on a database of its own.
fn new_shelf(places: &Mutex<Places>, index: IndexPlace, statements: Statements) -> Shelf {
    let (database, folder) = (TestDatabase::new(), tempfile::tempdir().unwrap());
    let mut options = database.options("app");
    options.statements = statements;
    let index: Arc<dyn Index> = match index {
        IndexPlace::Memory => Arc::new(MemoryIndex::default()),
        IndexPlace::Disk => Arc::new(SqliteIndex::open(&folder.path().join("index")).unwrap()),
    };
    let log = Arc::new(PostgresLog::open(&options, bridge()).unwrap());
    let mut places = places.lock().unwrap();
    places.databases.push(database);
    places.folders.push(folder);
    Shelf::new(Ports { log, index, blobs: Arc::new(MemoryBlobs::default()) }, Writer::new().unwrap())
}

fn on_every_pairing(property: fn(NewShelf<'_>)) {
    for index in [IndexPlace::Memory, IndexPlace::Disk] {
        let places = Mutex::default();
        let new = || new_shelf(&places, index, Statements::Prepared);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| property(&new)));
        assert!(outcome.is_ok(), "failed with the index in: {index:?}");
    }
}

weir_records::contract_tests!(on_every_pairing);

#[test]
fn a_log_whose_statements_have_no_names_does_the_same() {
    let properties: [fn(NewShelf<'_>); 4] = [
        contract::an_append_is_all_or_nothing,
        contract::a_cursor_never_skips_while_others_append,
        contract::a_confirmation_names_its_user,
        contract::forgetting_leaves_nothing,
    ];
    for property in properties {
        let places = Mutex::default();
        property(&|| new_shelf(&places, IndexPlace::Memory, Statements::Unnamed));
    }
}

#[test]
fn nothing_crosses_if_the_database_has_no_row_level_security() {
    let places = Mutex::default();
    let new = || {
        let shelf = new_shelf(&places, IndexPlace::Memory, Statements::Prepared);
        let places = places.lock().unwrap();
        let owner = places.databases.last().unwrap().session("owner");
        for table in ["tenants", "projects", "heads", "records", "audit"] {
            owner.run(&format!("ALTER TABLE weir.{table} DISABLE ROW LEVEL SECURITY")).unwrap();
        }
        shelf
    };
    contract::nothing_crosses_tenants_users_and_projects(&new);
}
