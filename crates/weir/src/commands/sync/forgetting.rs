//! `weir sync --forget`: removes notes from the team's server, and so from every machine. Invariant: nothing is
//! forgotten that was not named.

use clap::{Arg, ArgMatches, Command};
use weir_context::Context;
use weir_core::Reference;
use weir_host::error::{CommandError, ErrorKind};
use weir_store::{TeamConnection, TeamDb};
use weir_sync::{ConnectedServer, GIT, forget_everywhere, read_token};

pub(super) fn with_options(command: Command) -> Command {
    let parse = |text: &str| Reference::parse(text).map_err(|error| error.to_string());
    let forget = Arg::new("forget").long("forget").value_name("REF").num_args(1..).value_parser(parse);
    command.arg(
        forget
            .conflicts_with_all(["server", "git", "stop", "key", "dry-run"])
            .help("Remove these notes for the whole team; a teammate's needs an admin's token"),
    )
}

/// Removes the named notes from the server. The exchange that follows removes them here.
pub(super) fn forget(
    context: &Context,
    db: &TeamDb,
    connection: &TeamConnection,
    arguments: &ArgMatches,
) -> Result<(), CommandError> {
    let named: Vec<Reference> = arguments.get_many::<Reference>("forget").into_iter().flatten().copied().collect();
    if named.is_empty() {
        return Ok(());
    }
    if connection.server == GIT {
        return Err(CommandError::usage("--forget needs a team server, and this project shares notes through git")
            .hint("`weir forget REF` removes a note of your own from the repository; its author can remove another"));
    }
    let token = read_token(std::path::Path::new(&connection.token_file))?;
    let server = ConnectedServer::at(context.env(), &connection.server, token, connection.project.clone())?;
    let records = db.records()?;
    for reference in named {
        let row = records.iter().find(|row| row.reference == Some(reference)).ok_or_else(|| not_shared(reference))?;
        forget_everywhere(&server, &row.id, row.user != connection.user)?;
    }
    Ok(())
}

fn not_shared(reference: Reference) -> CommandError {
    CommandError::new(ErrorKind::NotFound, format!("cannot forget {reference} for the team: it is not shared"))
        .hint("`weir sync` receives what is new; `weir forget REF` removes what is only here")
}
