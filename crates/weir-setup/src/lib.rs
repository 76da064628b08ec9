//! `weir setup` and `weir teardown`: connect clients to Weir, and take that back.
//!
//! A plan says which files change and how, before anything is written (`plan`); the ledger remembers what was there
//! before (`ledger`). On request, servers of a client move behind Weir (`gateway`). [`health`] checks the result for
//! `weir doctor`, [`removal`] takes Weir out of every client, and [`servers`] lists the MCP servers in the user's own
//! settings.
//!
//! Which entries in which files make a client call Weir is data in `weir-clients` (`setup`); `weir-host` writes a
//! client's file without breaking it (`user_files`). The program asks the questions.
//!
//! # Invariants
//!
//! - Nothing is written that was not shown and agreed to. Nothing sets itself up.
//! - `weir teardown` gives a file its old text back, byte for byte. From a file that has changed since, it removes only
//!   Weir's entries.
//! - The ledger keeps only the parts of a file that setup replaced, since settings may contain secrets.
//! - For a project, nothing outside its folder is read or written, whatever links the repository has.
//! - A setting that would leave sessions no room to continue is refused, and the refusal says how many sessions that
//!   concerns.

mod explain;
mod gateway;
pub mod health;
mod ledger;
mod places;
mod plan;
pub mod removal;
pub mod servers;
mod step;
mod targets;
mod wishes;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use weir_clients::RECIPES;
use weir_clients::setup::{Basis, Recipe, Setting, SetupScope};
use weir_context::Context;
use weir_core::wording::counted;
use weir_host::answer::Answer;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::switch::{OFF_MEANS, Switch};
use weir_host::user_files;
use weir_session::pauses::{Lifetime, LifetimesSet};
use weir_session::replay::places as transcripts;

use places::Places;
use plan::SetupPlan;
use step::Step;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupCommand {
    Setup,
    Teardown,
}

/// Shows a text and asks whether the changes may be written. Returns what was typed, in lower case. `None` if there is
/// no one to ask.
pub type Asker<'a> = Option<&'a dyn Fn(&str) -> String>;

pub fn commands() -> [Command; 2] {
    let known = RECIPES.iter().map(|recipe| recipe.name).collect::<Vec<_>>().join(", ");
    let clients = || {
        Arg::new("clients")
            .value_name("CLIENT")
            .action(ArgAction::Append)
            .num_args(0..)
            .value_parser(clap::builder::PossibleValuesParser::new(RECIPES.iter().map(|recipe| recipe.name)))
            .hide_possible_values(true)
            .help(format!("Clients: {known} [default: those found on this machine]"))
    };
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let flags = || {
        [
            flag("project", "Use the settings of this project, which others may share, instead of your own"),
            flag("yes", "Write without asking"),
            flag("dry-run", "Show what would be written without writing it"),
            flag("diff", "Show each change line by line"),
        ]
    };
    let setup = Command::new("setup")
        .about("Register Weir's MCP server and hooks with your AI clients")
        .after_long_help(
            "Examples:\n  weir setup                       say what changes for the clients found, and ask\n  \
             weir setup --diff --dry-run      show every line that would change\n  weir setup claude codex --yes\n  \
             weir setup claude --project\n  \
             weir setup gemini --gateway github notion\n\nOther settings are not changed, and `weir \
             teardown` undoes everything. Exits with 6 if nothing was written because you did not confirm.",
        )
        .arg(clients())
        .args(flags())
        .args([
            Arg::new("window")
                .long("window")
                .value_name("TOKENS")
                .value_parser(clap::value_parser!(u64).range(8_000..=2_000_000))
                .conflicts_with("project")
                .help("Also have clients compact at this length; `weir window` says what each length costs"),
            Arg::new("gateway")
                .long("gateway")
                .value_name("SERVER")
                .num_args(0..)
                .conflicts_with("project")
                .help("Also put these MCP servers of the client behind Weir [default: all that can be]"),
            flag("status-line", "Also show `weir statusline` below the prompt, where the client has such a line")
                .conflicts_with("project"),
        ])
        .args(wishes::lifetimes());
    let teardown = Command::new("teardown")
        .about("Undo what `weir setup` wrote")
        .after_long_help(
            "Examples:\n  weir teardown\n  weir teardown codex --yes\n\nA file that has not changed since setup gets \
             its old text back, byte for byte. From a file that has changed, only Weir's entries are removed. The \
             stores are kept.",
        )
        .arg(clients())
        .args(flags());
    [setup, teardown]
}

