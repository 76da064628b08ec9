//! `weir sync`: connects a project to a team server, or to its own repository, and exchanges notes with it. Invariants:
//! only these options connect a project, never anything in a repository; a dry run sends nothing.

mod connecting;
mod forgetting;
mod git;
mod invitation;
mod sealing;
mod watch;

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use weir_context::Context;
use weir_core::Reference;
use weir_core::wording::{counted, one_line};
use weir_host::answer::{Answer, references};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::when;
use weir_store::{TeamConnection, TeamDb};
use weir_sync::{ConnectedServer, Exchange, GIT, NOTES_FOLDER, ReleasedToken, Report, Server, SharedFolder, Vault};

pub(crate) use self::watch::watch;

pub(crate) const SYNC: &str = "sync";
/// The folder in which a project that is not connected tries what it would send.
const TRIAL_FOLDER: &str = "team-trial";
/// How many notes a report names.
const MAX_NAMED: usize = 10;

const AFTER_HELP: &str = "\
Examples:
  weir sync --server https://weir.example.org --token-file ~/.weir-token   connect and sync
  weir-server invite ben --data /srv/weir | weir sync --server http://127.0.0.1:4747 --token-file -
  weir sync --server https://weir.example.org --invitation FILE            the same, with an admin's invitation
  weir sync                             send new notes, and receive your teammates'
  weir sync --watch                     the same again, whenever there is something new, until Ctrl-C
  weir sync --dry-run                   print exactly what would be sent
  weir sync --include k7f2m9q4xz        share this output too
  weir sync --forget k7f2m9q4xz         remove this note for the whole team
  weir sync --seal                      seal the project, so that its server cannot read it
  weir sync --key                       print the key of this machine, for a member to admit
  weir sync --git --as ana --include k7f2m9q4xz
                                        share this note as a file in the repository, without a server
  weir sync --stop                      end the connection; notes stay

The project's notes are shared, but a decision that a model wrote only once you have confirmed it. Captured events are \
never shared, and outputs only with --include. Through git, only notes named with --include are shared, and those that \
take their place. Clients with hooks sync after a session or a turn, and `weir mcp` listens for news as --watch does. \
docs/team.md has the details.";

pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let server = Arg::new("server").long("server").value_name("URL").requires(invitation::CREDENTIAL);
    let token = Arg::new("token-file").long("token-file").value_name("FILE").value_parser(value_parser!(PathBuf));
    let project = Arg::new("project").long("project").value_name("NAME").requires("server");
    let include = Arg::new("include").long("include").value_name("REF").num_args(1..);
    let stop = flag("stop", "End the connection and forget the server");
    let stop = stop.conflicts_with_all(["server", "include", "dry-run", "watch"]);
    let parse = |text: &str| Reference::parse(text).map_err(|error| error.to_string());
    let command = Command::new(SYNC)
        .about("Share the project's notes with a team, and receive your teammates' notes")
        .after_long_help(AFTER_HELP)
        .arg(server.help("Connect this project to a team server"))
        .arg(token.requires("server").help("File with the token, readable only by you; - reads standard input"))
        .arg(project.help("Name of the project on the server [default: where it was cloned from]"))
        .arg(include.value_parser(parse).help("Also share these entries, such as outputs"))
        .arg(flag("dry-run", "Print what would be sent without sending it"))
        .arg(flag("quiet", "Print nothing; `weir doctor` shows a failure"))
        .arg(stop);
    let command = forgetting::with_options(git::with_options(sealing::with_options(command)));
    watch::with_options(invitation::with_options(command))
}

