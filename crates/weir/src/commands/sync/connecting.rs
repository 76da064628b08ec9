//! How `weir sync` connects a project to a team server: with a token or an invitation. Invariant: a token that was stored
//! for a connection which could not be made is deleted, unless an invitation was used up for it.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use weir_context::Context;
use weir_core::wording::one_line;
use weir_host::error::CommandError;
use weir_records::{HostId, MAX_NAME_BYTES, is_name};
use weir_store::TeamConnection;
use weir_sync::ConnectedServer;

use super::invitation;

/// Returns the connection that the options ask for. The server says whose token it is.
pub(super) fn connection(context: &Context, url: &str, arguments: &ArgMatches) -> Result<TeamConnection, CommandError> {
    if let Some(file) = invitation::accepted(context, url, arguments)? {
        return connection_with(context, url, arguments, &file).map_err(|error| invitation::used_up(error, url, &file));
    }
    let given = arguments.get_one::<PathBuf>("token-file").cloned().unwrap_or_default();
    let token_file = match given.as_os_str() == "-" {
        true => {
            let mut token = String::new();
            std::io::stdin()
                .take(weir_sync::MAX_TOKEN_BYTES)
                .read_to_string(&mut token)
                .map_err(|error| CommandError::usage(format!("cannot read the token from standard input: {error}")))?;
            weir_sync::store_token(&context.paths().data, &token)?
        }
        false => context.env().folder.join(given),
    };
    connection_with(context, url, arguments, &token_file).inspect_err(|_| {
        // What went wrong is said, and this connection was never made.
        let _ = weir_sync::release_token(&context.paths().data, &context.project_stores(), &token_file);
    })
}

fn connection_with(
    context: &Context,
    url: &str,
    arguments: &ArgMatches,
    token_file: &Path,
) -> Result<TeamConnection, CommandError> {
    let token = weir_sync::read_token(token_file)?;
    let project = project_name(context, arguments)?;
    let server = ConnectedServer::at(context.env(), url, token, project.clone())?;
    let identity = weir_sync::whose_token(&server)?;
    let token_file = token_file.to_str().ok_or_else(|| CommandError::usage("the path of the token is not UTF-8"))?;
    Ok(TeamConnection {
        server: url.trim_end_matches('/').to_owned(),
        token_file: token_file.to_owned(),
        tenant: identity.tenant,
        user: identity.user,
        project,
        host: HostId::random().map_err(|error| CommandError::broken(&error.to_string()))?.to_string(),
        ..TeamConnection::default()
    })
}

/// Returns the name of the project on a server.
pub(super) fn project_name(context: &Context, arguments: &ArgMatches) -> Result<String, CommandError> {
    let named = arguments.get_one::<String>("project").cloned().or_else(|| context.project().remote());
    let project = named.ok_or_else(|| {
        CommandError::usage("this project has no remote that could name it")
            .hint("name it as the others do: --project NAME")
    })?;
    if !is_name(&project) {
        return Err(CommandError::usage(format!("`{}` cannot be the name of a project", one_line(&project, 80)))
            .hint(format!("use 1 to {MAX_NAME_BYTES} bytes without control characters")));
    }
    Ok(project)
}
