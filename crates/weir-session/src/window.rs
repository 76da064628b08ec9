//! `weir window`: estimates what recorded sessions would have cost if their conversations had been compacted at other
//! lengths.
//!
//! Invariants: nothing is written, and nothing leaves the machine; assumed figures are marked as such.

mod report;
mod simulation;
mod study;

use std::collections::BTreeMap;

use clap::{Arg, ArgMatches, Command, value_parser};
use weir_clients::Client;
use weir_clients::transcript::SeenMessages;
use weir_context::Context;
use weir_host::answer::Answer;
use weir_host::error::CommandError;

use crate::pauses::{self, CacheCourse, LifetimesSet};
use crate::replay::places::{self, Places};
use crate::replay::prices::Prices;
use crate::replay::{Chosen, DEFAULT_TRANSCRIPTS, choices};
use report::WindowReport;
pub(crate) use simulation::CONTINUED_SHARE;
pub use simulation::{CostParts, Limit, WindowGrowth};
pub use study::{Played, Study, is_too_small};

/// The fewest requests of a session that counts. Shorter sessions end before the window matters.
pub const MIN_REQUESTS: usize = 30;

const LONG_ABOUT: &str = "\
See what your recorded sessions would have cost if their conversations had been compacted earlier or later.

Every request pays for the whole conversation before it, most of it at the price of a cached read. Compacting earlier makes requests \
shorter, but costs a summary and reading some things again. Weir measures both at the compactions in your own sessions, or assumes them \
if there are none; the answer says which.

The sessions are compared with what they cost as they were recorded or, if you have set when the client compacts, with that setting. A \
length is recommended only if it saves at least 2 % in all, is not dearer for the median session, and can be set in the client.

A pause is longer than the provider's cache lives if the next request has to write the whole conversation again. Weir says what that has \
cost, and what a cache of 5 minutes and of 1 hour would have cost, at the times of your own sessions.";

const AFTER_HELP: &str = "\
Examples:
  weir window                               the newest 100 sessions of every client
  weir window ~/.claude/projects/-home-me-app --against 967000
  weir window --json > window.json          for scripts

A smaller window forgets more: `weir replay` shows how much of what models used after compactions a guide brings back. \
docs/carry-over.md explains the figures.";

pub fn command() -> Command {
    let [paths, newest, prices] = choices("Read only the N newest transcripts [default: 100, or all at a PATH]");
    let against = Arg::new("against")
        .long("against")
        .value_name("TOKENS")
        .value_parser(value_parser!(u64).range(20_000..=2_000_000))
        .help("Compare with compaction at this length [default: as set or, if it is not set, as recorded]");
    Command::new("window")
        .about("See what your sessions would have cost with a smaller or larger window")
        .long_about(LONG_ABOUT)
        .after_long_help(AFTER_HELP)
        .args([paths, newest, against, prices])
}

/// How clients are set, by their names.
pub struct ClientSettings<'a> {
    /// Returns the length at which a client compacts, if it is set.
    pub window: &'a dyn Fn(&str) -> Option<u64>,
    /// Returns how long the cache of a client's conversations lives, if it is set.
    pub lifetimes: &'a dyn Fn(&str) -> LifetimesSet,
}

/// Reads the sessions and tries every length.
pub fn run(context: &Context, arguments: &ArgMatches, settings: &ClientSettings<'_>) -> Result<Answer, CommandError> {
    let Chosen { places: Places { found, mut unreadable }, left_out, prices } = Chosen::by(context, arguments)?;
    let against = arguments.get_one::<u64>("against").copied();

    let (mut courses, mut pauses) = (Vec::new(), Vec::new());
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
            let course = WindowGrowth::of(session, &transcript.name, prices.of(&session.model));
            pauses.extend(CacheCourse::of(session, &transcript.name, prices.of(&session.model)));
            match course.requests() {
                MIN_REQUESTS.. => {}
                _ if session.own_requests() >= MIN_REQUESTS => unmeasured += 1,
                _ => short += 1,
            }
            courses.push(course);
        }
    }
    context.report_progress("");
    let studies = studies(&courses, |client| against.or_else(|| (settings.window)(client)));
    let of_client = |name: &str| studies.iter().find(|study| study.client.name == name).map(Study::compacting);
    let pauses = pauses::studies(&pauses, settings.lifetimes, of_client);
    Ok(WindowReport { studies, pauses, short, unmeasured, copied, left_out, others, unreadable }.answer())
}

/// Studies the sessions of each client, the one with the most requests first. `set` returns the length to which a
/// client is set, if it is.
pub fn studies<'a>(
    courses: impl IntoIterator<Item = &'a WindowGrowth>,
    set: impl Fn(&str) -> Option<u64>,
) -> Vec<Study<'a>> {
    let mut by_client: BTreeMap<&str, (&'static Client, Vec<&'a WindowGrowth>)> = BTreeMap::new();
    for course in courses {
        by_client.entry(course.client.name).or_insert((course.client, Vec::new())).1.push(course);
    }
    let studied = by_client.into_values().filter_map(|(client, all)| Study::of(client, &all, set(client.name)));
    let mut studies: Vec<Study<'a>> = studied.collect();
    let requests = |study: &Study<'_>| study.sessions.iter().map(|played| played.growth.requests()).sum::<usize>();
    studies.sort_by_key(|study| std::cmp::Reverse(requests(study)));
    studies
}

/// Returns how many of the newest longer sessions of a client would have had to compact again immediately at this
/// length, and how many such sessions there are.
pub fn too_small(context: &Context, client: &str, length: u64) -> Result<(usize, usize), CommandError> {
    let rates = Prices::read(None)?.of("");
    let mut courses = Vec::new();
    let found = places::find(context.env(), &[])?.found;
    for transcript in found.iter().take(DEFAULT_TRANSCRIPTS) {
        let Ok(Some(read)) = transcript.read() else { continue };
        let of_client = read.sessions.iter().filter(|session| session.client().name == client);
        courses.extend(of_client.map(|session| WindowGrowth::of(session, &transcript.name, rates)));
    }
    let studied = studies(&courses, |_| None);
    let Some(study) = studied.first() else { return Ok((0, 0)) };
    let small = study.sessions.iter().filter(|played| study.at(played, length).0.too_small).count();
    Ok((small, study.sessions.len()))
}
