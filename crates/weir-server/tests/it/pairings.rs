//! Runs the contract of the ports on every pairing of these backends with those of `weir-records`. The pairings without
//! one of these are tested there.

use std::sync::{Arc, Mutex};

use weir_records::contract::{self, NewShelf};
use weir_records::memory::{MemoryBlobs, MemoryIndex, MemoryLog};
use weir_records::sqlite::{FileBlobs, SqliteIndex, SqliteLog};
use weir_records::{Ports, Shelf};
use weir_server::{ObjectBlobs, TantivyIndex};

use crate::support::shelf_of;

/// Which backend each port has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pairing {
    log: Backend,
    index: Backend,
    blobs: Backend,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backend {
    Memory,
    Sqlite,
    Server,
}

use Backend::{Memory, Server, Sqlite};

fn pairings() -> Vec<Pairing> {
    let mut pairings = Vec::new();
    for log in [Memory, Sqlite] {
        for index in [Memory, Sqlite, Server] {
            for blobs in [Memory, Sqlite, Server] {
                pairings.push(Pairing { log, index, blobs });
            }
        }
    }
    pairings.retain(|pairing| pairing.index == Server || pairing.blobs == Server);
    pairings
}

fn new_shelf(folders: &Mutex<Vec<tempfile::TempDir>>, pairing: Pairing) -> Shelf {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let ports = Ports {
        log: match pairing.log {
            Sqlite => Arc::new(SqliteLog::open(&path.join("records.db")).unwrap()),
            Memory | Server => Arc::new(MemoryLog::default()),
        },
        index: match pairing.index {
            Memory => Arc::new(MemoryIndex::default()),
            Sqlite => Arc::new(SqliteIndex::open(&path.join("index")).unwrap()),
            Server => Arc::new(TantivyIndex::open(&path.join("index")).unwrap()),
        },
        blobs: match pairing.blobs {
            Memory => Arc::new(MemoryBlobs::default()),
            Sqlite => Arc::new(FileBlobs::open(&path.join("texts")).unwrap()),
            Server => Arc::new(ObjectBlobs::in_folder(&path.join("texts")).unwrap()),
        },
    };
    folders.lock().unwrap().push(folder);
    shelf_of(ports)
}

fn on_every_pairing(property: fn(NewShelf<'_>)) {
    for pairing in pairings() {
        let folders = Mutex::default();
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| property(&|| new_shelf(&folders, pairing))));
        assert!(outcome.is_ok(), "failed with {pairing:?}");
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
