//! Sessions of any other program, as rows that are easy to write: who said what, and when.

use serde_json::{Value, json};

use crate::Client;
use crate::clients::claude::{CLAUDE, transcript as claude};
use crate::format::session::{Step, ToolResult};
use crate::format::{Draft, Format, RowReader, take, time};
use crate::wire::{first_text, text};

/// Any program that writes sessions as plain rows and uses Claude Code's tool names.
const PLAIN: Client = Client { name: "plain", title: "Plain rows", session: "plain", ..CLAUDE };

pub(super) const FORMAT: Format = Format {
    client: &PLAIN,
    folders: &[],
    database: None,
    extends_another: false,
    many: true,
    forks_copy: false,
    knows,
    reader: || Box::<PlainReader>::default(),
    hooks_for: claude::FORMAT.hooks_for,
};

fn knows(row: &Value) -> bool {
    row["session"].is_string() && row["role"].is_string()
}

/// The sessions of a file, in order of their first row.
#[derive(Default)]
struct PlainReader(Vec<Draft>);

impl RowReader for PlainReader {
    fn row(&mut self, mut row: Value) -> bool {
        let key = text(&row["session"]).to_owned();
        let text = text(&row["text"]).to_owned();
        let name = first_text(&row, &["tool"]).to_owned();
        let draft = match self.0.iter().position(|draft| draft.key == key) {
            Some(at) => &mut self.0[at],
            None => {
                self.0.push(Draft { key, ..Draft::default() });
                let last = self.0.len() - 1;
                &mut self.0[last]
            }
        };
        draft.rows += 1;
        // A row without an identifier is identified by its position.
        let position = draft.rows.to_string();
        draft.begin(time(&row["at"]), row["id"].as_str().unwrap_or(&position));
        draft.fill_missing(&row, ["session", "version", "folder", "branch"]);
        let step = match row["role"].as_str() {
            Some("user") => Step::Prompt { text },
            Some("assistant") => Step::Said { text, request: 0 },
            Some("summary") => Step::Compacted { text },
            Some("tool") => {
                let (key, response, failed) = (position, json!(text), row["failed"] == true);
                Step::Result(ToolResult { key, name, input: take(&mut row, "input"), text, response, failed })
            }
            _ => return false,
        };
        draft.push(step);
        true
    }

    fn drafts(&mut self) -> Vec<&mut Draft> {
        self.0.iter_mut().collect()
    }
}
