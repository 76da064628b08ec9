//! Settings as read: what is set, and by which line of which file.

use weir_host::config::{self, Config};
use weir_host::env::{WEIR_DATA, WEIR_OFF, WEIR_SESSION, WEIR_WORK};
use weir_host::error::CommandError;
use weir_host::foreign;
use weir_host::settings::{SETTINGS, SetLine, Setting as Known, set_lines};
use weir_pages::settings::{FileState, Group, SetBy, Setting, Settings, SettingsFile};
use weir_pages::{Prose, Text};
use weir_session::replay::prices::{self, Prices};

use super::view::{View, short_path};

/// The variables that are shown, with what they do.
const VARIABLES: [(&str, &str); 4] = [
    (WEIR_DATA, "The data folder."),
    (WEIR_WORK, "The work that a call belongs to, instead of the branch."),
    (WEIR_SESSION, "The session that a call belongs to."),
    (WEIR_OFF, "Makes hooks do nothing."),
];

pub(super) fn page(view: &View<'_>) -> Result<String, CommandError> {
    let context = &view.ui.context;
    let path = &context.paths().config;
    let home = context.env().home.as_deref();
    let shown = Text::from(short_path(path, home));
    let text = foreign::read_user_file(path, foreign::MAX_SETTINGS_BYTES);
    let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let lines = set_lines(text.as_deref().unwrap_or_default());
    // A file that cannot be used now changes nothing of what applies to the pages themselves.
    let (config, state) = match (config::read(path), &text) {
        (Ok(config), Ok(_)) => (config, FileState::Read(lines.len() as u64)),
        (Ok(config), Err(_)) => (config, FileState::Absent),
        (Err(error), _) => (context.config().clone(), FileState::Unreadable(error.message.into())),
    };
    let about = "yours: may set everything. A project has no such file, since it could loosen its own sandbox.";
    let file = SettingsFile { path: shown.clone(), about: about.into(), state };
    let of_prices = SettingsFile {
        path: short_path(&path.with_file_name("prices.toml"), home).into(),
        about: "yours: prices of models, besides those that are built in".into(),
        state: match prices::user_file(context.paths()).map(|path| Prices::read(Some(&path))) {
            None => FileState::Absent,
            Some(Ok(_)) => FileState::Used,
            Some(Err(error)) => FileState::Unreadable(error.message.into()),
        },
    };
    let mut groups = groups(&config, &lines, &shown);
    groups.push(variables(view));
    Ok(Settings { files: vec![file, of_prices], groups }.render(&view.shell))
}

fn groups(config: &Config, lines: &[SetLine], path: &Text) -> Vec<Group> {
    let mut groups: Vec<(&str, Group)> = Vec::new();
    for known in SETTINGS {
        let setting = setting(known, config, lines, path);
        match groups.iter_mut().find(|(table, _)| *table == known.table) {
            Some((_, group)) => group.settings.push(setting),
            None => {
                let name = if known.table.is_empty() { "general".into() } else { known.table.into() };
                groups.push((known.table, Group { name, settings: vec![setting] }));
            }
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn setting(known: &Known, config: &Config, lines: &[SetLine], path: &Text) -> Setting {
    let line = lines.iter().find(|line| line.sets(known));
    Setting {
        name: known.name.into(),
        value: (known.value)(config).into(),
        about: Prose::of(known.about),
        set_by: match line {
            Some(line) => SetBy::File { path: path.clone(), line: Some(line.number) },
            None => SetBy::Default,
        },
    }
}

/// Returns the variables of the environment that the pages were started with.
fn variables(view: &View<'_>) -> Group {
    let env = view.ui.context.env();
    let variable = |(name, about): &(&str, &str)| {
        let set = env.value(name);
        let value = set.map(|value| value.to_string_lossy().into_owned());
        Setting {
            name: (*name).into(),
            value: value.unwrap_or_else(|| "not set".to_owned()).into(),
            about: Prose::of(about),
            set_by: if set.is_some() { SetBy::Variable((*name).into()) } else { SetBy::Default },
        }
    };
    Group { name: "environment".into(), settings: VARIABLES.iter().map(variable).collect() }
}
