//! `weir replay`: plays recorded sessions through the hooks and reports what the hooks would have saved and cost.
//!
//! Invariants: no file of the user's is written, and nothing leaves the machine; unreadable data is counted and
//! reported.

mod figures;
mod judge;
pub mod places;
pub mod prices;
pub mod report;
mod trials;
mod words;

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use weir_clients::transcript::Session;
use weir_context::Context;
use weir_hook::faults;
use weir_host::answer::Answer;
use weir_host::env::{Env, Paths};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::scratch::Scratch;
use weir_store::private;

use figures::Judgement;
use judge::Player;
use places::{Places, TranscriptLocation};
use prices::Prices;
pub use report::progress;
use report::{Extent, ReplayReport, ReplayedSession, SessionSource};

/// How many of the clients' transcripts are read by default.
pub const DEFAULT_TRANSCRIPTS: usize = 100;
/// How many results with unseen but later used identifiers are shown by default.
const DEFAULT_UNSEEN_RESULTS: usize = 5;

const LONG_ABOUT: &str = "\
Replay your clients' recorded sessions through Weir's hooks and report what Weir would have saved, what it would have hidden \
and what it costs by itself. You can run it before setting Weir up.

Every tool result of a session goes through the same code as in the hooks, in a temporary folder. The report compares what the \
client showed with what Weir would have shown, and checks whether what the model wrote next needed anything that was missing. \
Prices use the session's own usage figures. Nothing is written to your store, and nothing leaves this machine.

In the end, sessions are replayed with other settings where these would make a difference. A setting is named only if that replay \
saved at least 0.5 % of the price more.";

const AFTER_HELP: &str = "\
How to read the tables of --full:
  touched        results that would have been replaced by something smaller
  used later     names, paths and numbers first seen in a replaced result and used afterwards
  visible        those that the replacement still shows
  asked again    results with something not visible, each assumed to be asked for again
  net            tokens saved, minus the cost of asking again and of Weir's tool descriptions

Examples:
  weir replay                                    the newest 100 sessions of every client
  weir replay ~/.claude/projects/-home-me-app    the sessions of one project
  weir replay session.jsonl --show 20            one session, with what the model would have missed
  weir replay --full                             every figure: by tool, by means, by session
  weir replay --json > before.json               for scripts; docs/replay.md explains every figure";

pub fn command() -> Command {
    let [paths, newest, prices] = choices("Replay only the N newest transcripts [default: 100, or all at a PATH]");
    let show = Arg::new("show")
        .long("show")
        .value_name("N")
        .value_parser(value_parser!(u32))
        .help("Show N results with something that was used later but not visible [default: 5]");
    let full = Arg::new("full")
        .long("full")
        .action(ArgAction::SetTrue)
        .help("Add the tables by tool, by means and by session");
    Command::new("replay")
        .about("Replay recorded sessions and report what Weir would have saved, hidden and cost")
        .long_about(LONG_ABOUT)
        .after_long_help(AFTER_HELP)
        .args([paths, newest, show, full, prices])
}

/// The arguments that choose transcripts, and their prices.
pub(crate) fn choices(newest: &'static str) -> [Arg; 3] {
    let path = Arg::new("path").value_name("PATH").num_args(0..).value_parser(value_parser!(PathBuf));
    let number = Arg::new("newest").long("newest").value_name("N").value_parser(value_parser!(u32).range(1..));
    let prices = Arg::new("prices").long("prices").value_name("FILE").value_parser(value_parser!(PathBuf));
    [
        path.help("Transcripts or folders of transcripts [default: those of every client]"),
        number.help(newest),
        prices.help("Read prices from this file [default: prices.toml beside the configuration]"),
    ]
}

/// What these arguments choose.
pub(crate) struct Chosen {
    pub(crate) places: Places,
    /// How many older transcripts there are.
    pub(crate) left_out: usize,
    pub(crate) prices: Prices,
}

