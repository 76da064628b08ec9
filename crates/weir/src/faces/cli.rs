//! The command line. Invariant: standard output is data, standard error is for people.

#[cfg(test)]
mod advice_tests;

mod order;
mod summary;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use weir_core::query::terms;

use super::{
    config_file, functions, http, live, man, mcp, notes, overview, paint, policy, proxy, signal, stores, sync, team, ui,
};
use super::{uninstall, upgrade};
use crate::answer::Answer;
use crate::context::Context;
use crate::env::Env;
use crate::error::{CommandError, ErrorKind};
use crate::face::Face;
use crate::operations::{Arguments, OPERATIONS};
use crate::replay;
use crate::run::unfinished::{self, AuditDepth};
use crate::{setup, statusline, when, window};

/// The command that exits with the code of what it runs.
const RUN: &str = "run";

/// Runs the program.
pub(crate) fn run() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let matches = match order::parse(command, &arguments) {
        Ok(matches) => matches,
        Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelp && summary::is_asked_for(&arguments) => {
            let _ = std::io::stdout().write_all(summary::SUMMARY.as_bytes());
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            let _ = error.print();
            let kind = ErrorKind::Usage;
            return ExitCode::from(match (error.use_stderr(), order::is_named(&arguments, RUN)) {
                (false, _) => 0,
                (true, true) => kind.exit_code_of_run(),
                (true, false) => kind.exit_code(),
            });
        }
    };
    match dispatch(&matches) {
        Ok(code) => code,
        Err(error) => {
            paint::clear_progress();
            let mut stderr = anstream::stderr().lock();
            let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
            let text = paint::safe(&error.to_string());
            let _ = writeln!(stderr, "{style}error:{style:#}{}", text.strip_prefix("error:").unwrap_or(&text));
            ExitCode::from(match matches.subcommand_name() {
                Some(RUN) => error.kind.exit_code_of_run(),
                _ => error.kind.exit_code(),
            })
        }
    }
}

/// The places of the options that every command has: after its own, and before `--help`, which has 999.
const JSON_ORDER: usize = 997;
const FOLDER_ORDER: usize = 998;

/// What is called without a command.
const OVERVIEW: &str = "";

const ABOUT: &str = "A context layer for AI coding agents: runs code, holds back long output, stores decisions";

const LONG_ABOUT: &str = "\
Weir runs code in a sandbox, holds back long output, stores a project's decisions and findings, and makes all of it searchable.

Everything stays on this machine, unless you connect a project to a team server. Each project has its own store, and secrets are removed before anything is written. Every stored entry has a reference such as [ctx:k7f2m9q4xz].";

const AFTER_HELP: &str = "\
One minute:
  weir                                    show the current state and the next step
  weir replay                             show what Weir would have saved so far
  weir setup                              connect your clients; shows what changes
  weir run 'make test'                    run a command; long output is held back
  weir history                            list what happened
  weir get k7f2m9q4xz                     read an entry by its reference
  weir note \"We use port 7071 in tests\"   store a note
  weir search port tests                  find the note
  weir stats                              count the tokens that were held back
  weir ui                                 look at all of it in a browser
  weir doctor                             check everything, and say how to fix it

Every command has --help with examples, and --json for scripts.";

/// Returns the complete command line: the operations, and the commands besides them.
fn command() -> Command {
    let json = Arg::new("json")
        .long("json")
        .action(ArgAction::SetTrue)
        .global(true)
        .display_order(JSON_ORDER)
        .help("Print the answer as JSON");
    let folder = Arg::new("folder")
        .short('C')
        .long("folder")
        .value_name("FOLDER")
        .value_parser(value_parser!(PathBuf))
        .global(true)
        .display_order(FOLDER_ORDER)
        .help("Run as if started in this folder");
    let mcp = Command::new("mcp")
        .about("Serve the operations to an MCP client on standard input and output")
        .after_long_help("Example for a client's configuration:\n  {\"command\": \"weir\", \"args\": [\"mcp\"]}");
    let completions = Command::new("completions")
        .about("Print shell completions")
        .after_long_help("Example:\n  weir completions bash > ~/.local/share/bash-completion/completions/weir")
        .arg(Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell)));
    Command::new("weir")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .after_long_help(AFTER_HELP)
        .args([json, folder])
        .subcommands(OPERATIONS.iter().filter_map(|operation| Some((operation.command_line)(operation.command?))))
        .subcommands(setup::commands())
        .subcommands(stores::commands())
        .subcommands([
            notes::command(),
            policy::command(),
            replay::command(),
            window::command(),
            statusline::command(),
            functions::command(),
            http::command::command().args(team::serve_options()),
            team::command(),
            sync::command(),
            proxy::command(),
            ui::command(),
            mcp,
            config_file::command(),
            upgrade::command(),
            uninstall::command(),
            completions,
            man::command(),
        ])
}

