//! `weir team` and `weir serve --team`: a server for the notes and records of a team, and who may use it.
//!
//! Invariant: the options are the same in every build, and a build without the server says that it is one.

#[cfg(feature = "team")]
mod delete;
#[cfg(feature = "team")]
mod migrate;
#[cfg(feature = "team")]
mod serving;
#[cfg(feature = "team")]
mod storage;
#[cfg(feature = "team")]
mod texts;
#[cfg(feature = "team")]
mod tokens;
#[cfg(feature = "team")]
mod traces;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgGroup, Command, value_parser};

#[cfg(not(feature = "team"))]
pub(crate) use absent::{run, serve};
#[cfg(feature = "team")]
pub(crate) use serving::serve;
#[cfg(feature = "team")]
pub(crate) use tokens::run;

/// The name of the command.
pub(crate) const TEAM: &str = "team";
/// The longest time between two copies of an index, in minutes: a day.
const MAX_COPY_MINUTES: u64 = 24 * 60;
/// The tenant of a server that has one.
const DEFAULT_TENANT: &str = "team";

const AFTER_HELP: &str = "\
Examples:
  weir team init ana --data /srv/weir                          create it, and print its admin's token
  weir serve --team --data /srv/weir                           serve it
  weir team invite ben --data /srv/weir --valid-for 90d        print a token that may read and write
  weir team invite bot --data /srv/weir --scope read --project github.com/acme/api
  weir team list --data /srv/weir                              list tokens, without their secrets
  weir team rotate 00112233445566ff --data /srv/weir           replace a token by a new one
  weir team revoke --user ben --data /srv/weir                 revoke all tokens of a user
  weir team migrate --data /srv/weir --dry-run                 say what would go to PostgreSQL
  weir team delete old --data /srv/weir --confirm old          delete a tenant for good

A token is printed once, and only its hash is stored. docs/team.md describes the server and its routes.";

/// Returns the command.
pub(crate) fn command() -> Command {
    let init = Command::new("init")
        .about("Create a tenant and print a token of its admin; prepare the database first")
        .args([user(), tenant(), max_records(), max_bytes()])
        .args(places());
    let invite = Command::new("invite")
        .about("Print a new token for a user")
        .args([user(), tenant(), scope(), project(), valid_for()])
        .args(places());
    let list = Command::new("list").about("List the tokens of a tenant").arg(tenant()).args(places());
    let rotate = Command::new("rotate")
        .about("Print a new token with the rights of another one, and revoke that")
        .args([token().required(true), tenant()])
        .args(places());
    let of_user = Arg::new("user").long("user").value_name("USER").help("Revoke all tokens of this user");
    let revoke = Command::new("revoke")
        .about("Revoke a token, or all tokens of a user")
        .args([token(), of_user, tenant()])
        .args(places())
        .group(ArgGroup::new("which").args(["token", "user"]).required(true));
    let groups = [init, invite, list, rotate, revoke]
        .map(|command| command.group(ArgGroup::new("place").args(["data", "database"]).required(true)));
    let [init, invite, list, rotate, revoke] = groups;
    Command::new(TEAM)
        .about("Create a team on a server, issue and revoke its tokens, and move or delete it")
        .after_long_help(AFTER_HELP)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(init)
        .subcommand(invite)
        .subcommand(list)
        .subcommand(rotate)
        .subcommand(revoke)
        .subcommand(migrate())
        .subcommand(delete())
}

/// Returns the options of `weir serve` that are about a team.
pub(crate) fn serve_options() -> [Arg; 9] {
    let [data, database] = places();
    [
        Arg::new("team")
            .long("team")
            .action(ArgAction::SetTrue)
            .requires("data")
            .conflicts_with_all(["print-token", "revoke-tokens", "compat"])
            .help("Serve the notes and records of a team instead of this project; `weir team init` prepares it"),
        data.requires("team").help("Keep the team's data in this folder; with --database, its index and texts"),
        database.requires("team"),
        texts()
            .requires("database")
            .help("Keep the texts in this folder, or in s3://BUCKET/PREFIX; all servers of the database share them"),
        Arg::new("copy-index")
            .long("copy-index")
            .value_name("MINUTES")
            .value_parser(value_parser!(u64).range(0..=MAX_COPY_MINUTES))
            .requires("database")
            .help(
                "Copy the index to the place of the texts this often if it has changed, and at the end; a server \
                 without an index begins with the newest copy; 0 turns it off [default: 10 with s3://, otherwise 0]",
            ),
        Arg::new("semantic")
            .long("semantic")
            .action(ArgAction::SetTrue)
            .requires("database")
            .help("Search by meaning too, with the model inside the program; an index without vectors is made again"),
        oauth("oauth-issuer", "URL", ["resource", "oauth-keys"])
            .requires("team")
            .help("Accept access tokens of this OAuth issuer too"),
        oauth("resource", "URL", ["oauth-issuer", "oauth-keys"])
            .help("Accept them only for this address, which is the one that clients use"),
        oauth("oauth-keys", "FILE", ["oauth-issuer", "resource"])
            .value_parser(value_parser!(PathBuf))
            .help("Check their signatures with the public keys in this JSON Web Key Set"),
    ]
}

