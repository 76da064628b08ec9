//! Weir's own places, which no tool may write: its configuration, its data and its cache.
//!
//! Invariant: a place counts by its name and by where its name leads, whether it exists or not. A configuration that does
//! not exist yet is the one that could be planted.

use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::foreign::resolved;

/// The folders of Weir's own, each as it is named and as it resolves.
#[derive(Debug, Clone)]
pub(crate) struct OwnPlaces {
    folders: Vec<PathBuf>,
    data: Vec<PathBuf>,
}

impl OwnPlaces {
    /// Those of a call.
    pub(crate) fn of(context: &Context) -> Self {
        let paths = context.paths();
        let both = |folder: &Path| [folder.to_owned(), resolved(folder)];
        let data = both(&paths.data).to_vec();
        let others = [paths.config.parent(), Some(paths.cache.as_path())].into_iter().flatten().flat_map(both);
        Self { folders: data.iter().cloned().chain(others).collect(), data }
    }

    /// Whether a path is one of them, or below one.
    pub(crate) fn hold(&self, path: &Path) -> bool {
        let resolved = resolved(path);
        self.folders.iter().any(|folder| [path, &resolved].iter().any(|path| path.starts_with(folder)))
    }

    /// Whether a path is among what Weir keeps, which only its own calls may show.
    pub(crate) fn keep(&self, path: &Path) -> bool {
        self.data.iter().any(|folder| path.starts_with(folder))
    }
}

/// Whether the project holds the home folder, and so is the place of everything the user has rather than a project.
pub(crate) fn holds_home(context: &Context) -> bool {
    let home = context.env().home.as_deref();
    home.is_some_and(|home| resolved(home).starts_with(&context.project().root))
}
