//! Runs random scripts through our splitter and another parser: every command that the other finds, ours must find too,
//! or fail closed.

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use weir_policy::shell;

use crate::oracle;
use crate::scripts::Random;

#[test]
fn both_parsers_find_the_same_commands() {
    on_a_big_stack(|| fuzz(1, |scripts, _| scripts < 2_500));
}

#[test]
#[ignore = "five seconds by default; WEIR_FUZZ_SECONDS=600 WEIR_FUZZ_SEED=7 cargo test -p weir-policy --test it fuzz -- --ignored --nocapture"]
fn both_parsers_find_the_same_commands_for_long() {
    #[expect(clippy::disallowed_methods, reason = "a test takes its length from the person who runs it")]
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let length = Duration::from_secs(number("WEIR_FUZZ_SECONDS").unwrap_or(5));
    let seed = number("WEIR_FUZZ_SEED").unwrap_or(2);
    on_a_big_stack(move || fuzz(seed, |_, passed| passed < length));
}

fn on_a_big_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(512 << 20).spawn(work).unwrap().join().unwrap();
}

#[derive(Debug, Default)]
struct Figures {
    scripts: usize,
    refused_by_the_other: usize,
    compared: usize,
    commands: usize,
    failed_closed: usize,
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the figures are for the person who runs it")]
fn fuzz(seed: u64, goes_on: impl Fn(usize, Duration) -> bool) {
    // A parser that panics has not accepted the script, and its message would drown out ours.
    std::panic::set_hook(Box::new(|info| {
        if info.location().is_some_and(|place| place.file().contains("weir-policy")) {
            eprintln!("{info}");
        }
    }));
    let mut random = Random::of(seed);
    let mut figures = Figures::default();
    let mut disagreements: BTreeSet<String> = BTreeSet::new();
    let start = Instant::now();
    while goes_on(figures.scripts, start.elapsed()) {
        let script = random.script();
        figures.scripts += 1;
        if let Some(disagreement) = compare(&script, &mut figures) {
            disagreements.insert(disagreement);
            if disagreements.len() > 20 {
                break;
            }
        }
    }
    println!("seed {seed}: {figures:?}, {} disagreements", disagreements.len());
    assert!(figures.compared * 10 > figures.scripts, "too few scripts are accepted by both: {figures:?}");
    assert!(disagreements.is_empty(), "{}", disagreements.into_iter().collect::<Vec<_>>().join("\n"));
}

fn compare(script: &str, figures: &mut Figures) -> Option<String> {
    let ours = shell::split(script);
    let theirs = if loops(script) { None } else { catch_unwind(|| oracle::names(script)).ok().flatten() };
    let Some(theirs) = theirs else {
        figures.refused_by_the_other += 1;
        return None;
    };
    if !ours.unclear.is_empty() {
        figures.failed_closed += 1;
        return None;
    }
    figures.compared += 1;
    figures.commands += theirs.known.len();
    let names: BTreeSet<&str> = ours.commands.iter().filter_map(shell::Command::name).collect();
    // Our splitter treats `[` as a test, not as a command.
    let known = |name: &str| names.contains(name) || ["[", ""].contains(&name);
    let missed = theirs.known.iter().find(|name| !known(name));
    match missed {
        Some(name) => Some(format!("{script:?}: missed {name:?}, found {names:?}")),
        None if theirs.unknown > 0 && theirs.odd == 0 => {
            Some(format!("{script:?}: a name is not known, found {names:?}"))
        }
        None => None,
    }
}

/// Returns whether the other parser may loop forever and exhaust memory, as it does on some here-documents inside
/// substitutions.
fn loops(script: &str) -> bool {
    let nested = ["$(", "${", "<(", ">(", "`"].iter().filter_map(|open| script.find(open)).min();
    nested.is_some_and(|at| script[at..].replace("<<<", "").contains("<<"))
}
