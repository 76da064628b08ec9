//! Settings as read: what is set, and by which line of which file.

mod table;

use weir_pages::Text;
use weir_pages::settings::{FileState, Group, SetBy, Setting, Settings, SettingsFile};

use super::view::{View, short_path};
use crate::config::{self, Config};
use crate::env::{WEIR_DATA, WEIR_OFF, WEIR_SESSION, WEIR_WORK};
use crate::error::CommandError;
use crate::foreign;
use table::{SETTINGS, Setting as Known};

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
    let prices = path.with_file_name("prices.toml");
    let of_prices = SettingsFile {
        path: short_path(&prices, home).into(),
        about: "yours: prices of models, besides those that are built in".into(),
        state: if prices.exists() { FileState::Read(0) } else { FileState::Absent },
    };
    let mut groups = groups(&config, &lines, &shown);
    groups.push(variables(view));
    Ok(Settings { files: vec![file, of_prices], groups }.render(&view.shell))
}

/// A line of the file that sets something.
struct SetLine {
    table: String,
    name: String,
    number: u64,
}

/// Returns the lines that begin a setting, by the table that they are in.
fn set_lines(text: &str) -> Vec<SetLine> {
    let mut table = String::new();
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
            table = name.trim().to_owned();
        } else if let Some((name, _)) = line.split_once('=')
            && !line.starts_with('#')
        {
            let (table, name) = match name.trim().rsplit_once('.') {
                Some((inner, name)) if table.is_empty() => (inner.trim().to_owned(), name.trim().to_owned()),
                _ => (table.clone(), name.trim().to_owned()),
            };
            if SETTINGS.iter().any(|known| known.table == table && known.name == name) {
                lines.push(SetLine { table, name, number });
            }
        }
    }
    lines
}

fn groups(config: &Config, lines: &[SetLine], path: &Text) -> Vec<Group> {
    let mut groups: Vec<(&str, Group)> = Vec::new();
    for known in SETTINGS {
        let setting = setting(known, config, lines, path);
        match groups.iter_mut().find(|(table, _)| *table == known.table) {
            Some((_, group)) => group.settings.push(setting),
            None => {
                let name = if known.table.is_empty() { "top of the file".into() } else { known.table.into() };
                groups.push((known.table, Group { name, settings: vec![setting] }));
            }
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn setting(known: &Known, config: &Config, lines: &[SetLine], path: &Text) -> Setting {
    let line = lines.iter().find(|line| line.table == known.table && line.name == known.name);
    Setting {
        name: known.name.into(),
        value: (known.value)(config).into(),
        about: known.about.into(),
        set_by: match line {
            Some(line) => SetBy::File { path: path.clone(), line: Some(line.number) },
            None => SetBy::Default,
        },
        ignored: Vec::new(),
    }
}

/// Returns the variables of the environment that the pages were started with.
fn variables(view: &View<'_>) -> Group {
    let env = view.ui.context.env();
    let variable = |(name, about): &(&str, &str)| {
        let set = env.named(&[(*name).to_owned()]).into_iter().next();
        let value = set.as_ref().map(|(_, value)| value.to_string_lossy().into_owned());
        Setting {
            name: (*name).into(),
            value: value.unwrap_or_else(|| "not set".to_owned()).into(),
            about: (*about).into(),
            set_by: if set.is_some() { SetBy::Variable((*name).into()) } else { SetBy::Default },
            ignored: Vec::new(),
        }
    };
    Group { name: "environment".into(), settings: VARIABLES.iter().map(variable).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_found_by_its_line() {
        let text = "# hold\nsandbox = \"off\"\nguide.tokens = 5\n[hold]\nasked_tokens = 9000 # why\n\
                    # flood_tokens = 1\n[fetch]\nallow = [\n  \"a=b\",\n]\nguide.tokens = 5\n";
        let lines = set_lines(text);
        let found: Vec<String> =
            lines.iter().map(|line| format!("{}.{}:{}", line.table, line.name, line.number)).collect();
        assert_eq!(found, [".sandbox:2", "guide.tokens:3", "hold.asked_tokens:5", "fetch.allow:8"]);
    }

    #[test]
    fn every_setting_of_the_documents_is_shown() {
        let page = include_str!("../../../../../docs/configuration.md");
        let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let documented = set_lines(example).len();
        assert_eq!(documented, SETTINGS.len(), "docs/configuration.md and the page differ");
        for line in example.lines().filter(|line| !line.starts_with('[')) {
            let Some((name, _)) = line.split_once(" = ") else { continue };
            assert!(SETTINGS.iter().any(|known| known.name == name.trim()), "{name} is not on the page");
        }
    }
}
