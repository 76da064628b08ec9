//! The command line of the server: its commands and their options.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgGroup, Command, value_parser};
use weir_http::options::{address_options, limit_options};

pub(crate) const SERVE: &str = "serve";
/// The longest time between two copies of an index, in minutes: a day.
const MAX_COPY_MINUTES: u64 = 24 * 60;
/// The most connections that a server may open to its database.
const MAX_DATABASE_CONNECTIONS: u64 = 1_000;
/// The place of the option that every command has: after its own, and before `--help`, which has 999.
const JSON_ORDER: usize = 998;
/// The tenant of a server that has one.
const DEFAULT_TENANT: &str = "team";

const AFTER_HELP: &str = "\
Examples:
  weir-server init ana --data /srv/weir                      create a team, and print a token
  weir-server serve --data /srv/weir                         serve it
  weir-server invite ben --data /srv/weir --valid-for 90d    print a token that may read and write
  weir-server invite bot --data /srv/weir --scope read --project github.com/acme/api
  weir-server list --data /srv/weir                          list tokens, without their secrets
  weir-server rotate 00112233445566ff --data /srv/weir       replace a token with a new one
  weir-server revoke --user ben --data /srv/weir             revoke all tokens of a user
  weir-server migrate --data /srv/weir --dry-run             show what would move to PostgreSQL
  weir-server delete old --data /srv/weir --confirm old      delete a tenant for good
  weir-server erase ben --data /srv/weir --confirm ben       remove a user's notes and name
  weir-server audit --data /srv/weir --keep 90d              delete older rows of the audit
  weir-server move acme --to two --directory @directory      move a tenant to another database

A token is printed once, and only its hash is stored. docs/team.md describes the server and its routes.";

pub(crate) fn command() -> Command {
    let init = Command::new("init")
        .about("Prepare the database, create a tenant, and print its admin's token")
        .args([user(), tenant(), max_records(), max_bytes(), cell(), directory(), end_update()])
        .args(places());
    let invite = Command::new("invite")
        .about("Print a new token for a user")
        .args([user(), tenant(), scope(), project(), valid_for(), directory()])
        .args(places());
    let list = Command::new("list").about("List the tokens of a tenant").args([tenant(), directory()]).args(places());
    let rotate = Command::new("rotate")
        .about("Replace a token: print a new one with the same rights, and revoke the old one")
        .args([token().required(true), tenant(), directory()])
        .args(places());
    let of_user = Arg::new("user").long("user").value_name("USER").help("Revoke all tokens of this user");
    let revoke = Command::new("revoke")
        .about("Revoke a token, or all tokens of a user")
        .args([token(), of_user, tenant(), directory()])
        .args(places())
        .group(ArgGroup::new("which").args(["token", "user"]).required(true));
    let groups = [init, invite, list, rotate, revoke]
        .map(|command| command.group(ArgGroup::new("place").args(["data", "database", "directory"]).required(true)));
    let [init, invite, list, rotate, revoke] = groups;
    let json = Arg::new("json")
        .long("json")
        .action(ArgAction::SetTrue)
        .global(true)
        .display_order(JSON_ORDER)
        .help("Print the answer as JSON");
    Command::new("weir-server")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Serve the notes and records of a team")
        .after_long_help(AFTER_HELP)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(json)
        .subcommands([
            init,
            serve(),
            invite,
            list,
            rotate,
            revoke,
            migrate(),
            delete(),
            erase(),
            audit(),
            cells(),
            move_tenant(),
        ])
}

fn serve() -> Command {
    let [data, database] = places();
    let options = [
        data.required(true).help("Folder for the team's data; with --database, for the index and the texts"),
        database,
        directory(),
        Arg::new("database-connections")
            .long("database-connections")
            .value_name("NUMBER")
            .value_parser(value_parser!(u64).range(2..=MAX_DATABASE_CONNECTIONS))
            .requires("store")
            .help("Maximum number of connections to each database, half of them for one tenant [default: 16]"),
        texts()
            .requires("store")
            .help("Where to keep the texts: a folder or s3://BUCKET/PREFIX, shared by all servers of the database"),
        Arg::new("copy-index")
            .long("copy-index")
            .value_name("MINUTES")
            .value_parser(value_parser!(u64).range(0..=MAX_COPY_MINUTES))
            .requires("store")
            .help(
                "Copy a changed index next to the texts at this interval, and when the server stops; a server without \
                 an index starts from the newest copy; 0 turns this off [default: 10 with s3://, otherwise 0]",
            ),
        Arg::new("operator-metrics")
            .long("operator-metrics")
            .value_name("ADDRESS")
            .value_parser(value_parser!(std::net::SocketAddr))
            .help("Serve the operator's figures for Prometheus on this address and port, without a token and TLS"),
        Arg::new("semantic")
            .long("semantic")
            .action(ArgAction::SetTrue)
            .requires("store")
            .help("Also search by meaning, with the built-in model; an index without vectors is rebuilt"),
        oauth("oauth-issuer", "URL", ["resource", "oauth-keys"]).help("Also accept access tokens of this OAuth issuer"),
        oauth("resource", "URL", ["oauth-issuer", "oauth-keys"])
            .help("Address that these tokens must be issued for: the one that clients use"),
        oauth("oauth-keys", "FILE", ["oauth-issuer", "resource"])
            .value_parser(value_parser!(PathBuf))
            .help("JSON Web Key Set with the public keys of the issuer"),
    ];
    Command::new(SERVE)
        .about("Serve the teams of a folder or a database; `weir-server init` prepares it")
        .args(options)
        .group(ArgGroup::new("store").args(["database", "directory"]))
        .args(address_options())
        .args(limit_options())
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
            .help("Folder with the server's data"),
        Arg::new("database")
            .long("database")
            .value_name("URL")
            .help("PostgreSQL database, as postgresql://USER:PASSWORD@HOST/NAME, or @FILE to read that from a file"),
    ]
}

