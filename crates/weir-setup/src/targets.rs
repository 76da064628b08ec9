//! Finds and reads the files that setup and teardown change.

use std::path::PathBuf;

use weir_clients::setup::{Part, Recipe, SetupScope};
use weir_host::error::CommandError;
use weir_host::user_files;

use super::places::Places;

/// A file, and Weir's parts in it.
pub(super) struct Target {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) recipes: Vec<&'static Recipe>,
    pub(super) parts: Vec<(&'static Recipe, &'static Part)>,
    /// The text, or `None` if there is no file.
    pub(super) text: Result<Option<String>, CommandError>,
    /// Whether it is a file of a project, and a symbolic link leads out of that project. Its text is not read.
    pub(super) is_outside: bool,
}

/// A file that could be read.
pub(super) struct ReadTarget {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) recipes: Vec<&'static Recipe>,
    pub(super) parts: Vec<(&'static Recipe, &'static Part)>,
    pub(super) text: Option<String>,
}

impl Target {
    /// Returns the file with its text, if it could be read.
    pub(super) fn read(self) -> Result<ReadTarget, CommandError> {
        let Self { path, name, recipes, parts, text, is_outside: _ } = self;
        Ok(ReadTarget { path, name, recipes, parts, text: text? })
    }
}

/// Returns the files of these clients, each once, in order.
pub(super) fn targets(places: &Places, recipes: &[&'static Recipe], whose: SetupScope) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    for recipe in recipes {
        for part in recipe.parts_for(whose) {
            let named = places.path(&part.place);
            let path = user_files::target(&named);
            let at = match targets.iter().position(|target| target.path == path) {
                Some(at) => at,
                None => {
                    let is_outside =
                        whose == SetupScope::Project && !user_files::stays_inside(&named, places.project());
                    let text = if is_outside { Ok(None) } else { user_files::read(&path) };
                    let name = places.short(&named);
                    targets.push(Target { path, name, recipes: Vec::new(), parts: Vec::new(), text, is_outside });
                    targets.len() - 1
                }
            };
            targets[at].parts.push((recipe, part));
            if !targets[at].recipes.iter().any(|other| other.name == recipe.name) {
                targets[at].recipes.push(recipe);
            }
        }
    }
    targets
}
