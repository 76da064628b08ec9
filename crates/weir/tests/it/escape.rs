//! Attempts to escape: programs that try to get out of the sandbox, with the required outcome of each attempt.
//!
//! A probe is a C program that makes a list of attempts and reports the outcome of each. `weir run` runs it as an
//! unprivileged user and as root, and every line must match the table next to the test. The numbers are those of the
//! list of attempts in the design; rows with a plus were added later. As root, the suite runs both halves; as another
//! user, only the unprivileged one.
#![expect(clippy::disallowed_methods, reason = "the tests start the program")]

mod files;
mod honesty;
mod kernel;
mod levels;
mod lifetime;
mod network;
mod own_files;
mod planted;
mod policy;
mod processes;
mod repository;
mod secrets;
mod world;

use world::{User, World, announce_skip};

/// An attempt and its required outcome: `works`, the name of an error, or a signal. If the outcome differs for root,
/// both are given.
type Row = (&'static str, &'static str);

struct Probe {
    source: &'static str,
    /// What the probe must print, in this order.
    rows: &'static [Row],
    /// Returns the arguments after the home folder and the project, and creates what they refer to outside.
    told: fn(&World) -> ProbeArguments,
}

struct ProbeArguments {
    words: Vec<String>,
    /// Keeps what the arguments refer to alive while the probe runs.
    _kept: Box<dyn std::any::Any>,
}

/// The probes that run at every level.
const PROBES: &[Probe] = &[files::PROBE, kernel::PROBE, network::PROBE, processes::PROBE];

/// Runs a probe in the full sandbox and compares its output with its table.
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

fn for_user(outcome: &'static str, user: User) -> &'static str {
    match (outcome.split_once(", root: "), user) {
        (Some((_, root)), User::Root) => root,
        (Some((plain, _)), User::Plain) => plain,
        (None, _) => outcome,
    }
}