pub fn task(name: &str) -> Option<SetupCommand> {
    match name {
        "setup" => Some(SetupCommand::Setup),
        "teardown" => Some(SetupCommand::Teardown),
        _ => None,
    }
}

pub fn run(
    context: &Context,
    task: SetupCommand,
    arguments: &ArgMatches,
    asker: Asker<'_>,
) -> Result<Answer, CommandError> {
    let whose = if arguments.get_flag("project") { SetupScope::Project } else { SetupScope::User };
    let places = Places::new(context)?;
    if whose == SetupScope::Project && places.project_is_home() {
        return Err(CommandError::usage("the home folder is not a project").hint("cd to a project, or omit --project"));
    }
    let named: Vec<&String> = arguments.get_many("clients").into_iter().flatten().collect();
    let recipes = chosen(&named, whose, task, &places)?;
    let plan = match task {
        SetupCommand::Setup => {
            let (wishes, lacking) = wishes::wishes(context, &places, &recipes, arguments)?;
            let mut plan = plan::setup(&places, &recipes, whose, wishes)?;
            plan.notes.extend(lacking);
            plan
        }
        SetupCommand::Teardown => plan::teardown(&places, &recipes, whose)?.whole()?,
    };
    let off = Switch::read(context.paths()).all_off(context.project(), &context.env().folder);
    let off: String =
        off.iter().map(|off| format!("Weir is {}: {OFF_MEANS}; {}\n", off.place(), off.remedy())).collect();
    let diff = || plan.steps.iter().map(Step::diff).collect::<Vec<_>>().join("\n");
    if plan.steps.is_empty() {
        if !arguments.get_flag("dry-run") {
            plan.carry_out(&places)?;
        }
        let text = off + &report_text(task, (&places, &recipes), &plan, false);
        return Ok(Answer::new(text, data(task, &plan, false)));
    }
    let transcripts = transcripts::find(context.env(), &[]).map_or(0, |places| places.found.len());
    let mut summary = off.clone();
    if task == SetupCommand::Setup {
        let data = places.short(&context.paths().data);
        summary.push_str(&explain::Explanation { recipes: &recipes, data, transcripts }.text());
        summary.push_str("\n\n");
    }
    summary.push_str(&explain::files(&plan));
    if arguments.get_flag("diff") {
        summary.push_str(&format!("\n\n{}", diff()));
    }
    let agreed = match asker {
        _ if arguments.get_flag("dry-run") => false,
        _ if arguments.get_flag("yes") => true,
        Some(ask) => agrees(ask, &summary, diff),
        None => false,
    };
    if agreed {
        plan.carry_out(&places)?;
        let mut text = off + &report_text(task, (&places, &recipes), &plan, true);
        text.extend((task == SetupCommand::Setup).then(|| what_next(transcripts)));
        return Ok(Answer::new(text, data(task, &plan, true)));
    }
    let see = if arguments.get_flag("diff") { "" } else { "\n--diff shows each change line by line" };
    let text = match asker {
        _ if arguments.get_flag("dry-run") => format!("{summary}{see}\nnothing was written: this was a dry run"),
        Some(_) => "nothing was written".to_owned(),
        None => format!(
            "{summary}{see}\nnothing was written: cannot ask for confirmation here; use --yes to write without asking"
        ),
    };
    let exit_code = (!arguments.get_flag("dry-run")).then_some(ErrorKind::Denied.exit_code());
    Ok(Answer { exit_code, ..Answer::new(text, data(task, &plan, false)) })
}

/// Asks until the answer is yes or no; the diff is shown on request.
fn agrees(ask: &dyn Fn(&str) -> String, summary: &str, diff: impl Fn() -> String) -> bool {
    let mut answer = ask(summary);
    while answer == "d" || answer == "diff" {
        answer = ask(&diff());
    }
    answer == "y" || answer == "yes"
}

/// Returns the length at which a client is set to compact, in tokens. Returns `None` if it is not set.
pub fn window_set(context: &Context, client: &str) -> Option<u64> {
    let window = weir_clients::recipe(client)?.window?;
    let places = Places::new(context).ok()?;
    let text = user_files::read(&user_files::target(&places.path(&window.setting.place))).ok()?.unwrap_or_default();
    window.length(&window.setting.get(&text).ok()??)
}