/// Runs the command. Returns `None` if nothing is to be printed.
pub(crate) fn run(context: &Context, arguments: &ArgMatches) -> Result<Option<Answer>, CommandError> {
    let folder = context.project_folder();
    if arguments.get_flag("stop") {
        return stop(context, &folder).map(Some);
    }
    git::check(&folder, arguments)?;
    if arguments.get_flag("key") {
        return sealing::print_key(context).map(Some);
    }
    let (is_dry, is_quiet) = (arguments.get_flag("dry-run"), arguments.get_flag("quiet"));
    let asked = match arguments.get_one::<String>("server") {
        Some(url) => Some(connecting::connection(context, url, arguments)?),
        None => git::connection(arguments)?,
    };
    // A dry run with the server that the project is connected to is one of that connection.
    let is_known = match &asked {
        Some(asked) => is_connected_to(&folder, asked)?,
        None => false,
    };
    let offered = asked.as_ref().map(|asked| asked.token_file.clone());
    let asked = asked.filter(|_| !(is_dry && is_known));
    let trial = folder.join(TRIAL_FOLDER);
    let at = if is_dry && asked.is_some() { &trial } else { &folder };
    // The store's folder must exist before anything is put next to the log.
    context.with_stores_here(|open| open.project().map(|_| ()))?;
    let lock = match is_quiet {
        true => weir_sync::ExchangeLock::try_take(&folder)?,
        false => Some(weir_sync::ExchangeLock::wait(&folder)?),
    };
    // Another exchange is under way, and nobody waits for this one.
    let Some(_lock) = lock else { return Ok(None) };
    let result = exchange(context, at, asked, arguments);
    if is_dry {
        let _ = std::fs::remove_dir_all(&trial);
        if let Some(file) = &offered {
            release(context, file)?;
        }
    }
    match result {
        Err(error) if !is_dry => {
            note_problem(at, &error);
            if is_quiet { Ok(None) } else { Err(error) }
        }
        result => result.map(|answer| Some(answer).filter(|_| is_dry || !is_quiet)),
    }
}

fn exchange(
    context: &Context,
    at: &Path,
    asked: Option<TeamConnection>,
    arguments: &ArgMatches,
) -> Result<Answer, CommandError> {
    weir_store::private::folder(at).map_err(|error| CommandError::broken(&error.to_string()))?;
    let is_dry = arguments.get_flag("dry-run");
    let is_trial = is_dry && asked.is_some();
    let mut db = match asked.is_some() {
        true => TeamDb::open(at)?,
        false => TeamDb::open_existing(at)?.ok_or_else(not_connected)?,
    };
    if let Some(asked) = asked {
        let known = db.connection()?;
        let replaced = known.as_ref().map(|known| known.token_file.clone()).filter(|file| *file != asked.token_file);
        db.connect(&continued(known, asked))?;
        if let Some(file) = replaced {
            release(context, &file)?;
        }
    }
    let connection = db.connection()?.ok_or_else(not_connected)?;
    let named: Vec<Reference> = arguments.get_many::<Reference>("include").into_iter().flatten().copied().collect();
    for reference in named.iter().filter(|_| !is_dry) {
        db.wish_to_include(*reference)?;
    }
    forgetting::forget(context, &db, &connection, arguments)?;
    let server = server(context, &connection)?;
    let (scope, from) = (context.scope(), context.config().team.from.as_deref());
    let (vault, wish) = (Vault::read(&context.project_folder())?, sealing::wish(arguments));
    let vault = if is_dry { vault.in_memory() } else { vault };
    context.with_stores_here(|open| {
        let now = open.now;
        let about = connection.clone();
        let exchange = Exchange::new(db, connection, open.project()?, scope, now)?.taking_from(from).including(named);
        let exchange = exchange.sealed_by(vault, wish);
        if is_dry {
            let (records, report) = exchange.preview()?;
            let records = records.into_iter().map(sealing::previewed);
            return Ok(preview(&about, records.collect(), &report, is_trial));
        }
        weir_sync::mark_synced(at);
        Ok(describe(&about, &exchange.run(server.as_ref())?))
    })
}

