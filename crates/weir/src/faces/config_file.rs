//! `weir config`: shows the settings in force, names the file, and edits it. Invariant: it works with a file that cannot
//! be used, since that is when it is needed most.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use weir_store::private;

use super::editor;
use super::settings::{SETTINGS, set_lines};
use crate::answer::Answer;
use crate::config;
use crate::env::{Env, Paths};
use crate::error::{CommandError, ErrorKind};
use crate::foreign;

/// The name of the command.
pub(crate) const CONFIG: &str = "config";

/// What a new configuration file begins with.
const TEMPLATE: &str =
    "# Settings of Weir. `weir config show` lists all of them; what is not set here has its default.\n";

/// Returns the command.
pub(crate) fn command() -> Command {
    let all = Arg::new("set").long("set").action(ArgAction::SetTrue).help("Only what the file sets");
    let show = Command::new("show").about("Show every setting, its value, and the line that sets it").arg(all);
    let path = Command::new("path").about("Print the path of the configuration file");
    let edit = Command::new("edit").about("Open the configuration file in $VISUAL or $EDITOR, and check it afterwards");
    Command::new(CONFIG)
        .about("Show and edit the settings")
        .after_long_help(
            "Examples:\n  weir config show\n  weir config show --set\n  weir config edit\n  \
             cat \"$(weir config path)\"",
        )
        .subcommand(show)
        .subcommand(path)
        .subcommand(edit)
}

/// Runs the command.
pub(crate) fn run(env: &Env, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let paths = env.paths().ok_or_else(|| {
        CommandError::new(ErrorKind::Config, "cannot find the home folder").hint("set HOME or XDG_CONFIG_HOME")
    })?;
    match arguments.subcommand() {
        Some(("path", _)) => {
            let path = paths.config.display().to_string();
            Ok(Answer::new(path.clone(), json!({ "path": path, "exists": paths.config.exists() })))
        }
        Some(("edit", _)) => edit(env, &paths),
        Some((_, arguments)) => show(&paths, arguments.get_flag("set")),
        None => {
            let only_set = false;
            show(&paths, only_set)
        }
    }
}

/// Shows the settings in force, as the file would have them.
fn show(paths: &Paths, only_set: bool) -> Result<Answer, CommandError> {
    let config = config::read(&paths.config).map_err(|error| error.hint("`weir config edit` opens the file"))?;
    let text = foreign::read_user_file(&paths.config, foreign::MAX_SETTINGS_BYTES).unwrap_or_default();
    let lines = set_lines(&String::from_utf8_lossy(&text));
    let file = paths.config.display().to_string();
    let (mut shown, mut data, mut table) = (Vec::new(), Vec::new(), "");
    for setting in SETTINGS {
        let line = lines.iter().find(|line| line.sets(setting)).map(|line| line.number);
        if only_set && line.is_none() {
            continue;
        }
        if setting.table != table {
            table = setting.table;
            shown.push(format!("\n[{table}]"));
        }
        let by = line.map_or_else(|| "default".to_owned(), |line| format!("{file}:{line}"));
        let value = (setting.value)(&config);
        shown.push(format!("{:<32} # {by}", format!("{} = {value}", setting.name)));
        data.push(json!({
            "table": setting.table,
            "name": setting.name,
            "value": value,
            "about": setting.about,
            "file": line.map(|_| &file),
            "line": line,
        }));
    }
    if shown.is_empty() {
        shown.push(format!("{file} sets nothing: every setting has its default"));
    }
    let text = shown.join("\n").trim_start().to_owned();
    Ok(Answer::new(text, json!({ "file": file, "settings": data })))
}

/// Opens the file in the editor, and checks it afterwards.
fn edit(env: &Env, paths: &Paths) -> Result<Answer, CommandError> {
    let path = &paths.config;
    let is_new = !path.exists();
    if is_new {
        let cannot = |error: std::io::Error| {
            CommandError::new(ErrorKind::Failed, format!("cannot write {}: {error}", path.display()))
        };
        path.parent().map_or(Ok(()), private::folder).map_err(cannot)?;
        std::fs::write(path, TEMPLATE).map_err(cannot)?;
    }
    let edited = editor::open(env, path);
    let is_untouched = is_new && std::fs::read(path).is_ok_and(|text| text == TEMPLATE.as_bytes());
    if is_untouched {
        // A file without a setting is of no use, and nothing else would remove it.
        let _ = std::fs::remove_file(path);
    }
    edited?;
    config::read(path)
        .map_err(|error| error.hint("`weir config edit` opens it again; until then, hooks hold nothing back"))?;
    let text = match is_untouched {
        true => "nothing was set".to_owned(),
        false => format!("✓ {} is valid; hooks and new commands use it from now on", path.display()),
    };
    Ok(Answer::new(text, json!({ "path": path.display().to_string(), "valid": true })))
}
