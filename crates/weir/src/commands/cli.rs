//! The command line. Invariant: standard output is data, standard error is for people.

#[cfg(test)]
mod advice_tests;

mod order;
mod printing;
mod summary;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use weir_context::Context;
use weir_core::query::terms;
use weir_gateway::{ClientPeer, Gateway};
use weir_host::answer::Answer;
use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::Face;
use weir_host::os;
use weir_host::paint;
use weir_host::signal;
use weir_operations::functions;
use weir_operations::tool_call;
use weir_operations::{Arguments, Effect, OPERATIONS};
use weir_run::unfinished::{self, AuditDepth};
use weir_session::{demo, prefix, replay, window};

use super::bug;
use super::call;
use super::config_file;
use super::handover;
use super::invite;
use super::live;
use super::man;
use super::notes;
use super::overview;
use super::policy;
use super::runs;
use super::servers;
use super::stores;
use super::switch;
use super::sync;
use super::{undo, uninstall, upgrade};
use crate::statusline;
use printing::Printing;

/// The command that exits with the code of what it runs.
const RUN: &str = "run";

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
            paint::show_error(&error);
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
  weir                             show the current state and the next step
  weir demo                        show what Weir does in a recorded session
  weir replay                      show what Weir would have saved so far
  weir setup                       connect your clients; shows what changes
  weir run 'make test'             run a command; its output is stored
  weir get                         read the newest entry, or one by reference
  weir history                     list what happened
  weir note \"Tests use port 7071\"  store a note
  weir search port tests           find the note
  weir stats                       count the tokens that were held back
  weir prefix                      show what every request repeats
  weir ui                          look at all of it in a browser
  weir off                         turn Weir off in this project
  weir doctor                      check everything, and say how to fix it

Every command has --help with examples, and --json for scripts. A command that a client starts prints what a model gets; \
--for-model shows you the same.";

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
    let for_model = Arg::new(printing::FOR_MODEL)
        .long(printing::FOR_MODEL)
        .action(ArgAction::SetTrue)
        .global(true)
        .hide(true)
        .help("Print what a model gets: within a budget, with marks around stored text, and times in UTC");
    Command::new("weir")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .after_long_help(AFTER_HELP)
        .args([json, folder, for_model])
        .subcommands(OPERATIONS.iter().filter_map(|operation| Some((operation.command_line)(operation.command?))))
        .subcommands(weir_setup::commands())
        .subcommands(switch::commands())
        .subcommands(stores::commands())
        .subcommands([
            runs::command(),
            call::command(),
            undo::command(),
            handover::command(),
            notes::command(),
            policy::command(),
            servers::command(),
            demo::command(),
            replay::command(),
            window::command(),
            prefix::command(),
            statusline::command(),
            functions::command(),
            weir_serve::command::command(),
            sync::command(),
            invite::command(),
            weir_proxy::command(),
            weir_ui::command(),
            mcp_command(),
            config_file::command(),
            bug::command(),
            upgrade::command(),
            uninstall::command(),
            completions_command(),
            man::command(),
        ])
}

fn completions_command() -> Command {
    Command::new("completions")
        .about("Print shell completions")
        .after_long_help("Example:\n  weir completions bash > ~/.local/share/bash-completion/completions/weir")
        .arg(Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell)))
}

fn mcp_command() -> Command {
    Command::new("mcp")
        .about("Serve the operations to an MCP client on standard input and output")
        .after_long_help(
            "Example for a client's configuration:\n  {\"command\": \"weir\", \"args\": [\"mcp\"]}\n\nOther MCP servers can \
             stand behind this one: `weir servers` lists them, and `weir setup --gateway` moves those of your clients.",
        )
        .arg(
            Arg::new("server")
                .long("server")
                .value_name("NAME")
                .help("Serve one of the servers behind Weir in its own name, and treat only its results"),
        )
}

fn dispatch(matches: &ArgMatches) -> Result<ExitCode, CommandError> {
    let (name, arguments) = matches.subcommand().unwrap_or((OVERVIEW, matches));
    let folder = matches.get_one::<PathBuf>("folder");
    folder.map_or(Ok(()), |folder| check_folder(folder))?;
    if let Some(shell) = (name == "completions").then(|| arguments.get_one::<clap_complete::Shell>("shell")).flatten() {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut command(), "weir", &mut script);
        return paint::written(std::io::stdout().write_all(&script));
    }
    if name == statusline::STATUSLINE {
        return Ok(statusline::main());
    }
    if name == man::MAN {
        return man::run(command(), arguments, folder.map(PathBuf::as_path)).map(|()| ExitCode::SUCCESS);
    }
    let mut env = Env::capture()?;
    if let Some(folder) = folder {
        env.folder = env.folder.join(folder);
    }
    match name {
        OVERVIEW => {
            let printing = Printing::of(&env, matches);
            printing.use_local_time();
            printing.finish(overview::answer(&env))
        }
        // These work without a context, since that needs a valid configuration.
        switch::OFF | switch::ON => {
            Printing::of(&env, arguments).finish(switch::run(&env, name == switch::OFF, arguments)?)
        }
        demo::DEMO => {
            let headings = demo::HEADINGS.map(str::to_owned);
            Printing::of(&env, arguments).finish_with(played(&env, arguments)?, &headings)
        }
        config_file::CONFIG => Printing::of(&env, arguments).finish(config_file::run(&env, arguments)?),
        _ => serve_or_call(&env, name, arguments),
    }
}

