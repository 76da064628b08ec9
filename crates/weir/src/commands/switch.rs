//! `weir off` and `weir on`: turn Weir off and on, in a project, for a client or everywhere.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use weir_clients::RECIPES;
use weir_host::answer::Answer;
use weir_host::env::{Env, Paths};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::project::Project;
use weir_host::switch::{OFF_MEANS, Off, Switch, SwitchFile};

use super::overview::short;

pub(crate) const OFF: &str = "off";
pub(crate) const ON: &str = "on";

pub(crate) fn commands() -> [Command; 2] {
    let arguments = || {
        let client = Arg::new("client")
            .long("client")
            .value_name("CLIENT")
            .value_parser(PossibleValuesParser::new(RECIPES.iter().map(|recipe| recipe.name)))
            .hide_possible_values(true)
            .help("Only for this client, such as claude or codex, in every project");
        let everywhere = Arg::new("everywhere")
            .long("everywhere")
            .action(ArgAction::SetTrue)
            .conflicts_with("client")
            .help("In every project and for every client");
        [client, everywhere]
    };
    let off = Command::new(OFF)
        .about("Turn Weir off in this project: nothing is recorded, held back or added")
        .after_long_help(
            "Examples:\n  weir off\n  weir off --client codex\n  weir off --everywhere\n\nHooks do nothing from now on, \
             and clients get no tools. What is stored stays, and commands that you type still work. To leave a single \
             command alone, write `weir:off` anywhere in it.",
        )
        .args(arguments());
    let on = Command::new(ON)
        .about("Turn Weir on again")
        .after_long_help("Examples:\n  weir on\n  weir on --client codex\n  weir on --everywhere")
        .args(arguments());
    [off, on]
}

/// Runs a command. It needs no valid configuration.
pub(crate) fn run(env: &Env, turns_off: bool, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let paths = env.paths().ok_or_else(|| {
        CommandError::new(ErrorKind::Config, "cannot find the home folder").hint("set HOME or XDG_CONFIG_HOME")
    })?;
    let project = Project::locate(&env.folder, &paths.data).map_err(|error| {
        CommandError::new(ErrorKind::Failed, format!("cannot use {}: {error}", env.folder.display()))
    })?;
    if !turns_off && env.is_of_client() {
        let error = CommandError::new(ErrorKind::Denied, "cannot turn Weir on here: a client started this command");
        return Err(error.hint("only you can turn Weir on; run `weir on` in a terminal of your own"));
    }
    let meant = Meant::of(arguments, &project);
    SwitchFile::change(&paths, |file| meant.turn(file, turns_off))?;
    let place = meant.place(env);
    let text = match turns_off {
        true => format!(
            "✓ Weir is off {place}: {OFF_MEANS}\nClients that are running keep their tools, \
             which answer that Weir is off. What is stored stays. To turn Weir on again: weir {ON}{}",
            meant.option()
        ),
        false => match still_off(&paths, &meant, &project, &env.folder) {
            Some(off) => return Err(off.error()),
            None => format!(
                "✓ Weir is on {place}\nClients that were started while it was off get its tools when they restart"
            ),
        },
    };
    Ok(Answer::new(text, json!({ "off": turns_off, "where": place, "file": SwitchFile::path(&paths) })))
}

/// What a command is about.
enum Meant {
    Everywhere,
    Client(String),
    Project(Vec<PathBuf>),
}

impl Meant {
    fn of(arguments: &ArgMatches, project: &Project) -> Self {
        if arguments.get_flag("everywhere") {
            return Self::Everywhere;
        }
        match arguments.get_one::<String>("client") {
            Some(client) => Self::Client(client.clone()),
            None => {
                let repository = project.repository().map(|repository| repository.common.clone());
                let outside = repository.filter(|common| !common.starts_with(&project.root));
                Self::Project([project.root.clone()].into_iter().chain(outside).collect())
            }
        }
    }

    fn turn(&self, file: &mut SwitchFile, off: bool) {
        match self {
            Self::Everywhere => file.everywhere = off,
            Self::Client(client) => {
                file.clients.retain(|known| known != client);
                file.clients.extend(off.then(|| client.clone()));
            }
            Self::Project(folders) => {
                file.folders.retain(|known| !folders.contains(known));
                file.folders.extend(folders.iter().filter(|_| off).cloned());
            }
        }
    }

    /// Says what it is about, to follow "Weir is off".
    fn place(&self, env: &Env) -> String {
        match self {
            Self::Everywhere => "everywhere".to_owned(),
            Self::Client(client) => format!("for {client}"),
            Self::Project(folders) => {
                format!("in {}", folders.first().map_or_else(String::new, |root| short(env, root)))
            }
        }
    }

    fn option(&self) -> String {
        match self {
            Self::Everywhere => " --everywhere".to_owned(),
            Self::Client(client) => format!(" --client {client}"),
            Self::Project(_) => String::new(),
        }
    }
}

/// Returns why Weir is still off where it was to be turned on.
fn still_off(paths: &Paths, meant: &Meant, project: &Project, folder: &Path) -> Option<Off> {
    let switch = Switch::read(paths);
    match meant {
        Meant::Everywhere => switch.off_for(""),
        Meant::Client(client) => switch.off_for(client),
        Meant::Project(_) => switch.off_in(project, folder),
    }
}