fn oauth(name: &'static str, value: &'static str, others: [&'static str; 2]) -> Arg {
    Arg::new(name).long(name).value_name(value).requires_all(others)
}

fn places() -> [Arg; 2] {
    [
        Arg::new("data")
            .long("data")
            .value_name("DIR")
            .value_parser(value_parser!(PathBuf))
            .help("Use the data of a server in this folder"),
        Arg::new("database")
            .long("database")
            .value_name("URL")
            .help("Use a server's PostgreSQL at postgresql://USER:PASSWORD@HOST/NAME; @FILE reads the URL from a file"),
    ]
}

fn migrate() -> Command {
    let [data, database] = places();
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    Command::new("migrate")
        .about("Move all tenants from a folder to PostgreSQL; the server may run until the end")
        .args([
            data.required(true).help("Move the data of a server in this folder"),
            database.required_unless_present_any(["dry-run", "cancel"]),
            texts().help("Copy the texts to this folder or to s3://BUCKET/PREFIX; without it, they stay"),
            flag("dry-run").help("Say what would be moved, and change nothing"),
            flag("cancel")
                .conflicts_with_all(["dry-run", "database", "texts"])
                .help("Let the old server write again after a move that was killed"),
        ])
}

fn delete() -> Command {
    Command::new("delete")
        .about("Delete a tenant with its records, texts and tokens; its audit stays")
        .args([
            Arg::new("name").value_name("TENANT").required(true).help("Name of the tenant"),
            Arg::new("confirm")
                .long("confirm")
                .value_name("TENANT")
                .help("Repeat the name, since nothing brings it back"),
            texts().requires("database").help("Delete the texts in this folder or in s3://BUCKET/PREFIX"),
        ])
        .args(places())
        .group(ArgGroup::new("place").args(["data", "database"]).multiple(true).required(true))
}

fn texts() -> Arg {
    Arg::new("texts").long("texts").value_name("PLACE")
}

fn user() -> Arg {
    Arg::new("user").value_name("USER").required(true).help("Name of the user, as the team knows them")
}

fn tenant() -> Arg {
    Arg::new("tenant")
        .long("tenant")
        .value_name("NAME")
        .default_value(DEFAULT_TENANT)
        .help("Use this tenant; tenants of one server share nothing")
}

fn token() -> Arg {
    Arg::new("token").value_name("TOKEN").help("Token, or its id as `weir team list` shows it")
}

fn max_records() -> Arg {
    Arg::new("max-records")
        .long("max-records")
        .value_name("NUMBER")
        .value_parser(value_parser!(u64).range(1..=i64::MAX as u64))
        .help("Let the tenant have at most this many records; also for a tenant that exists")
}

fn max_bytes() -> Arg {
    Arg::new("max-bytes")
        .long("max-bytes")
        .value_name("NUMBER")
        .value_parser(value_parser!(u64).range(1..=i64::MAX as u64))
        .help("Let the tenant have at most this many bytes of records and texts; also for a tenant that exists")
}

fn scope() -> Arg {
    Arg::new("scope")
        .long("scope")
        .value_name("SCOPE")
        .default_value("write")
        .value_parser(PossibleValuesParser::new(["read", "write", "admin"]))
        .help("Let the token read; also write and forget the user's own; or also read the figures of the server")
}

fn project() -> Arg {
    Arg::new("project")
        .long("project")
        .value_name("KEY")
        .action(ArgAction::Append)
        .help("Let the token use this project only; repeat it for more")
}

fn valid_for() -> Arg {
    Arg::new("valid-for")
        .long("valid-for")
        .value_name("TIME")
        .help("Let the token expire after this time, such as 8h or 90d")
}

/// What a build without the server does.
#[cfg(not(feature = "team"))]
mod absent {
    use clap::ArgMatches;

    use crate::answer::Answer;
    use crate::env::Env;
    use crate::error::{CommandError, ErrorKind};

    /// Says that there is no server.
    pub(crate) fn serve(_: &Env, _: &ArgMatches) -> Result<(), CommandError> {
        Err(not_built())
    }

    /// Says that there is no server.
    pub(crate) fn run(_: &Env, _: &ArgMatches) -> Result<Answer, CommandError> {
        Err(not_built())
    }

    fn not_built() -> CommandError {
        CommandError::new(ErrorKind::Failed, "this build has no team server; build with --features team")
            .hint("cargo install --locked --path crates/weir --features team")
    }
}