/// Returns how long the cache of a client's main conversations and of its subagents lives, if that is set.
pub fn lifetimes_set(context: &Context, client: &str) -> LifetimesSet {
    let Some(cache) = weir_clients::recipe(client).and_then(|recipe| recipe.cache) else { return [None; 2] };
    [cache.main, cache.subagents]
        .map(|setting| setting_value(context, &setting).and_then(|(value, _)| Lifetime::parse(value.as_str()?)))
}

/// Returns the value of a setting of a client and the path of its file, as a person writes it. Returns `None` if it is
/// not set.
pub fn setting_value(context: &Context, setting: &Setting) -> Option<(Value, String)> {
    let places = Places::new(context).ok()?;
    let path = places.path(&setting.place);
    let text = user_files::read(&user_files::target(&path)).ok()?.unwrap_or_default();
    Some((setting.get(&text).ok()??, places.short(&path)))
}

/// Names the next step, and mentions past sessions, if there are any.
fn what_next(transcripts: usize) -> String {
    let mut text = "\nnext: start your client in a project; `weir` then shows there what was held back".to_owned();
    if transcripts > 0 {
        let found = counted(transcripts, "transcript", "transcripts");
        text.push_str(&format!(
            "\n{found} of earlier sessions found: `weir import --dry-run` shows what this project has"
        ));
    }
    text
}

/// Returns the named clients, or those that are installed.
fn chosen(
    named: &[&String],
    whose: SetupScope,
    task: SetupCommand,
    places: &Places,
) -> Result<Vec<&'static Recipe>, CommandError> {
    let has_place = |recipe: &Recipe| recipe.parts_for(whose).next().is_some();
    if named.is_empty() {
        let all = RECIPES.iter().copied().filter(|recipe| has_place(recipe));
        let found: Vec<_> =
            all.filter(|recipe| task == SetupCommand::Teardown || places.is_installed(recipe)).collect();
        let nothing = "no clients found: neither their programs on the PATH nor their folders";
        return if found.is_empty() {
            Err(CommandError::new(ErrorKind::NotFound, nothing).hint("name one: weir setup claude"))
        } else {
            Ok(found)
        };
    }
    let mut recipes: Vec<&'static Recipe> = Vec::new();
    for recipe in named.iter().filter_map(|name| weir_clients::recipe(name)) {
        if !has_place(recipe) {
            let message = format!("{} has no project settings", recipe.title);
            return Err(CommandError::usage(message).hint("omit --project"));
        }
        if !recipes.iter().any(|other| other.name == recipe.name) {
            recipes.push(recipe);
        }
    }
    Ok(recipes)
}

/// Describes what happened, for a person.
fn report_text(
    task: SetupCommand,
    (places, recipes): (&Places, &[&'static Recipe]),
    plan: &SetupPlan,
    written: bool,
) -> String {
    let mut lines = Vec::new();
    for recipe in recipes {
        let steps: Vec<&Step> = plan.steps.iter().filter(|step| step.is_for(recipe)).collect();
        match (task, steps.is_empty()) {
            (SetupCommand::Setup, true) => lines.extend(health::already(places, recipe)),
            (SetupCommand::Teardown, true) => {}
            _ => {
                lines.push(format!("✓ {}", recipe.title));
                lines.extend(steps.iter().map(|step| format!("  {}", step.done())));
            }
        }
        if task == SetupCommand::Setup && written && !steps.is_empty() {
            lines.extend(recipe.then.map(|then| format!("  then: {then}")));
            if recipe.basis == Basis::Documented {
                lines.push("  based on its documentation; not tested with the real client".to_owned());
            }
        }
    }
    if lines.is_empty() {
        lines.push("no client settings mention Weir".to_owned());
    }
    lines.extend(plan.moves.iter().map(|line| format!("  {line}")));
    lines.extend(plan.notes.iter().cloned());
    lines.join("\n")
}

/// Describes what happened, for a program.
fn data(task: SetupCommand, plan: &SetupPlan, written: bool) -> Value {
    let files = plan.steps.iter().map(|step| {
        json!({
            "path": step.path,
            "clients": step.recipes.iter().map(|recipe| recipe.name).collect::<Vec<_>>(),
            "does": step.verb(),
            "exact": step.exact,
            "diff": step.diff(),
        })
    });
    json!({
        "task": if task == SetupCommand::Setup { "setup" } else { "teardown" },
        "written": written,
        "files": files.collect::<Vec<_>>(),
        "moves": plan.moves,
        "notes": plan.notes,
    })
}
