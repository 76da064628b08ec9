//! Finds the project that a call is made in. Invariants: all work trees of a repository are one project; a folder
//! outside any repository is a project of its own; folders whose paths differ in any byte are different projects.

use std::path::{Path, PathBuf};

use weir_core::ProjectKey;

use crate::foreign;
use crate::git::{self, Head, Repository};

/// A directory tree with an identity.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    /// The project's identity.
    pub key: ProjectKey,
    /// The root of the tree.
    pub root: PathBuf,
    repository: Option<Repository>,
}

impl Project {
    /// Finds the project that contains `folder`.
    pub(crate) fn discover(folder: &Path) -> std::io::Result<Self> {
        let folder = folder.canonicalize()?;
        Ok(match git::discover(&folder) {
            Some(repository) => Self {
                key: ProjectKey(format!("git:{}", foreign::path_text(&repository.common))),
                root: repository.work_tree.clone(),
                repository: Some(repository),
            },
            None => Self {
                key: ProjectKey(format!("path:{}", foreign::path_text(&folder))),
                root: folder,
                repository: None,
            },
        })
    }

    /// Returns the name of the store's folder: readable, and unique by the hash of the identity. It is derived from the
    /// repository rather than from the folder of the call, because it must be the same from every work tree.
    pub(crate) fn folder_name(&self) -> String {
        let home = self.repository.as_ref().map_or(&self.root, |repository| &repository.common);
        let home = if home.ends_with(".git") { home.parent().unwrap_or(home) } else { home };
        let name = home.file_name().and_then(|name| name.to_str()).unwrap_or("root");
        let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' });
        let plain: String = plain.take(40).collect();
        format!("{plain}-{}", &blake3::hash(self.key.0.as_bytes()).to_hex()[..16])
    }

    /// Returns the repository's folders that are outside the work tree.
    pub(crate) fn git_folders(&self) -> impl Iterator<Item = &Path> {
        let folders = self.repository.iter().flat_map(Repository::folders);
        folders.filter(|folder| !folder.starts_with(&self.root))
    }

    /// Returns what git has checked out, if the project is a repository.
    pub(crate) fn head(&self) -> Head {
        self.repository.as_ref().map(Repository::head).unwrap_or_default()
    }
}