fn migrate() -> Command {
    let [data, database] = places();
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    Command::new("migrate").about("Move all tenants from a folder to PostgreSQL, while the old server runs").args([
        data.required(true).help("Folder with the data to move"),
        database.required_unless_present_any(["dry-run", "cancel"]),
        texts().help("Copy the texts to this folder or to s3://BUCKET/PREFIX [default: leave them where they are]"),
        flag("dry-run").help("Show what would be moved without moving it"),
        flag("cancel")
            .conflicts_with_all(["dry-run", "database", "texts"])
            .help("Release the lock of a move that was killed, so that the old server can write again"),
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
                .help("Repeat the name to confirm; this cannot be undone"),
            texts().requires("database").help("Delete the texts in this folder or in s3://BUCKET/PREFIX"),
        ])
        .args(places())
        .group(ArgGroup::new("place").args(["data", "database"]).multiple(true).required(true))
}

fn erase() -> Command {
    Command::new("erase")
        .about("Remove a user for good: their tokens, their notes, and their name in the audit")
        .args([
            user(),
            tenant(),
            Arg::new("confirm")
                .long("confirm")
                .value_name("USER")
                .help("Repeat the name to confirm; this cannot be undone"),
            texts().requires("database").help("Delete the texts in this folder or in s3://BUCKET/PREFIX"),
        ])
        .args(places())
        .group(ArgGroup::new("place").args(["data", "database"]).multiple(true).required(true))
}

fn audit() -> Command {
    Command::new("audit")
        .about("Delete old rows of the audit, of all tenants")
        .arg(
            Arg::new("keep")
                .long("keep")
                .value_name("TIME")
                .required(true)
                .help("Keep what is younger than this, such as 90d"),
        )
        .args(places())
        .group(ArgGroup::new("place").args(["data", "database"]).required(true))
}

fn cells() -> Command {
    let [_, database] = places();
    Command::new("cells").about("List databases, their tenants and unfinished moves, or add a database").args([
        directory().required(true),
        Arg::new("add")
            .long("add")
            .value_name("NAME")
            .requires("database")
            .help("Prepare the database and add it under this name, with the tenants that it has"),
        database.requires("add"),
    ])
}

fn move_tenant() -> Command {
    Command::new("move")
        .about("Move a tenant to another database, while its users go on")
        .args([
            Arg::new("name").value_name("TENANT").required(true).help("Name of the tenant"),
            Arg::new("to").long("to").value_name("CELL").help("Name of the database, as `weir-server cells` lists it"),
            Arg::new("undo")
                .long("undo")
                .action(ArgAction::SetTrue)
                .help("Take back a move that was interrupted; the tenant stays where it was"),
            directory().required(true),
        ])
        .group(ArgGroup::new("what").args(["to", "undo"]).required(true))
}

fn directory() -> Arg {
    Arg::new("directory")
        .long("directory")
        .value_name("URL")
        .help("Database that knows which database each tenant is in; a URL or @FILE, as for --database")
}

fn cell() -> Arg {
    Arg::new("cell")
        .long("cell")
        .value_name("NAME")
        .requires("directory")
        .help("Create the tenant in this database [default: the one with the fewest tenants]")
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
        .help("Tenant; the tenants of a server share nothing")
}

fn token() -> Arg {
    Arg::new("token").value_name("TOKEN").help("Token, or its id as `weir-server list` shows it")
}

fn max_records() -> Arg {
    Arg::new("max-records")
        .long("max-records")
        .value_name("NUMBER")
        .value_parser(value_parser!(u64).range(1..=i64::MAX as u64))
        .help("Maximum number of the tenant's records; also changes that of an existing tenant")
}

fn max_bytes() -> Arg {
    Arg::new("max-bytes")
        .long("max-bytes")
        .value_name("NUMBER")
        .value_parser(value_parser!(u64).range(1..=i64::MAX as u64))
        .help("Maximum size of the tenant's records and texts, in bytes; also changes that of an existing tenant")
}

fn end_update() -> Arg {
    Arg::new("end-update")
        .long("end-update")
        .action(ArgAction::SetTrue)
        .requires("database")
        .help("Also end an update: all servers run this version, and older ones may no longer start")
}

fn scope() -> Arg {
    Arg::new("scope")
        .long("scope")
        .value_name("SCOPE")
        .default_value("write")
        .value_parser(PossibleValuesParser::new(["read", "write", "admin"]))
        .help("What the token may do: read; write and forget the user's own entries too; read /metrics too")
}

fn project() -> Arg {
    Arg::new("project")
        .long("project")
        .value_name("KEY")
        .action(ArgAction::Append)
        .help("Limit the token to this project; can be repeated")
}

fn valid_for() -> Arg {
    Arg::new("valid-for")
        .long("valid-for")
        .value_name("TIME")
        .help("Let the token expire after this time, such as 8h or 90d")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_holds_together() {
        super::command().debug_assert();
    }
}
