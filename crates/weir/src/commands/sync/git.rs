//! The options of `weir sync` for notes that go through the project's own repository, and what it says about those.
//! Invariant: Weir writes the files; adding and committing them is the user's.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use weir_core::wording::{counted, one_line};
use weir_host::error::CommandError;
use weir_records::{HostId, MAX_NAME_BYTES, is_name};
use weir_store::{TeamConnection, TeamDb};
use weir_sync::{GIT, NOTES_FOLDER, Report};

const MODE: &str = "git";
pub(super) const NAME: &str = "as";

pub(super) fn with_options(command: Command) -> Command {
    let git = Arg::new(MODE).long(MODE).action(ArgAction::SetTrue).requires(NAME);
    let git = git.help("Share notes as files in this repository (.weir/notes), without a server");
    let name = Arg::new(NAME).long(NAME).value_name("NAME").requires("named");
    command
        .arg(git.conflicts_with_all(["server", "stop", "seal", "key", "admit", "revoke"]))
        .arg(name.help(
            "Your name in these files, the same on all of your machines; or in the team, if your invitation has none",
        ))
        .group(ArgGroup::new("named").args([MODE, "invitation"]))
}

/// Returns the connection that the options ask for, if they do.
pub(super) fn connection(arguments: &ArgMatches) -> Result<Option<TeamConnection>, CommandError> {
    let Some(user) = arguments.get_one::<String>(NAME).filter(|_| arguments.get_flag(MODE)) else { return Ok(None) };
    if !is_name(user) {
        return Err(CommandError::usage(format!("`{}` cannot be a name", one_line(user, 60)))
            .hint(format!("use 1 to {MAX_NAME_BYTES} bytes without control characters")));
    }
    Ok(Some(TeamConnection {
        server: GIT.to_owned(),
        // Every clone writes the same, whatever its remotes are.
        tenant: MODE.to_owned(),
        project: MODE.to_owned(),
        user: user.clone(),
        host: HostId::random().map_err(|error| CommandError::broken(&error.to_string()))?.to_string(),
        ..TeamConnection::default()
    }))
}

/// Refuses what is about keys in a project that shares its notes through git.
pub(super) fn check(folder: &Path, arguments: &ArgMatches) -> Result<(), CommandError> {
    let is_given = |option: &&str| arguments.value_source(option) == Some(ValueSource::CommandLine);
    let Some(option) = ["seal", "admit", "revoke", "key"].into_iter().find(is_given) else { return Ok(()) };
    let known = TeamDb::open_existing(folder)?.map(|db| db.connection()).transpose()?.flatten();
    if is_given(&"server") || known.is_none_or(|known| known.server != GIT) {
        return Ok(());
    }
    let message = format!("cannot use --{option}: sealing notes in {NOTES_FOLDER} is not supported");
    Err(CommandError::usage(message).hint("connect the project to a team server: docs/team.md"))
}

/// Says what an exchange did.
pub(super) fn head(report: &Report) -> String {
    let sent = counted(report.sent, "record", "records");
    let received = counted(report.received.len(), "note", "notes");
    let what_next = match report.sent {
        0 => "",
        _ => "; commit the folder to share them",
    };
    format!("{NOTES_FOLDER}: wrote {sent}, received {received}{what_next}")
}