fn dispatch(matches: &ArgMatches) -> Result<ExitCode, CommandError> {
    let (name, arguments) = matches.subcommand().unwrap_or((OVERVIEW, matches));
    let folder = matches.get_one::<PathBuf>("folder");
    folder.map_or(Ok(()), |folder| check_folder(folder))?;
    if let Some(shell) = (name == "completions").then(|| arguments.get_one::<clap_complete::Shell>("shell")).flatten() {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut command(), "weir", &mut script);
        return written(std::io::stdout().write_all(&script));
    }
    if name == statusline::STATUSLINE {
        return Ok(statusline::main());
    }
    if name == man::MAN {
        return man::run(command(), arguments, folder.map(PathBuf::as_path)).map(|()| ExitCode::SUCCESS);
    }
    let mut env = Env::capture().map_err(|error| {
        CommandError::new(ErrorKind::Failed, format!("cannot use the current folder: {error}"))
            .hint("cd to a folder that exists")
    })?;
    if let Some(folder) = folder {
        env.folder = env.folder.join(folder);
    }
    match name {
        OVERVIEW => {
            use_local_time(matches);
            finish(overview::answer(&env), matches.get_flag("json"))
        }
        // It works without a context, since that needs a valid configuration.
        config_file::CONFIG => finish(config_file::run(&env, arguments)?, arguments.get_flag("json")),
        _ => serve_or_call(&env, name, arguments),
    }
}

