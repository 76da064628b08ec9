//! The properties that every backend must have, on any pairing of ports.
//!
//! A backend in another crate enables the feature `contract` for its tests, and declares them with
//! [`contract_tests!`](crate::contract_tests) or calls [`all`] with a function that makes a new, empty shelf on it. A
//! property that does not hold panics.
#![allow(clippy::unwrap_used, clippy::panic, reason = "this is a test suite: what panics has failed")]

mod following;
mod isolation;
mod reading;
mod removing;
mod sealing;
mod searching;
mod writing;

pub use following::*;
pub use isolation::*;
use proptest::prelude::Strategy;
use proptest::test_runner::{Config, TestRunner};
pub use reading::*;
pub use removing::*;
pub use sealing::*;
pub use searching::*;
use weir_core::{EntryKind, ProjectKey, Scope, TenantId, Timestamp, UserId};
pub use writing::*;

use crate::{Audience, ErrorKind, Incoming, NewRecord, Record, SearchQuery, Shelf, Writer};

/// Makes a new, empty shelf on the backend under test.
pub type NewShelf<'a> = &'a dyn Fn() -> Shelf;

/// Declares a test for each property, which hands the property to a function: the one that runs it on the pairings of a
/// backend. The list of all properties is here and nowhere else.
#[macro_export]
macro_rules! contract_tests {
    (@list $form:ident $($given:tt)*) => {
        $crate::contract_tests! { @$form [$($given)*]
            appending_again_changes_nothing,
            a_cloned_host_is_a_conflict,
            a_host_belongs_to_the_user_who_sent_from_it_first,
            a_host_with_records_belongs_to_their_author,
            an_append_is_all_or_nothing,
            a_cursor_never_skips_while_others_append,
            a_cursor_goes_past_what_it_does_not_show,
            a_batch_is_bounded_in_bytes,
            a_position_beyond_the_head_is_refused,
            what_is_kept_is_read_back,
            a_repeated_request_is_kept_once,
            a_reference_names_the_oldest_that_the_reader_sees,
            what_supersedes_is_named_and_ranks_first,
            a_private_successor_supersedes_only_for_its_author,
            a_confirmation_names_its_user,
            what_is_said_about_a_record_is_limited,
            notes_are_found_by_their_topic,
            secrets_are_redacted_before_they_are_kept,
            texts_of_every_script_come_back_and_are_found,
            long_texts_are_read_by_range,
            texts_are_read_together,
            a_text_belongs_to_its_tenant,
            import_takes_the_good_and_names_the_bad,
            a_key_alone_does_not_give_a_text,
            forgetting_leaves_nothing,
            a_text_that_another_record_has_stays,
            what_was_removed_never_comes_back,
            an_early_removal_counts_among_others,
            another_record_does_not_pass_for_an_erased_one,
            only_its_author_removes_a_record,
            an_admin_removes_what_others_wrote,
            a_removal_from_elsewhere_leaves_nothing,
            a_sealed_project_takes_no_entry_in_clear,
            a_sealed_entry_is_kept_and_forgotten,
            words_are_found_within_filters,
            any_query_is_safe,
            an_unused_vector_is_declared,
            an_index_rebuilt_from_zero_equals_the_live_one,
            a_slow_follower_brings_nothing_back,
            an_index_of_a_log_that_was_put_back_starts_again,
            a_walk_finds_every_head_that_has_moved,
            several_projects_are_followed_at_once,
            nothing_crosses_tenants_users_and_projects,
        }
    };
    (@table [] $($property:ident),+ $(,)?) => {
        pub const PROPERTIES: &[(&str, fn(NewShelf<'_>))] = &[$((stringify!($property), $property)),+];
    };
    (@tests [$run:path] $($property:ident),+ $(,)?) => {
        $(
            #[test]
            fn $property() {
                $run($crate::contract::$property);
            }
        )+

        #[test]
        fn every_property_of_the_contract_is_tested_here() {
            let listed: Vec<&str> = $crate::contract::PROPERTIES.iter().map(|(name, _)| *name).collect();
            assert_eq!(listed, [$(stringify!($property)),+]);
        }
    };
    ($run:path) => {
        $crate::contract_tests! { @list tests $run }
    };
}

contract_tests! { @list table }

pub fn all(new: impl Fn() -> Shelf) {
    for (_, property) in PROPERTIES {
        property(&new);
    }
}

/// The time of day in this suite.
const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn scope(tenant: &str, user: &str, project: &str) -> Scope {
    Scope { tenant: TenantId(tenant.into()), user: UserId(user.into()), ..Scope::project(ProjectKey(project.into())) }
}

fn ana() -> Scope {
    scope("acme", "ana", "api")
}

fn ben() -> Scope {
    scope("acme", "ben", "api")
}

fn note(audience: Audience, text: &str) -> NewRecord {
    NewRecord::new(EntryKind::Note, audience, "a note", text)
}

fn keep(shelf: &Shelf, scope: &Scope, text: &str) -> Record {
    shelf.keep(scope, note(Audience::Team, text), NOW).unwrap()
}

/// Returns the titles and texts that a search finds, in the order of the hits.
fn found(shelf: &Shelf, scope: &Scope, words: &str) -> Vec<Record> {
    let found = shelf.search(scope, &SearchQuery::new(words, 100)).unwrap();
    assert_eq!(found.behind, 0);
    found.hits.into_iter().map(|hit| hit.kept.record).collect()
}

/// Returns another shelf on the same ports, as another machine would have it.
fn beside(shelf: &Shelf) -> Shelf {
    Shelf::new(shelf.ports().clone(), Writer::new().unwrap())
}

/// Returns a record as it is handed to another machine.
fn incoming(from: &Shelf, scope: &Scope, record: &Record) -> Incoming {
    let text = record.body.kept().map(|_| from.text(scope, record.id).unwrap().unwrap());
    Incoming::new(record.clone(), text)
}

fn kind_of<T: std::fmt::Debug>(result: crate::Result<T>) -> ErrorKind {
    result.unwrap_err().kind
}

fn for_all<S: Strategy>(cases: u32, strategy: S, property: impl Fn(S::Value)) {
    // A failure prints its input; no file is written next to the sources.
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&strategy, |input| {
        property(input);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
