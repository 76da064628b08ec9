//! `weir prefix`: says what the first request of a session consists of in each client, which is sent again with every
//! request, what that costs, and what to do about it.
//!
//! Invariants: no file of a client is written, and nothing leaves the machine but what a server that is asked for its
//! tools sends; what cannot be counted is measured as the rest, and said to be that.

mod advice;
mod opening;
mod parts;
mod report;
mod study;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};
use weir_clients::transcript::SeenMessages;
use weir_clients::{Client, RECIPES};
use weir_context::Context;
use weir_host::answer::Answer;
use weir_host::error::CommandError;

use crate::replay::places::Places;
use crate::replay::{Chosen, choices, progress};
pub use advice::{Advice, advice};
pub use opening::Opening;
pub use parts::{CountedPart, CountedParts, CountedTool, InlineCause, PartKind};
use report::PrefixReport;
pub use report::{deferral, note, pace, unused_names};
pub use study::{Measured, Pace, Prefix, SentPart};

/// Which MCP servers are started to count the descriptions of their tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starts {
    /// None: only what was counted before is known.
    Nothing,
    /// Those that were not counted before.
    New,
    All,
}

const LONG_ABOUT: &str = "\
See what the first request of a session consists of in each of your clients, and what it costs.

Every request repeats the first one: system text, descriptions of tools, memory files such as CLAUDE.md, agents and skills. Weir \
counts what is on this machine, and measures the whole from the usage figures in your own transcripts. What is left is the client's own \
text and whatever else Weir cannot see.

To count the tools of an MCP server, Weir starts it once as your own settings say, outside the sandbox, and asks for its list. The \
result is kept, and a server is started again only if its entry changes or with --recount. With --no-start, none is started.";

const AFTER_HELP: &str = "\
How to read it:
  tokens        counted with o200k; a client's own model counts differently
  a month       what repeating it costs, by the requests, caches and prices of your transcripts
  not called    tools that no transcript which was read calls or names
  the rest      what was measured and not counted

Examples:
  weir prefix                     every client, by its newest transcripts
  weir prefix --client gemini     one client
  weir prefix --no-start          without starting MCP servers
  weir prefix --json              for scripts, with every tool that was not called";

pub fn command() -> Command {
    let [paths, newest, prices] = choices("Read only the N newest transcripts [default: 100, or all at a PATH]");
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let client = Arg::new("client")
        .long("client")
        .value_name("NAME")
        .value_parser(weir_clients::all().map(|client| client.name).collect::<Vec<_>>())
        .help("Look at one client [default: all that you have]");
    Command::new("prefix")
        .about("See what every request repeats: tools, memory files, agents, and what that costs")
        .long_about(LONG_ABOUT)
        .after_long_help(AFTER_HELP)
        .args([paths, newest, client])
        .arg(flag("no-start", "Start no MCP server; use what was counted before").conflicts_with("recount"))
        .arg(flag("recount", "Start every MCP server again"))
        .arg(prices)
}

/// Reads the sessions, and reports on each client. `count` counts the parts on this machine.
pub fn run(
    context: &Context,
    arguments: &ArgMatches,
    count: impl FnOnce(Starts) -> CountedParts,
) -> Result<Answer, CommandError> {
    let starts = match (arguments.get_flag("no-start"), arguments.get_flag("recount")) {
        (true, _) => Starts::Nothing,
        (_, true) => Starts::All,
        _ => Starts::New,
    };
    let Chosen { places: Places { found, mut unreadable }, left_out, prices } = Chosen::by(context, arguments)?;
    let mut openings = Vec::new();
    let mut seen = SeenMessages::default();
    for (at, transcript) in found.iter().enumerate() {
        context.report_progress(&progress(at, found.len(), &transcript.name));
        match Opening::read(transcript, &prices, &mut seen) {
            Ok(read) => openings.extend(read.into_iter().flatten()),
            Err(error) => unreadable.push(format!("{}: {error}", transcript.path.display())),
        }
    }
    let counted = count(starts);
    context.report_progress("");
    let mut prefixes = prefixes(openings.iter(), counted, &context.project().root);
    if let Some(only) = arguments.get_one::<String>("client") {
        prefixes.retain(|prefix| prefix.client.name == only);
    }
    Ok(PrefixReport { prefixes, left_out, unreadable, prices_of: prices.date }.answer())
}

/// Returns the prefix of each client that has sessions or parts, the one with the most requests first.
pub fn prefixes<'a>(openings: impl Iterator<Item = &'a Opening>, counted: CountedParts, project: &Path) -> Vec<Prefix> {
    let mut by_client: BTreeMap<&str, Vec<&Opening>> = BTreeMap::new();
    openings.for_each(|opening| by_client.entry(opening.client.name).or_default().push(opening));
    let CountedParts { parts, mut inline } = counted;
    let names: BTreeSet<&str> = by_client.keys().copied().chain(parts.iter().map(|part| part.client)).collect();
    let of_client = |client: &'static Client| {
        let own = parts.iter().filter(|part| part.client == client.name).cloned().collect();
        let openings = by_client.get(client.name).map_or(&[][..], Vec::as_slice);
        Prefix::of(client, openings, own, inline.remove(client.name), project)
    };
    let known = RECIPES.iter().filter_map(|recipe| recipe.client).filter(|client| names.contains(client.name));
    let mut prefixes: Vec<Prefix> = known.map(of_client).collect();
    prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.pace.map_or(0, |pace| pace.requests)));
    prefixes
}
