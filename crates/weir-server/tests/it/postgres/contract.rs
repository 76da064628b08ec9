//! Runs the contract on the log in PostgreSQL, paired with the indexes of `weir-records`.

use std::sync::{Arc, Mutex};

use weir_records::contract::{self, NewShelf};
use weir_records::memory::{MemoryBlobs, MemoryIndex};
use weir_records::sqlite::SqliteIndex;
use weir_records::{Index, Ports, Shelf, Writer};
use weir_server::{PostgresLog, Statements};

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

macro_rules! contract_tests {
    ($($property:ident),+ $(,)?) => {
        $(
            #[test]
            fn $property() {
                on_every_pairing(contract::$property);
            }
        )+

        #[test]
        fn every_property_of_the_contract_is_tested_here() {
            let listed: Vec<&str> = contract::PROPERTIES.iter().map(|(name, _)| *name).collect();
            assert_eq!(listed, [$(stringify!($property)),+]);
        }
    };
}

contract_tests! {
    appending_again_changes_nothing,
    a_cloned_host_is_a_conflict,
    an_append_is_all_or_nothing,
    a_cursor_never_skips_while_others_append,
    a_cursor_goes_past_what_it_does_not_show,
    a_position_beyond_the_head_is_refused,
    what_is_kept_is_read_back,
    what_supersedes_is_named_and_ranks_first,
    a_private_successor_supersedes_only_for_its_author,
    a_confirmation_names_its_user,
    secrets_are_redacted_before_they_are_kept,
    texts_of_every_script_come_back_and_are_found,
    long_texts_are_read_by_range,
    a_text_belongs_to_its_tenant,
    import_takes_the_good_and_names_the_bad,
    a_key_alone_does_not_give_a_text,
    forgetting_leaves_nothing,
    a_text_that_another_record_has_stays,
    what_was_removed_never_comes_back,
    only_its_author_removes_a_record,
    a_removal_from_elsewhere_leaves_nothing,
    words_are_found_within_filters,
    any_query_is_safe,
    an_unused_vector_is_declared,
    an_index_rebuilt_from_zero_equals_the_live_one,
    a_slow_follower_brings_nothing_back,
    an_index_of_a_log_that_was_put_back_starts_again,
    nothing_crosses_tenants_users_and_projects,
}

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
