//! `weir window`: estimates what recorded sessions would have cost if their conversations had been compacted at other
//! lengths.
//!
//! Invariants: nothing is written, and nothing leaves the machine; assumed figures are marked as such.

mod report;
mod simulation;

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use weir_clients::transcript::SeenMessages;

use crate::answer::Answer;
use crate::context::Context;
use crate::error::CommandError;
use crate::replay::places::{self, Places};
use crate::replay::prices::{self, Prices};
use report::WindowReport;
pub(crate) use simulation::{Aftermath, WindowGrowth};

/// How many transcripts of the clients are read by default.
pub(crate) const DEFAULT_TRANSCRIPTS: usize = 100;
/// The fewest requests of a session that counts. Shorter sessions end before the window matters.
pub(crate) const MIN_REQUESTS: usize = 30;
/// The lengths to try, in tokens.
pub(crate) const LENGTHS: [u64; 9] = [60_000, 80_000, 100_000, 120_000, 167_000, 200_000, 300_000, 500_000, 967_000];
/// The default length for comparison: the window of clients before windows of a million tokens.
pub(crate) const DEFAULT_COMPARED_LENGTH: u64 = 167_000;

const LONG_ABOUT: &str = "\
See what your recorded sessions would have cost if their conversations had been compacted earlier or later.

Every request pays for the whole conversation before it, most of it at the price of a cached read. Compacting earlier makes requests \
shorter, but costs a summary and reading some things again. Weir measures both at the compactions in your own sessions, or assumes them \
if there are none; the answer says which.";

const AFTER_HELP: &str = "\
Examples:
  weir window                               the newest 100 sessions of every client
  weir window ~/.claude/projects/-home-me-app --against 967000
  weir window --json > window.json          for scripts

A smaller window forgets more: `weir replay` shows how much of what models used after compactions a guide brings back. \
docs/carry-over.md explains the figures.";

/// Returns the command.
pub(crate) fn command() -> Command {
    let paths = Arg::new("path")
        .value_name("PATH")
        .num_args(0..)
        .value_parser(value_parser!(PathBuf))
        .help("Transcripts or folders of transcripts [default: those of every client]");
    let newest = Arg::new("newest")
        .long("newest")
        .value_name("N")
        .value_parser(value_parser!(u32).range(1..))
        .help("Read only the N newest transcripts [default: 100, or all at a PATH]");
    let against = Arg::new("against")
        .long("against")
        .value_name("TOKENS")
        .value_parser(value_parser!(u64).range(20_000..=2_000_000))
        .help("Compare with compaction at this length [default: 167000]");
    let prices = Arg::new("prices")
        .long("prices")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("Read prices from this file [default: prices.toml beside the configuration]");
    Command::new("window")
        .about("See what your sessions would have cost with a smaller or larger window")
        .long_about(LONG_ABOUT)
        .after_long_help(AFTER_HELP)
        .args([paths, newest, against, prices])
}

/// Reads the sessions and tries every length.
pub(crate) fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let env = context.env();
    let paths: Vec<PathBuf> =
        arguments.get_many("path").into_iter().flatten().map(|path: &PathBuf| env.folder.join(path)).collect();
    let Places { mut found, mut unreadable } = places::find(env, &paths)?;
    let newest = arguments.get_one::<u32>("newest").map(|number| *number as usize);
    let most = newest.unwrap_or(if paths.is_empty() { DEFAULT_TRANSCRIPTS } else { usize::MAX });
    let left_out = found.len().saturating_sub(most);
    found.truncate(most);
    let named = arguments.get_one::<PathBuf>("prices").map(|path| env.folder.join(path));
    let prices = Prices::read(named.or_else(|| prices::user_file(context.paths())).as_deref())?;
    let against = arguments.get_one::<u64>("against").copied().unwrap_or(DEFAULT_COMPARED_LENGTH);

    let (mut courses, mut aftermath) = (Vec::new(), Aftermath::default());
    let (mut short, mut unmeasured, mut others, mut copied) = (0, 0, 0, 0);
    let mut seen = SeenMessages::default();
    for (at, transcript) in found.iter().enumerate() {
        context.report_progress(&crate::replay::progress(at, found.len(), &transcript.name));
        let mut read = match transcript.read() {
            Ok(Some(read)) => read,
            Ok(None) => {
                others += 1;
                continue;
            }
            Err(error) => {
                unreadable.push(format!("{}: {error}", transcript.path.display()));
                continue;
            }
        };
        for session in &mut read.sessions {
            session.find_copies(&mut seen);
            copied += session.copied.requests;
            if session.is_copy() {
                continue;
            }
            aftermath.learn(session);
            let course = WindowGrowth::of(session, &transcript.name, prices.of(&session.model));
            match course.requests() {
                MIN_REQUESTS.. => courses.push(course),
                _ if session.own_requests() >= MIN_REQUESTS => unmeasured += 1,
                _ => short += 1,
            }
        }
    }
    context.report_progress("");
    Ok(WindowReport { courses, aftermath, short, unmeasured, copied, left_out, others, unreadable, against }.answer())
}

/// Returns how many of the newest longer sessions of a client would have had to compact again immediately at this
/// length, and how many such sessions there are.
pub(crate) fn too_small(context: &Context, client: &str, length: u64) -> Result<(usize, usize), CommandError> {
    let rates = Prices::read(None)?.of("");
    let (mut courses, mut aftermath) = (Vec::new(), Aftermath::default());
    let found = places::find(context.env(), &[])?.found;
    for transcript in found.iter().take(DEFAULT_TRANSCRIPTS) {
        let Ok(Some(read)) = transcript.read() else { continue };
        for session in &read.sessions {
            aftermath.learn(session);
            let course = WindowGrowth::of(session, &transcript.name, rates);
            if course.requests() >= MIN_REQUESTS && session.client().name == client {
                courses.push(course);
            }
        }
    }
    let small = courses.iter().filter(|course| course.at(length, &aftermath).too_small).count();
    Ok((small, courses.len()))
}
