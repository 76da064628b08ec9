//! Runs the contract on every pairing of the two backends of each port.

use std::sync::{Arc, Mutex};

use weir_records::contract::{self, NewShelf};
use weir_records::memory::{MemoryBlobs, MemoryIndex, MemoryLog};
use weir_records::sqlite::{FileBlobs, SqliteIndex, SqliteLog};
use weir_records::{Ports, Shelf, Writer};

/// Makes a shelf for a pairing: for each port, whether it is on the disk.
fn new_shelf(folders: &Mutex<Vec<tempfile::TempDir>>, [log, index, blobs]: [bool; 3]) -> Shelf {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let ports = Ports {
        log: if log {
            Arc::new(SqliteLog::open(&path.join("records.db")).unwrap())
        } else {
            Arc::new(MemoryLog::default())
        },
        index: if index {
            Arc::new(SqliteIndex::open(&path.join("index")).unwrap())
        } else {
            Arc::new(MemoryIndex::default())
        },
        blobs: if blobs {
            Arc::new(FileBlobs::open(&path.join("texts")).unwrap())
        } else {
            Arc::new(MemoryBlobs::default())
        },
    };
    folders.lock().unwrap().push(folder);
    Shelf::new(ports, Writer::new().unwrap())
}

fn on_every_pairing(property: fn(NewShelf<'_>)) {
    for pairing in 0..8u8 {
        let on_disk = [pairing & 1, pairing & 2, pairing & 4].map(|bit| bit != 0);
        let folders = Mutex::default();
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| property(&|| new_shelf(&folders, on_disk))));
        let [log, index, blobs] = on_disk.map(|disk| if disk { "on disk" } else { "in memory" });
        assert!(outcome.is_ok(), "failed with log {log}, index {index}, blobs {blobs}");
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