/// Refuses a folder in which no command can run.
fn check_folder(folder: &Path) -> Result<(), CommandError> {
    let problem = match std::fs::metadata(folder) {
        Ok(about) if about.is_dir() => return Ok(()),
        Ok(_) => "it is not a folder".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(CommandError::usage(format!("cannot use {} as the project folder: {problem}", folder.display()))
        .hint("`--folder` (`-C`) takes the path of an existing folder"))
}

/// Shows local times if the answer goes to a person at a terminal.
fn use_local_time(arguments: &ArgMatches) {
    if is_for_terminal(arguments) {
        when::use_local_time();
    }
}

/// Whether the answer goes to a person at a terminal.
fn is_for_terminal(arguments: &ArgMatches) -> bool {
    use std::io::IsTerminal as _;
    !arguments.get_flag("json") && std::io::stdout().is_terminal()
}

/// Starts a server, or calls a command.
fn serve_or_call(env: &Env, name: &str, arguments: &ArgMatches) -> Result<ExitCode, CommandError> {
    if name == team::TEAM {
        return finish(team::run(env, arguments)?, arguments.get_flag("json"));
    }
    if name == http::command::SERVE && arguments.get_flag("team") {
        return team::serve(env, arguments).map(|()| ExitCode::SUCCESS);
    }
    if name == http::command::SERVE {
        let answer = http::command::run(env, arguments)?;
        return answer.map_or(Ok(ExitCode::SUCCESS), |answer| finish(answer, arguments.get_flag("json")));
    }
    let runtime = runtime()?;
    let code = if name == "mcp" {
        let context = Context::new(env, Face::Mcp)?;
        runtime.block_on(mcp::serve(context, env.client_session.clone())).map(|()| ExitCode::SUCCESS)
    } else {
        let live = if is_for_terminal(arguments) { live::output() } else { None };
        let context = Context::new(env, Face::Terminal)?
            .with_progress(paint::show_progress)
            .with_consent_prompt(paint::asker())
            .with_live_output(live);
        let remarks = unfinished::finish(context.paths(), AuditDepth::Full);
        remarks.iter().for_each(|remark| paint::warn(remark));
        call(&runtime, context, name, arguments)
    };
    // A read of standard input that never ends must not keep the program from exiting.
    runtime.shutdown_background();
    code
}

fn call(
    runtime: &tokio::runtime::Runtime,
    context: Context,
    name: &str,
    arguments: &ArgMatches,
) -> Result<ExitCode, CommandError> {
    // A server also answers programs, which read UTC.
    if name != "ui" && name != proxy::PROXY {
        use_local_time(arguments);
    }
    if name == "policy" {
        return finish(policy::check(&context, arguments)?, arguments.get_flag("json"));
    }
    if name == "replay" {
        return finish(replay::run(&context, arguments)?, arguments.get_flag("json"));
    }
    if name == "schema" {
        return finish(functions::run(&context, arguments)?, arguments.get_flag("json"));
    }
    if name == "window" {
        return finish(
            window::run(&context, arguments, |client| setup::window_set(&context, client))?,
            arguments.get_flag("json"),
        );
    }
    if name == upgrade::UPGRADE {
        return finish(upgrade::run(&context)?, arguments.get_flag("json"));
    }
    if name == uninstall::UNINSTALL {
        let ask = |about: &str| paint::ask(about, "Remove this? [y/N]");
        let ask = paint::can_ask().then_some(&ask as &dyn Fn(&str) -> String);
        return finish(uninstall::run(&context, arguments, ask)?, arguments.get_flag("json"));
    }
    if name == "ui" {
        return runtime.block_on(ui::run(&context, arguments)).map(|()| ExitCode::SUCCESS);
    }
    if name == sync::SYNC {
        let answer = sync::run(&context, arguments)?;
        return answer.map_or(Ok(ExitCode::SUCCESS), |answer| finish(answer, arguments.get_flag("json")));
    }
    if name == "notes" {
        let answer = runtime.block_on(notes::review(&context, arguments))?;
        return finish(answer, arguments.get_flag("json"));
    }
    if name == proxy::PROXY {
        let answer = runtime.block_on(proxy::run(&context, arguments))?;
        return finish(answer, arguments.get_flag("json"));
    }
    let ask = |question: &str, about: &str| runtime.block_on(context.consent(question, about));
    if let Some(answer) = stores::run(&context, name, arguments, &ask) {
        return answer?.map_or(Ok(ExitCode::SUCCESS), |answer| finish(answer, arguments.get_flag("json")));
    }
    if let Some(task) = setup::task(name) {
        let ask = |about: &str| paint::ask(about, "Write this? [y/N, d shows the diff]");
        let ask = paint::can_ask().then_some(&ask as &dyn Fn(&str) -> String);
        let answer = setup::run(&context, task, arguments, ask)?;
        return finish(answer, arguments.get_flag("json"));
    }
    call_operation(runtime, &context, name, arguments)
}

fn call_operation(
    runtime: &tokio::runtime::Runtime,
    context: &Context,
    name: &str,
    arguments: &ArgMatches,
) -> Result<ExitCode, CommandError> {
    let operation = OPERATIONS
        .iter()
        .find(|operation| operation.command == Some(name))
        .ok_or_else(|| CommandError::usage(format!("unknown command `{name}`")))?;
    let running = operation.start(context.clone(), Arguments::Shell(arguments))?;
    let answer = runtime.block_on(async {
        tokio::select! {
            answer = running => answer,
            () = signal::asked_to_end() => {
                // Ending the runs stores their output so far.
                context.running().end_all(signal::SHUTDOWN_TIMEOUT).await;
                Err(crate::context::cancelled())
            }
        }
    })?;
    let words = if name == "search" { searched(arguments) } else { Vec::new() };
    finish_with(answer, arguments.get_flag("json"), &words)
}

/// Returns the words that were searched for.
fn searched(arguments: &ArgMatches) -> Vec<String> {
    let queries = arguments.try_get_many::<String>("queries").ok().flatten().into_iter().flatten();
    queries.flat_map(|query| terms(query)).flat_map(|term| term.words).collect()
}

fn finish(answer: Answer, json: bool) -> Result<ExitCode, CommandError> {
    finish_with(answer, json, &[])
}

/// Shows an answer, with these words in bold, and returns its exit code.
fn finish_with(answer: Answer, json: bool, words: &[String]) -> Result<ExitCode, CommandError> {
    let (found, exit_code) = (answer.found, answer.exit_code);
    let shown = show(answer, json, words)?;
    Ok(match exit_code {
        Some(code) => ExitCode::from(code),
        None if found => shown,
        None => ExitCode::from(ErrorKind::NotFound.exit_code()),
    })
}

fn show(answer: Answer, json: bool, words: &[String]) -> Result<ExitCode, CommandError> {
    paint::clear_progress();
    if let Some(raw) = answer.raw {
        if json {
            return Err(CommandError::usage("cannot write raw bytes as JSON").hint("omit --raw or --json"));
        }
        // Frame by frame, since the text may be larger than memory.
        let mut stdout = std::io::stdout().lock();
        for number in 0..raw.frame_count() {
            let frame = raw.frame(number)?;
            if let Err(error) = stdout.write_all(&frame) {
                return written(Err(error));
            }
        }
        return written(stdout.flush());
    }
    if json {
        let text = serde_json::to_string_pretty(&answer.data).unwrap_or_default();
        return written(writeln!(std::io::stdout(), "{}", paint::safe_json(&text)));
    }
    written(paint::print(&answer.text, words))
}

/// Converts the result of writing an answer. A closed pipe (`| head`) is not an error.
fn written(result: std::io::Result<()>) -> Result<ExitCode, CommandError> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CommandError::new(ErrorKind::Failed, format!("cannot write the answer: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .build()
        .map_err(|error| CommandError::new(ErrorKind::Failed, format!("cannot start: {error}")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_holds_together() {
        super::command().debug_assert();
    }
}