impl Chosen {
    pub(crate) fn by(context: &Context, arguments: &ArgMatches) -> Result<Self, CommandError> {
        let env = context.env();
        let paths: Vec<PathBuf> =
            arguments.get_many("path").into_iter().flatten().map(|path: &PathBuf| env.folder.join(path)).collect();
        let mut places = places::find(env, &paths)?;
        let newest = arguments.get_one::<u32>("newest").map(|number| *number as usize);
        let most = newest.unwrap_or(if paths.is_empty() { DEFAULT_TRANSCRIPTS } else { usize::MAX });
        let left_out = places.found.len().saturating_sub(most);
        places.found.truncate(most);
        let named = arguments.get_one::<PathBuf>("prices").map(|path| env.folder.join(path));
        let prices = Prices::read(named.or_else(|| prices::user_file(context.paths())).as_deref())?;
        Ok(Self { places, left_out, prices })
    }
}

pub fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let Chosen { places: Places { found, unreadable }, left_out, prices } = Chosen::by(context, arguments)?;
    let show = arguments.get_one::<u32>("show").map_or(DEFAULT_UNSEEN_RESULTS, |number| *number as usize);
    let extent = if arguments.get_flag("full") { Extent::Full } else { Extent::Short };
    let prices_of = prices.date.clone();
    let mut report = ReplayReport { left_out, unreadable, prices_of, show, extent, ..ReplayReport::default() };
    let scratch = Scratch::new(&context.paths().cache)?;
    let stage = Stage { env: context.env(), config: &context.paths().config, scratch: scratch.path(), prices: &prices };
    for (at, transcript) in found.iter().enumerate() {
        context.report_progress(&progress(at, found.len(), &transcript.name));
        play(&stage, at, transcript, &mut report)?;
    }
    // A program that reads the data can replay with other settings.
    if !arguments.get_flag("json") {
        report.advice = trials::advice(context, &stage, &found, &report)?;
    }
    context.report_progress("");
    Ok(report.answer())
}

/// Where sessions are played, and with which configuration and prices.
#[derive(Clone, Copy)]
struct Stage<'a> {
    env: &'a Env,
    config: &'a Path,
    scratch: &'a Path,
    prices: &'a Prices,
}

impl Stage<'_> {
    /// Plays a session in a data folder of its own, which is removed afterwards, since the lines that one session was
    /// shown mean nothing to another.
    fn judge(&self, found: &TranscriptLocation, session: &Session, name: &str) -> Result<Judgement, CommandError> {
        let place = self.scratch.join("session");
        let paths = Paths { data: place.join("data"), cache: place.join("cache"), config: self.config.to_owned() };
        let folder = place.join("project");
        for folder in [&paths.data, &folder] {
            private::folder(folder).map_err(|error| cannot_use(folder, &error))?;
        }
        let player = Player {
            env: self.env,
            paths: &paths,
            folder: &folder,
            transcript: &found.path,
            rates: self.prices.of(&session.model),
        };
        faults::keep_in(&paths);
        let mut judged = player.play(session, name);
        judged.faults.extend(faults::read(&paths).into_iter().flatten());
        std::fs::remove_dir_all(&place).map_err(|error| cannot_use(&place, &error))?;
        Ok(judged)
    }
}

fn play(
    stage: &Stage<'_>,
    place: usize,
    found: &TranscriptLocation,
    report: &mut ReplayReport,
) -> Result<(), CommandError> {
    let mut transcript = match found.read() {
        Ok(Some(transcript)) => transcript,
        Ok(None) => {
            report.others.push(found.path.clone());
            return Ok(());
        }
        Err(error) => {
            report.unreadable.push(format!("{}: {error}", found.path.display()));
            return Ok(());
        }
    };
    report.skipped_rows += transcript.skipped.count;
    for (at, session) in transcript.sessions.iter_mut().enumerate() {
        session.find_copies(&mut report.seen);
        report.copied_requests += session.copied.requests;
        if session.is_copy() {
            continue;
        }
        let name = if at == 0 { found.name.clone() } else { format!("{} {}", found.name, session.key) };
        let judged = stage.judge(found, session, &name)?;
        report.sessions.push(ReplayedSession {
            path: found.path.clone(),
            source: SessionSource { transcript: place, session: at, copied: session.copied },
            client: session.client(),
            version: session.version.clone(),
            model: session.model.clone(),
            requests: session.own_requests(),
            rates: stage.prices.of(&session.model),
            name,
            judged,
        });
    }
    Ok(())
}

fn cannot_use(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Failed, format!("cannot use {}: {error}", path.display()))
        .hint("make sure that you own the cache folder and that the disk has free space")
}