/// Plays the demo, until the user ends it.
fn played(env: &Env, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let is_stopped = AtomicBool::new(false);
    let runtime = runtime()?;
    std::thread::scope(|scope| {
        runtime.block_on(async {
            let play = async {
                let (done, answer) = tokio::sync::oneshot::channel();
                scope.spawn(|| drop(done.send(demo::run(env, arguments, &is_stopped))));
                answer.await.unwrap_or_else(|_| Err(CommandError::broken("the demo ended without an answer")))
            };
            tokio::pin!(play);
            tokio::select! {
                // Signals are heeded before there is anything to remove.
                biased;
                () = signal::asked_to_end() => is_stopped.store(true, Ordering::Relaxed),
                answer = &mut play => return answer,
            }
            // It ends before the next hook, and removes its folder.
            play.await
        })
    })
}

fn check_folder(folder: &Path) -> Result<(), CommandError> {
    let problem = match std::fs::metadata(folder) {
        Ok(about) if about.is_dir() => return Ok(()),
        Ok(_) => "it is not a folder".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(CommandError::usage(format!("cannot use {} as the project folder: {problem}", folder.display()))
        .hint("`--folder` (`-C`) takes the path of an existing folder"))
}

fn serve_or_call(env: &Env, name: &str, arguments: &ArgMatches) -> Result<ExitCode, CommandError> {
    let printing = Printing::of(env, arguments);
    if name == weir_serve::command::SERVE {
        let answer = weir_serve::command::run(env, arguments)?;
        return answer.map_or(Ok(ExitCode::SUCCESS), |answer| printing.finish(answer));
    }
    let runtime = runtime()?;
    let code = if name == "mcp" {
        let context = Context::new(env, Face::Mcp)?;
        let session = env.client_session.clone();
        let served = match arguments.get_one::<String>("server") {
            Some(server) => runtime.block_on(weir_mcp::serve_one(context, server, session)),
            None => runtime.block_on(weir_mcp::serve(context, session)),
        };
        served.map(|()| ExitCode::SUCCESS)
    } else {
        let live = if printing.is_for_person() { live::output() } else { None };
        // A file that cannot be used is one of the things that doctor reports.
        let new = if matches!(name, "doctor" | bug::BUG) { Context::despite_config } else { Context::new };
        let context = new(env, Face::Terminal)?
            .with_reader(printing.reader)
            .with_progress(paint::show_progress)
            .with_consent_prompt(paint::asker())
            .with_live_output(live);
        let remarks = unfinished::finish(context.paths(), AuditDepth::Full);
        remarks.iter().for_each(|remark| paint::warn(remark));
        // A server also answers programs, which read UTC.
        if name != "ui" && name != weir_proxy::PROXY {
            printing.use_local_time();
        }
        call(&runtime, context, name, arguments)
    };
    // A read of standard input that never ends must not keep the program from exiting.
    runtime.shutdown_background();
    code
}

/// Reports on windows and pauses, compared with how clients are set.
fn window_report(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let settings = window::ClientSettings {
        window: &|client| weir_setup::window_set(context, client),
        lifetimes: &|client| weir_setup::lifetimes_set(context, client),
    };
    window::run(context, arguments, &settings)
}

fn synced(context: &Context, arguments: &ArgMatches, printing: &Printing) -> Result<ExitCode, CommandError> {
    if arguments.get_flag("watch") {
        return Err(sync::watch(context, arguments, |answer| printing.finish(answer).map(drop)));
    }
    let answer = sync::run(context, arguments)?;
    answer.map_or(Ok(ExitCode::SUCCESS), |answer| printing.finish(answer))
}

fn call(
    runtime: &tokio::runtime::Runtime,
    context: Context,
    name: &str,
    arguments: &ArgMatches,
) -> Result<ExitCode, CommandError> {
    let printing = Printing::of(context.env(), arguments);
    if let Some(answer) = immediate(&context, name, arguments) {
        return printing.finish(answer?);
    }
    if name == "prefix" {
        let count = |starts| weir_operations::counted_parts(&context, starts);
        return printing.finish(prefix::run(&context, arguments, count)?);
    }
    if name == uninstall::UNINSTALL {
        let ask = |about: &str| paint::ask(about, "Remove this? [y/N]");
        let ask = paint::can_ask().then_some(&ask as &dyn Fn(&str) -> String);
        return printing.finish(uninstall::run(&context, arguments, ask)?);
    }
    if name == "ui" {
        return runtime.block_on(weir_ui::run(&context, arguments)).map(|()| ExitCode::SUCCESS);
    }
    if name == sync::SYNC {
        return synced(&context, arguments, &printing);
    }
    if let Some(running) = awaited(&context, name, arguments) {
        return printing.finish(runtime.block_on(running)?);
    }
    if name == "notes" {
        let answer = runtime.block_on(notes::review(&context, arguments))?;
        return printing.finish(answer);
    }
    if name == weir_proxy::PROXY {
        let answer = runtime.block_on(weir_proxy::run(&context, arguments))?;
        return printing.finish(answer);
    }
    let ask = |question: &str, about: &str| runtime.block_on(context.consent(question, about));
    if let Some(answer) = stores::run(&context, name, arguments, &ask) {
        return answer?.map_or(Ok(ExitCode::SUCCESS), |answer| printing.finish(answer));
    }
    if let Some(task) = weir_setup::task(name) {
        let ask = |about: &str| paint::ask(about, "Write this? [y/N, d shows the diff]");
        let ask = paint::can_ask().then_some(&ask as &dyn Fn(&str) -> String);
        let answer = weir_setup::run(&context, task, arguments, ask)?;
        return printing.finish(answer);
    }
    call_operation(runtime, &context, name, arguments)
}

/// Runs one of the commands that need only a context and their arguments.
fn immediate(context: &Context, name: &str, arguments: &ArgMatches) -> Option<Result<Answer, CommandError>> {
    Some(match name {
        "policy" => policy::check(context, arguments),
        "replay" => replay::run(context, arguments),
        "schema" => functions::run(context, arguments),
        "window" => window_report(context, arguments),
        upgrade::UPGRADE => upgrade::run(context),
        invite::INVITE => invite::run(context, arguments),
        handover::HANDOVER => handover::run(context, arguments),
        undo::UNDO => undo::run(context, arguments),
        _ => return None,
    })
}

/// A command that waits for other processes.
type RunningCommand<'a> = Pin<Box<dyn Future<Output = Result<Answer, CommandError>> + 'a>>;

/// Starts one of the commands that wait for other processes.
fn awaited<'a>(context: &'a Context, name: &str, arguments: &'a ArgMatches) -> Option<RunningCommand<'a>> {
    Some(match name {
        runs::RUNS => Box::pin(runs::run(context, arguments)),
        servers::SERVERS => Box::pin(servers::run(context, arguments)),
        call::CALL => Box::pin(call::run(context, arguments)),
        bug::BUG => Box::pin(bug::run(context, arguments)),
        _ => return None,
    })
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
    // A person who types a command means it. A model is told that Weir is off, as over MCP.
    if context.env().is_of_client()
        && operation.tool != "ctx_doctor"
        && let Some(off) = tool_call::off(context)
    {
        return Err(off.error());
    }
    let context_of_code = match operation.effect {
        Effect::Runs => {
            Gateway::new(context, ClientPeer::default()).for_code(context.clone(), runtime.handle().clone())
        }
        _ => context.clone(),
    };
    let mut running = operation.start(context_of_code, Arguments::Shell(arguments))?;
    let answer = runtime.block_on(async {
        tokio::select! {
            answer = &mut running => answer,
            () = signal::asked_to_end() => {
                // Ending a run stores its output so far, and its answer says where.
                if name == RUN && context.running().stop_all()
                    && let Ok(answer) = tokio::time::timeout(signal::SHUTDOWN_TIMEOUT, running).await
                {
                    return answer;
                }
                context.running().end_all(signal::SHUTDOWN_TIMEOUT).await;
                Err(weir_context::cancelled())
            }
        }
    })?;
    let words = if name == "search" { searched(arguments) } else { Vec::new() };
    Printing::of(context.env(), arguments).finish_with(answer, &words)
}

fn searched(arguments: &ArgMatches) -> Vec<String> {
    let queries = arguments.try_get_many::<String>("queries").ok().flatten().into_iter().flatten();
    queries.flat_map(|query| terms(query)).flat_map(|term| term.words).collect()
}

fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    let builder = || tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build();
    os::check_descriptors()
        .and_then(|()| builder())
        .map_err(|error| CommandError::new(ErrorKind::Failed, format!("cannot start: {error}")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_holds_together() {
        super::command().debug_assert();
    }

    #[test]
    fn the_examples_fit_a_small_terminal() {
        let lines = super::AFTER_HELP.lines().take_while(|line| !line.is_empty());
        assert!(lines.clone().count() > 10 && lines.into_iter().all(|line| line.chars().count() <= 78));
    }
}
