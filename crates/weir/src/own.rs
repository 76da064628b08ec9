//! Weir's own folders, which no tool may write: its configuration, its data and its cache.
//!
//! Invariant: a folder is protected both by its name and by where the name leads, whether it exists or not, since a
//! missing configuration could be planted.

use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::foreign::resolved;

/// Weir's own folders, each as named and as resolved.
#[derive(Debug, Clone)]
pub(crate) struct OwnPlaces {
    folders: Vec<PathBuf>,
    data: Vec<PathBuf>,
}

impl OwnPlaces {
    /// Returns the folders for a call.
    pub(crate) fn of(context: &Context) -> Self {
        let paths = context.paths();
        let both = |folder: &Path| [folder.to_owned(), resolved(folder)];
        let data = both(&paths.data).to_vec();
        let others = [paths.config.parent(), Some(paths.cache.as_path())].into_iter().flatten().flat_map(both);
        Self { folders: data.iter().cloned().chain(others).collect(), data }
    }

    /// Whether a path is one of the folders or below one.
    pub(crate) fn hold(&self, path: &Path) -> bool {
        let resolved = resolved(path);
        self.folders.iter().any(|folder| [path, &resolved].iter().any(|path| path.starts_with(folder)))
    }

    /// Whether a path is in the data folder, which only Weir's own calls may show.
    pub(crate) fn keep(&self, path: &Path) -> bool {
        self.data.iter().any(|folder| path.starts_with(folder))
    }
}

/// Whether the project contains the home folder, and therefore everything the user has.
pub(crate) fn holds_home(context: &Context) -> bool {
    let home = context.env().home.as_deref();
    home.is_some_and(|home| resolved(home).starts_with(&context.project().root))
}