/// Returns where a connection leads to.
fn server(context: &Context, connection: &TeamConnection) -> Result<Box<dyn Server>, CommandError> {
    if connection.server == GIT {
        return Ok(Box::new(SharedFolder::of(&context.project().root)));
    }
    let token = weir_sync::read_token(Path::new(&connection.token_file))?;
    let server = ConnectedServer::at(context.env(), &connection.server, token, connection.project.clone())?;
    Ok(Box::new(server))
}

/// Whether the project of a store is connected to the place that the options ask for.
fn is_connected_to(folder: &Path, asked: &TeamConnection) -> Result<bool, CommandError> {
    let Some(db) = TeamDb::open_existing(folder)? else { return Ok(false) };
    Ok(db.connection()?.is_some_and(|known| known.is_same_place(asked)))
}

/// Returns the new connection, or the known one with another token if it leads to the same place.
fn continued(known: Option<TeamConnection>, asked: TeamConnection) -> TeamConnection {
    match known {
        Some(known) if known.is_same_place(&asked) => TeamConnection { token_file: asked.token_file, ..known },
        _ => asked,
    }
}

/// Deletes a token that Weir has stored and that no project uses any more.
fn release(context: &Context, file: &str) -> Result<ReleasedToken, CommandError> {
    weir_sync::release_token(&context.paths().data, &context.project_stores(), Path::new(file))
}

fn stop(context: &Context, folder: &Path) -> Result<Answer, CommandError> {
    if !TeamDb::exists(folder)? {
        return Err(not_connected());
    }
    // An exchange that is under way would write the connection again.
    let _lock = weir_sync::ExchangeLock::wait(folder)?;
    let mut db = TeamDb::open(folder)?;
    let connection = db.connection()?.ok_or_else(not_connected)?;
    db.disconnect()?;
    weir_sync::forget_mark(folder);
    Vault::read(folder)?.expect_nothing()?;
    if connection.server == GIT {
        let text = format!("no longer shares notes in {NOTES_FOLDER}; its files, and notes already here, stay");
        return Ok(Answer::new(text, json!({ "server": GIT, "project": connection.project })));
    }
    let released = release(context, &connection.token_file)?;
    let (file, is_deleted) = (&connection.token_file, released == ReleasedToken::Deleted);
    let text = format!(
        "no longer connected to {}; notes already here stay here, and notes already sent stay on the server\n{}",
        one_line(&connection.server, 120),
        match released {
            ReleasedToken::Deleted => format!("its token was deleted from {file}"),
            ReleasedToken::InUse => format!("its token stays in {file}, since another project may use it"),
            ReleasedToken::Own => format!("its token is still in {file}"),
        }
    );
    let (server, project) = (&connection.server, &connection.project);
    let token = json!({ "file": file, "deleted": is_deleted });
    Ok(Answer::new(text, json!({ "server": server, "project": project, "token": token })))
}

fn note_problem(folder: &Path, error: &CommandError) {
    // What cannot be written here was printed, or is found by `weir doctor`.
    if let Ok(Some(mut db)) = TeamDb::open_existing(folder)
        && let Ok(Some(known)) = db.connection()
    {
        let failed = TeamConnection { problem: Some(error.message.clone()), tried_at: Some(when::now()), ..known };
        let _ = db.save(&failed, std::iter::empty());
    }
}

fn not_connected() -> CommandError {
    CommandError::new(ErrorKind::NotFound, "this project is not connected to a team server")
        .hint("connect it: weir sync --server URL --token-file FILE, or without a server: weir sync --git --as NAME")
}

