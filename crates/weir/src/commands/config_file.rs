//! `weir config`: shows the settings in force, names the file, and edits it. Invariant: it works with a file that
//! cannot be used, since that is when it is needed most.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use toml_edit::{DocumentMut, Item, Table};
use weir_host::answer::Answer;
use weir_host::config;
use weir_host::env::{Env, Paths};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::foreign;
use weir_host::settings::{SETTINGS, Setting, set_lines};
use weir_host::user_files;
use weir_store::private;

use super::editor;

pub(crate) const CONFIG: &str = "config";

/// What a new configuration file begins with.
const TEMPLATE: &str =
    "# Settings of Weir. `weir config show` lists all of them; what is not set here has its default.\n";

pub(crate) fn command() -> Command {
    let all = Arg::new("set").long("set").action(ArgAction::SetTrue).help("Only what the file sets");
    let show = Command::new("show").about("Show every setting, its value, and the line that sets it").arg(all);
    let path = Command::new("path").about("Print the path of the configuration file");
    let key =
        || Arg::new("key").value_name("KEY").required(true).help("Name of the setting, such as hold.by_product_tokens");
    let value = Arg::new("value").value_name("VALUE").required(true).num_args(1..).allow_hyphen_values(true);
    let set = Command::new("set")
        .about("Set a setting; comments and other settings stay as they are")
        .args([key(), value.help("Value; for a list, every item")]);
    let unset = Command::new("unset").about("Remove a setting, so that it has its default").arg(key());
    let edit = Command::new("edit").about("Open the configuration file in $VISUAL or $EDITOR, and check it afterwards");
    Command::new(CONFIG)
        .about("Show and edit the settings")
        .after_long_help(
            "Examples:\n  weir config show\n  weir config show --set\n  weir config set hold.by_product_tokens 4000\n  \
             weir config set hold.off Read 'Bash(npm test*)'\n  weir config unset hold.off\n  weir config edit\n  \
             cat \"$(weir config path)\"",
        )
        .subcommand(show)
        .subcommand(set)
        .subcommand(unset)
        .subcommand(path)
        .subcommand(edit)
}

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
        Some((verb @ ("set" | "unset"), arguments)) => {
            let key = arguments.get_one::<String>("key").map(String::as_str).unwrap_or_default();
            let values = match verb {
                "set" => arguments.get_many::<String>("value").map(|values| values.map(String::as_str).collect()),
                _ => None,
            };
            change(&paths, find(key)?, values)
        }
        Some((_, arguments)) => show(&paths, arguments.get_flag("set")),
        None => {
            let only_set = false;
            show(&paths, only_set)
        }
    }
}

/// Shows the settings in force, as the file would have them.
fn show(paths: &Paths, only_set: bool) -> Result<Answer, CommandError> {
    // What there is to set is worth knowing even if the file cannot be used.
    let (config, problem) = match config::read(&paths.config) {
        Ok(config) => (config, None),
        Err(problem) => (config::parse("", &paths.config)?, Some(problem)),
    };
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
    let mut text = shown.join("\n").trim_start().to_owned();
    let message = problem.as_ref().map(|problem| problem.message.clone());
    let data = json!({ "file": file, "problem": message, "settings": data });
    if let Some(problem) = &problem {
        text = format!(
            "{}\n\nUntil it is corrected, these are the settings:\n{text}",
            problem.to_string().replacen("error: ", "✗ ", 1)
        );
    }
    Ok(Answer { exit_code: problem.map(|problem| problem.kind.exit_code()), ..Answer::new(text, data) })
}

/// Finds a setting by its name, with or without its table.
fn find(key: &str) -> Result<&'static Setting, CommandError> {
    let is_meant = |setting: &&Setting| setting.key() == key || setting.name == key;
    let found: Vec<&Setting> = SETTINGS.iter().filter(is_meant).collect();
    let exact = found.iter().find(|setting| setting.key() == key);
    match (exact, found.as_slice()) {
        (Some(setting), _) | (None, [setting]) => Ok(setting),
        (None, []) => {
            let similar = |setting: &&Setting| {
                strsim::jaro_winkler(key, &setting.key()).max(strsim::jaro_winkler(key, setting.name))
            };
            let best = SETTINGS.iter().max_by(|one, other| similar(one).total_cmp(&similar(other)));
            let hint =
                best.map(|best| format!("did you mean `{}`? `weir config show` lists every setting", best.key()));
            Err(CommandError::usage(format!("there is no setting `{key}`")).hint(hint.unwrap_or_default()))
        }
        (None, several) => {
            let keys: Vec<String> = several.iter().map(|setting| setting.key()).collect();
            Err(CommandError::usage(format!("`{key}` is the name of several settings"))
                .hint(format!("use one of {}", keys.join(", "))))
        }
    }
}

/// Changes one setting of the file, or removes it. Nothing is written that could not be read again.
fn change(paths: &Paths, setting: &Setting, values: Option<Vec<&str>>) -> Result<Answer, CommandError> {
    let path = &paths.config;
    let cannot = |why: String| {
        CommandError::new(ErrorKind::Config, format!("cannot change {}: {why}", path.display()))
            .hint("`weir config edit` opens the file")
    };
    let before = config::text(path)?;
    let mut document: DocumentMut =
        before.parse().map_err(|error: toml_edit::TomlError| cannot(error.message().to_owned()))?;
    let table = match setting.table {
        "" => document.as_table_mut(),
        name => {
            let table = document.entry(name).or_insert(Item::Table(Table::new()));
            table.as_table_mut().ok_or_else(|| cannot(format!("`{name}` is not a table")))?
        }
    };
    let is_list = (setting.value)(&config::parse("", path)?).starts_with('[');
    match values {
        Some(values) => put(table, setting.name, value(&values, is_list)),
        None => drop(table.remove(setting.name)),
    }
    let after = document.to_string();
    let read =
        config::parse(&after, path).map_err(|error| CommandError::usage(error.message).hint("nothing was written"))?;
    // Half a file would lose settings, such as the folders in which Weir is off.
    let target = user_files::target(path);
    user_files::check_writable(&target)
        .and_then(|()| user_files::write(&target, &after, true))
        .map_err(|error| cannot(error.message))?;
    let (key, value) = (setting.key(), (setting.value)(&read));
    let text = format!("✓ {key} = {value} in {}; hooks and new commands use it from now on", path.display());
    Ok(Answer::new(text, json!({ "key": key, "value": value, "path": path.display().to_string() })))
}

/// Puts a value into a table, with the comments around the old one.
fn put(table: &mut Table, name: &str, mut value: toml_edit::Value) {
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => drop(table.insert(name, Item::Value(value))),
    }
}

/// Returns a value as the file has it: what reads like one, or else a text.
fn value(words: &[&str], is_list: bool) -> toml_edit::Value {
    let one = |word: &str| word.parse::<toml_edit::Value>().unwrap_or_else(|_| word.into());
    match words {
        [word] if !is_list || word.trim_start().starts_with('[') => one(word),
        items => toml_edit::Value::Array(items.iter().map(|item| one(item)).collect()),
    }
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
