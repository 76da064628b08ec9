//! Attempts to escape: programs that try to get out of the sandbox, and what each attempt must come to.
//!
//! A probe is a C program that makes a list of attempts and says how each came out. It is run by `weir run` as a user
//! without privileges and as root, and every line must be the one that stands in the table beside the test. The numbers
//! are those of the list of attempts in the design; rows with a plus came later. As root the suite runs both halves, and
//! as another user the one without privileges.
#![expect(clippy::disallowed_methods, reason = "the tests start the program")]

mod files;
mod honesty;
mod kernel;
mod levels;
mod lifetime;
mod network;
mod planted;
mod policy;
mod processes;
mod repository;
mod secrets;
mod world;

use world::{User, World, announce_skip};

/// An attempt and what it must come to: `works`, the name of an error, or a signal. Where root fares differently, both
/// are named.
type Row = (&'static str, &'static str);

/// A probe with its table.
struct Probe {
    /// The file of its source.
    source: &'static str,
    /// What it must print, in this order.
    rows: &'static [Row],
    /// What it is told after the home folder and the project, and made for it outside.
    told: fn(&World) -> Told,
}

/// What a probe is told.
struct Told {
    words: Vec<String>,
    /// What it is told of, for as long as it runs.
    _kept: Box<dyn std::any::Any>,
}

/// All that are made at every level.
const PROBES: &[Probe] = &[files::PROBE, kernel::PROBE, network::PROBE, processes::PROBE];

/// Runs a probe in the full sandbox and compares what it says with its table.
fn check(user: User, probe: &Probe) {
    let Some(world) = World::new(user) else { return announce_skip() };
    let said = world.probe(probe, "full");
    let expected: Vec<(String, String)> =
        probe.rows.iter().map(|(name, outcome)| ((*name).to_owned(), for_user(outcome, user).to_owned())).collect();
    let wrong: Vec<String> = said
        .iter()
        .zip(&expected)
        .filter(|(said, expected)| said != expected)
        .map(|((name, outcome), (row, expected))| format!("{name}: {outcome}, and should be {expected} ({row})"))
        .collect();
    assert!(wrong.is_empty(), "as {user:?}, {} of {}:\n{}", wrong.len(), said.len(), wrong.join("\n"));
    assert_eq!(said.len(), expected.len(), "{said:#?}");
}

/// The part of an outcome that is this user's.
fn for_user(outcome: &'static str, user: User) -> &'static str {
    match (outcome.split_once(", root: "), user) {
        (Some((_, root)), User::Root) => root,
        (Some((plain, _)), User::Plain) => plain,
        (None, _) => outcome,
    }
}