fn raw(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

/// Shows what would be sent. A trial does not know what the server has from the user already.
fn preview(connection: &TeamConnection, records: Vec<Value>, report: &Report, is_trial: bool) -> Answer {
    let count = counted(records.len(), "record", "records");
    let most = if is_trial { "at most " } else { "" };
    let head = format!("would send {most}{count} to {} and nothing else:", one_line(&connection.server, 120));
    let lines = records.iter().map(ToString::to_string);
    let mut lines: Vec<String> = [head].into_iter().chain(lines).chain(waiting(report)).collect();
    if records.iter().any(|one| one.get("sealed").is_some()) {
        lines.push("each `record` would be sent as shown; only members can read what is `sealed` in it".into());
    }
    lines.extend(sealing::lines(report));
    let data = json!({
        "would_send": records,
        "at_most": is_trial,
        "unconfirmed": references(&report.unconfirmed),
        "sealed": sealing::data(report),
    });
    Answer::new(lines.join("\n"), data)
}

fn waiting(report: &Report) -> Option<String> {
    let named = references(&report.unconfirmed).join(" ");
    (!report.unconfirmed.is_empty()).then(|| {
        format!("decisions of a model that stay here until you confirm them: {named} (weir notes --confirm REF)")
    })
}

fn describe(connection: &TeamConnection, report: &Report) -> Answer {
    let (sent, received) = (report.sent, report.received.len());
    let mut lines = match connection.server == GIT {
        true => vec![git::head(report)],
        false => vec![format!(
            "`{}` on {}: sent {}, received {}",
            one_line(&connection.project, 120),
            one_line(&connection.server, 120),
            counted(sent, "record", "records"),
            counted(received, "note", "notes")
        )],
    };
    for one in report.received.iter().take(MAX_NAMED) {
        lines.push(format!("{} by {}: {}", one.reference, one_line(&one.user, 60), one_line(&one.title, 100)));
    }
    if received > MAX_NAMED {
        lines.push(format!("… and {} more: weir search --source {}", received - MAX_NAMED, weir_sync::SOURCE));
    }
    for one in &report.removed {
        let left = if one.remaining == 0 { "nothing is left of it" } else { "some of it is left: run `weir doctor`" };
        lines.push(format!("{} was removed by {}, here too; {left}", one.reference, one_line(&one.user, 60)));
    }
    lines.extend(remarks(report));
    lines.extend(sealing::lines(report));
    Answer::new(lines.join("\n"), data(report))
}

/// Says what was not exchanged, and what was unusual.
fn remarks(report: &Report) -> Vec<String> {
    let what = if report.sent > 0 { "not everything was sent" } else { "nothing was sent" };
    let mut lines: Vec<String> = report.unsent.iter().map(|why| format!("{what}: {why}")).collect();
    lines.extend(report.refused.iter().map(|why| format!("refused by the server: {why}")));
    if !report.too_long.is_empty() {
        lines.push(format!("too long to be shared: {}", references(&report.too_long).join(" ")));
    }
    lines.extend(waiting(report));
    if report.held > 0 {
        lines.push(format!("{} not taken ([team] from)", counted(report.held, "note was", "notes were")));
    }
    if report.unreadable > 0 {
        lines.push(format!("{} cannot be read", counted(report.unreadable, "shared record", "shared records")));
    }
    if report.is_rehosted {
        let why = "another machine was using this machine's identity, or this machine was restored to an older state";
        lines.push(format!("{why}; it now has a new identity"));
    }
    if report.is_put_back {
        lines.push("the server's log was restored to an older state; everything was sent and read again".to_owned());
    }
    lines
}

fn data(report: &Report) -> Value {
    let received = report
        .received
        .iter()
        .map(|one| json!({ "reference": one.reference.to_string(), "user": one.user, "title": one.title }));
    let removed = report
        .removed
        .iter()
        .map(|one| json!({ "reference": one.reference.to_string(), "user": one.user, "remaining": one.remaining }));
    json!({
        "sent": report.sent,
        "received": received.collect::<Vec<_>>(),
        "removed": removed.collect::<Vec<_>>(),
        "refused": report.refused,
        "unsent": report.unsent,
        "unconfirmed": references(&report.unconfirmed),
        "held": report.held,
        "unreadable": report.unreadable,
        "new_host": report.is_rehosted,
        "put_back": report.is_put_back,
        "sealed": sealing::data(report),
    })
}
