//! `weir sync --invitation`: becomes a user of a team. Invariants: an invitation is accepted only when everything else
//! that can be checked was; the token that it gave is kept, whatever comes after.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgGroup, ArgMatches, Command, value_parser};
use weir_context::Context;
use weir_host::error::CommandError;
use weir_host::foreign;
use weir_sync::{ConnectedServer, MAX_TOKEN_BYTES, accept_invitation, store_token};

const INVITATION: &str = "invitation";
/// What names a server's user: a token, or an invitation to make one.
pub(super) const CREDENTIAL: &str = "credential";

pub(super) fn with_options(command: Command) -> Command {
    let invitation = Arg::new(INVITATION).long(INVITATION).value_name("FILE").value_parser(value_parser!(PathBuf));
    let invitation = invitation.requires("server").conflicts_with("dry-run");
    command
        .arg(invitation.help("File with an invitation, which gives you a token; - reads standard input"))
        .group(ArgGroup::new(CREDENTIAL).args(["token-file", INVITATION]))
}

/// Accepts the invitation that the options name, if they do, and returns the file with its token.
pub(super) fn accepted(
    context: &Context,
    server: &str,
    arguments: &ArgMatches,
) -> Result<Option<PathBuf>, CommandError> {
    let Some(given) = arguments.get_one::<PathBuf>(INVITATION) else { return Ok(None) };
    let name = super::connecting::project_name(context, arguments)?;
    let (no_token, user) = (String::new(), arguments.get_one::<String>(super::git::NAME));
    let server = ConnectedServer::at(context.env(), server, no_token, name)?;
    let token = accept_invitation(&server, &text_of(context, given)?, user.map(String::as_str))?;
    store_token(&context.paths().data, &token)
        .map(Some)
        .map_err(|error| error.hint("the invitation is used up, and its token is lost: ask an admin for another one"))
}

/// Says what became of an invitation whose connection failed.
pub(super) fn used_up(error: CommandError, server: &str, token_file: &Path) -> CommandError {
    let file = token_file.display();
    error.hint(format!(
        "the invitation is used up, and its token is kept: weir sync --server {server} --token-file '{file}'"
    ))
}

fn text_of(context: &Context, given: &Path) -> Result<String, CommandError> {
    let failed = |why: String| CommandError::usage(format!("cannot read the invitation: {why}"));
    if given.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().take(MAX_TOKEN_BYTES).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
        return Ok(text);
    }
    let read = foreign::read_user_file(&context.env().folder.join(given), MAX_TOKEN_BYTES);
    let bytes = read.map_err(|error| failed(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
