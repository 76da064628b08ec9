//! Which line of the configuration file sets which setting.

pub use crate::config::{SETTINGS, Setting};

/// A line of the file that sets something.
pub struct SetLine {
    /// The table of the file; empty for the top.
    pub table: String,
    pub name: String,
    /// The number of the line, from 1.
    pub number: u64,
}

impl SetLine {
    pub fn sets(&self, setting: &Setting) -> bool {
        self.table == setting.table && self.name == setting.name
    }
}

/// Returns the lines that begin a setting, by the table that they are in.
pub fn set_lines(text: &str) -> Vec<SetLine> {
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
    fn every_setting_of_the_documents_is_known() {
        let page = include_str!("../../../docs/configuration.md");
        let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let documented = set_lines(example).len();
        assert_eq!(documented, SETTINGS.len(), "docs/configuration.md and the table differ");
        for line in example.lines().filter(|line| !line.starts_with('[')) {
            let Some((name, _)) = line.split_once(" = ") else { continue };
            assert!(SETTINGS.iter().any(|known| known.name == name.trim()), "{name} is not in the table");
        }
    }
}
