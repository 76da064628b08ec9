//! The change of one file.

use std::path::PathBuf;

use weir_clients::setup::{Recipe, SetupScope};
use weir_gateway::entries::ServerEntry;
use weir_host::diff;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::user_files;

use super::gateway;
use super::ledger::{LedgerRecord, MovedServer};
use super::targets::ReadTarget;

pub(super) struct Step {
    /// The file itself, with symbolic links resolved.
    pub path: PathBuf,
    /// The path as a person writes it.
    pub name: String,
    /// The clients that the file belongs to.
    pub recipes: Vec<&'static Recipe>,
    /// Whether a teardown restores the old text byte for byte.
    pub exact: bool,
    /// The text, or `None` if there is no file.
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) whose: SetupScope,
    /// What the ledger will say of the file.
    pub(super) entry: Option<LedgerRecord>,
    /// The folders that setup created for the file.
    pub(super) folders: Vec<PathBuf>,
    /// The entries that Weir gets for servers of this file.
    pub(super) gains: Vec<(String, ServerEntry)>,
    /// The servers that this file has again.
    pub(super) returns: Vec<MovedServer>,
    /// What the difference must not show.
    pub(super) secrets: Vec<String>,
}

impl Step {
    /// Refuses to go on if the file is not as it was when the change was planned.
    pub(super) fn check_unchanged(&self) -> Result<(), CommandError> {
        if user_files::read(&self.path)? == self.before {
            return Ok(());
        }
        let message = format!("{} was changed meanwhile", self.path.display());
        Err(CommandError::new(ErrorKind::Failed, message).hint("run it again"))
    }

    pub(super) fn diff(&self) -> String {
        let diff = diff::unified(&self.name, self.before.as_deref(), self.after.as_deref());
        gateway::masked(diff, &self.secrets)
    }

    pub(super) fn is_for(&self, recipe: &Recipe) -> bool {
        self.recipes.iter().any(|other| other.name == recipe.name)
    }

    pub(super) fn verb(&self) -> &'static str {
        match (&self.before, &self.after, self.entry.is_some()) {
            (None, _, _) => "make",
            (_, None, _) => "remove",
            (_, _, true) => "change",
            (_, _, false) => "restore",
        }
    }

    /// Describes the change before it is made.
    pub(super) fn planned(&self) -> String {
        match self.verb() {
            "make" => format!("create {}", self.name),
            "restore" if !self.exact => format!("remove Weir's entries from {}", self.name),
            verb => format!("{verb} {}", self.name),
        }
    }

    /// Describes the change in the past tense.
    pub(super) fn done(&self) -> String {
        match self.verb() {
            "make" => format!("created {}", self.name),
            "remove" => format!("removed {}", self.name),
            "change" => format!("changed {}", self.name),
            _ if self.exact => format!("restored {}, byte for byte", self.name),
            _ => format!("removed Weir's entries from {}", self.name),
        }
    }
}

/// Returns the change of a file.
pub(super) fn step(target: ReadTarget, after: Option<String>, whose: SetupScope, entry: Option<LedgerRecord>) -> Step {
    Step {
        path: target.path,
        name: target.name,
        recipes: target.recipes,
        exact: false,
        before: target.text,
        after,
        whose,
        entry,
        folders: Vec::new(),
        gains: Vec::new(),
        returns: Vec::new(),
        secrets: Vec::new(),
    }
}

/// Returns the values of the variables and headers of servers.
pub(super) fn secrets_of(moved: &[MovedServer]) -> Vec<String> {
    let with_recipe = moved.iter().filter_map(|moved| Some((weir_clients::recipe(&moved.client)?, moved.taken())));
    with_recipe.flat_map(|(recipe, taken)| gateway::secrets(recipe, &taken)).collect()
}
