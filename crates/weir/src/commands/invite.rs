//! `weir invite`: invitations to the team of this project's server, for its admins. Invariant: standard output has the
//! invitation and nothing else, so that a script can take it; a secret is printed once.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use weir_context::Context;
use weir_core::Timestamp;
use weir_core::wording::one_line;
use weir_host::answer::Answer;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::{paint, when};
use weir_store::{TeamConnection, TeamDb};
use weir_sync::{ConnectedServer, GIT, invitations, invite, read_token, revoke_invitation};

pub(crate) const INVITE: &str = "invite";

const AFTER_HELP: &str = "\
Examples:
  weir invite ben                              print an invitation for ben, which is good once
  weir invite --uses 20 --valid-for 3d         one that 20 people can accept, who name themselves
  weir invite bot --scope read --project github.com/acme/api
  weir invite --list                           list invitations, without their secrets
  weir invite --revoke 00112233445566ff        revoke one; the tokens that it gave stay

This needs an admin's token. The person who gets the invitation accepts it with
  weir sync --server URL --invitation FILE     in the project to be shared; with --as NAME if it names nobody

docs/team.md has the details.";

pub(crate) fn command() -> Command {
    let text = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    let list = Arg::new("list").long("list").action(ArgAction::SetTrue).help("List the team's invitations");
    let others = ["user", "scope", "project", "uses", "valid-for", "token-valid-for"];
    let scope = text("scope", "SCOPE").value_parser(PossibleValuesParser::new(["read", "write", "admin"]));
    let uses = text("uses", "NUMBER").value_parser(value_parser!(u32).range(1..));
    Command::new(INVITE)
        .about("Print an invitation to the team that this project is shared with")
        .after_long_help(AFTER_HELP)
        .arg(Arg::new("user").value_name("USER").help("Name of the new user [default: they name themselves]"))
        .arg(scope.help("What the new user may do [default: write]"))
        .arg(
            text("project", "KEY")
                .action(ArgAction::Append)
                .help("Limit the new user to this project; can be repeated"),
        )
        .arg(uses.help("How often the invitation can be accepted [default: 1]"))
        .arg(text("valid-for", "TIME").help("How long the invitation can be accepted, up to 30d [default: 7d]"))
        .arg(text("token-valid-for", "TIME").help("Let the new user's token expire after this time, such as 90d"))
        .arg(list.conflicts_with_all(others).conflicts_with("revoke"))
        .arg(text("revoke", "ID").conflicts_with_all(others).help("Revoke an invitation; tokens that it gave stay"))
}

pub(crate) fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let (server, connection) = connected(context)?;
    if let Some(id) = arguments.get_one::<String>("revoke") {
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id {
            let message = format!("`{}` is not the id of an invitation", one_line(id, 80));
            return Err(CommandError::usage(message).hint("`weir invite --list` has the ids"));
        }
        revoke_invitation(&server, id)?;
        let text = format!("revoked the invitation {id}; tokens that it gave stay");
        return Ok(Answer::new(text, json!({ "revoked": id })));
    }
    if arguments.get_flag("list") {
        return invitations(&server).map(listed);
    }
    let text = |name: &str| arguments.get_one::<String>(name);
    let projects: Vec<&String> = arguments.get_many::<String>("project").into_iter().flatten().collect();
    let made = invite(
        &server,
        &json!({
            "user": text("user"),
            "scope": text("scope"),
            "projects": Some(projects).filter(|projects| !projects.is_empty()),
            "uses": arguments.get_one::<u32>("uses"),
            "valid_for": text("valid-for"),
            "token_valid_for": text("token-valid-for"),
        }),
    )?;
    let name = if text("user").is_some() { "" } else { " --as NAME" };
    paint::warn(&format!(
        "weir: the invitation is shown once; accept it with: weir sync --server {} --project {} --invitation FILE{name}",
        one_line(&connection.server, 120),
        one_line(&connection.project, 120),
    ));
    Ok(Answer::new(made.code, made.answer))
}

/// Returns the server that the project is shared with.
fn connected(context: &Context) -> Result<(ConnectedServer, TeamConnection), CommandError> {
    let db = TeamDb::open_existing(&context.project_folder())?;
    let connection = db.map(|db| db.connection()).transpose()?.flatten().filter(|known| known.server != GIT);
    let connection = connection.ok_or_else(|| {
        CommandError::new(ErrorKind::NotFound, "this project is not connected to a team server")
            .hint("run this in a project that is: weir sync --server URL --token-file FILE connects one")
    })?;
    let token = read_token(Path::new(&connection.token_file))?;
    let server = ConnectedServer::at(context.env(), &connection.server, token, connection.project.clone())?;
    Ok((server, connection))
}

fn listed(invitations: Vec<Value>) -> Answer {
    if invitations.is_empty() {
        return Answer::nothing("the team has no invitations".to_owned(), json!({ "invitations": [] }));
    }
    let line = |one: &Value| {
        let text = |name: &str| one_line(one[name].as_str().unwrap_or("?"), 60);
        let user = one["user"].as_str().map_or_else(|| "anybody".to_owned(), |user| one_line(user, 60));
        let expires = one["expires_at"].as_i64().map_or_else(String::new, |at| when::show(Timestamp(at)));
        let (used, most) = (one["uses"].as_u64().unwrap_or_default(), one["max_uses"].as_u64().unwrap_or_default());
        let (id, standing, scope, by) = (text("id"), text("standing"), text("scope"), text("invited_by"));
        format!("{id} {standing:7} {scope:5} for {user}, accepted {used} of {most} times, by {by}, until {expires}")
    };
    let text = invitations.iter().map(line).collect::<Vec<_>>().join("\n");
    Answer::new(text, json!({ "invitations": invitations }))
}
