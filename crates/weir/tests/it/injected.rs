//! Fails single system calls: the n-th of a kind, in every command and every hook, with every error that the kernel may
//! give there. With the failure gone, the store must be one that never failed: nothing that was acknowledged is
//! missing, nothing is marked, and nothing is different.
//!
//! The gate tries one failure of each kind in each command; at night, every single one is tried.
#![expect(clippy::print_stdout, reason = "the table of what was tried is for people")]

mod acts;
mod state;
mod trial;

use std::collections::BTreeMap;

use acts::{ACTS, Act, Group};
use trial::{Bench, ERRORS, Trial, Verdict};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// One of each kind in each act.
    Sample,
    Everything,
}

fn check(group: Group, extent: Extent) {
    let bench = Bench::new();
    let mut table = Table::default();
    for act in ACTS.iter().filter(|act| act.group == group) {
        for (kind, calls) in bench.count(act) {
            let Some((_, errors)) = ERRORS.iter().find(|(known, _)| *known == kind) else {
                panic!("{kind} has no errors")
            };
            for trial in trials(act, &kind, calls, errors, extent) {
                table.add(&trial, bench.run(&trial));
            }
        }
    }
    println!("{}", table.text());
    assert!(
        table.broken.is_empty(),
        "{} of {} trials:\n{}",
        table.broken.len(),
        table.trials(),
        table.broken.join("\n")
    );
}

/// Returns the failures to try in an act that makes this many calls of a kind.
fn trials<'a>(act: &'a Act, kind: &str, calls: usize, errors: &'a [(&'a str, i32)], extent: Extent) -> Vec<Trial<'a>> {
    let one = |nth, error| Trial { act, kind: kind.to_owned(), nth, error };
    match extent {
        Extent::Everything => (1..=calls).flat_map(|nth| errors.iter().map(move |error| one(nth, *error))).collect(),
        Extent::Sample => {
            // Spread over the calls of all acts, and the same every time.
            let dice = blake3::hash(format!("{} {kind}", act.name).as_bytes());
            let roll = |at: usize, sides: usize| usize::from(dice.as_bytes()[at]) % sides;
            vec![one(1 + (roll(0, 256) * 256 + roll(1, 256)) % calls, errors[roll(2, errors.len())])]
        }
    }
}

/// What came of all trials, by act and kind of call.
#[derive(Default)]
struct Table {
    cells: BTreeMap<(&'static str, String), Cell>,
    broken: Vec<String>,
}

/// What came of the trials of one kind in one act.
#[derive(Default, Clone, Copy)]
struct Cell {
    done: usize,
    refused: usize,
    broken: usize,
}

impl Table {
    fn add(&mut self, trial: &Trial<'_>, verdict: Verdict) {
        let cell = self.cells.entry((trial.act.name, trial.kind.clone())).or_default();
        match verdict {
            Verdict::Done => cell.done += 1,
            Verdict::Refused => cell.refused += 1,
            Verdict::Broken(why) => {
                cell.broken += 1;
                self.broken.push(format!("{trial}: {why}"));
            }
        }
    }

    fn trials(&self) -> usize {
        self.cells.values().map(|cell| cell.done + cell.refused + cell.broken).sum()
    }

    /// Returns the table: for each act and kind, how many trials did their work, were refused with an error, and broke
    /// something.
    fn text(&self) -> String {
        let kinds: Vec<&str> = ERRORS.iter().map(|(kind, _)| *kind).collect();
        let mut lines = vec![format!("{:22}{}", "done/refused/broken", kinds.map_columns())];
        let mut acts: Vec<&str> = self.cells.keys().map(|(act, _)| *act).collect();
        acts.dedup();
        for act in acts {
            let cells: Vec<String> = kinds
                .iter()
                .map(|kind| match self.cells.get(&(act, (*kind).to_owned())) {
                    Some(Cell { done, refused, broken }) => format!("{done}/{refused}/{broken}"),
                    None => "-".to_owned(),
                })
                .collect();
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            lines.push(format!("{act:22}{}", cells.map_columns()));
        }
        lines.push(format!("{} trials, {} broken", self.trials(), self.broken.len()));
        lines.join("\n")
    }
}

trait Columns {
    fn map_columns(&self) -> String;
}

impl Columns for Vec<&str> {
    fn map_columns(&self) -> String {
        self.iter().map(|cell| format!("{cell:>12}")).collect()
    }
}

#[test]
fn one_failing_call_of_each_kind_in_hooks_loses_nothing() {
    check(Group::Hooks, Extent::Sample);
}

#[test]
fn one_failing_call_of_each_kind_in_commands_that_read_loses_nothing() {
    check(Group::Reading, Extent::Sample);
}

#[test]
fn one_failing_call_of_each_kind_in_commands_that_write_loses_nothing() {
    check(Group::Writing, Extent::Sample);
}

#[test]
fn one_failing_call_of_each_kind_in_commands_for_whole_stores_loses_nothing() {
    check(Group::Stores, Extent::Sample);
}

#[test]
#[ignore = "takes an hour"]
fn nightly_no_failing_call_in_a_hook_loses_anything() {
    check(Group::Hooks, Extent::Everything);
}

#[test]
#[ignore = "takes an hour"]
fn nightly_no_failing_call_in_a_command_that_reads_loses_anything() {
    check(Group::Reading, Extent::Everything);
}

#[test]
#[ignore = "takes an hour"]
fn nightly_no_failing_call_in_a_command_that_writes_loses_anything() {
    check(Group::Writing, Extent::Everything);
}

#[test]
#[ignore = "takes an hour"]
fn nightly_no_failing_call_in_a_command_for_whole_stores_loses_anything() {
    check(Group::Stores, Extent::Everything);
}
