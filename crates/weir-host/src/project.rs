//! Finds the project that a call is made in. Invariants: all work trees of a repository are one project; a folder
//! outside any repository is a project of its own; folders whose paths differ in any byte are different projects; a
//! project uses its own store, unless the user agreed that it shares another's.

mod place;

use std::path::{Path, PathBuf};

use weir_core::identity::normalise_remote;
use weir_core::{ProjectKey, Timestamp};
use weir_store::KnownProject;

use crate::foreign;
use crate::git::{self, Head, Repository};
use crate::os;
use crate::sharing::{self, SharedStore};
pub use place::recorded_place;

/// A directory tree with a store.
#[derive(Debug, Clone)]
pub struct Project {
    /// The key of the project whose store is used: this one, unless it shares the store of another.
    pub key: ProjectKey,
    pub root: PathBuf,
    repository: Option<Repository>,
    /// The name of the folder of its own store.
    own_name: String,
    shared: Option<SharedStore>,
}

impl Project {
    /// Finds the project that contains `folder`, and the store that it uses.
    pub fn locate(folder: &Path, data: &Path) -> std::io::Result<Self> {
        let own = Self::discover(folder)?;
        Ok(match sharing::find(data, &own.own_name, &own.key.0)? {
            Some(shared) => Self { key: ProjectKey(shared.owner.clone()), shared: Some(shared), ..own },
            None => own,
        })
    }

    /// Finds the project that contains `folder`, as if it shared no store.
    pub fn discover(folder: &Path) -> std::io::Result<Self> {
        let folder = os::real_path(folder)?;
        let repository = git::discover(&folder)?;
        let (key, root) = match &repository {
            Some(repository) => (format!("git:{}", foreign::path_text(&repository.common)), &repository.work_tree),
            None => (format!("path:{}", foreign::path_text(&folder)), &folder),
        };
        let home = repository.as_ref().map_or(root, |repository| &repository.common);
        let (own_name, root) = (store_name(home, &key), root.clone());
        Ok(Self { key: ProjectKey(key), root, repository, own_name, shared: None })
    }

    /// Returns a project that is known from before, as if it shared no store. If it is no longer where it was, it has
    /// no repository.
    pub fn of_known(known: &KnownProject) -> Self {
        match Self::discover(Path::new(&known.root)) {
            Ok(found) if found.key.0 == known.key && found.own_name == known.folder => found,
            _ => Self {
                key: ProjectKey(known.key.clone()),
                root: PathBuf::from(&known.root),
                repository: None,
                own_name: known.folder.clone(),
                shared: None,
            },
        }
    }

    /// Returns the name of the folder of the store that is used.
    pub fn folder_name(&self) -> &str {
        self.shared.as_ref().map_or(&self.own_name, |shared| &shared.folder)
    }

    /// Returns the name of the folder of the project's own store. It also names what is not shared with the store.
    pub fn own_folder_name(&self) -> &str {
        &self.own_name
    }

    /// Returns the key of the project itself, whichever store it uses.
    pub fn own_key(&self) -> &str {
        self.shared.as_ref().map_or(&self.key.0, |shared| &shared.user)
    }

    /// Returns the store of another folder, if the project uses one.
    pub fn shared(&self) -> Option<&SharedStore> {
        self.shared.as_ref()
    }

    pub fn as_known(&self, used_at: Timestamp) -> KnownProject {
        KnownProject {
            key: self.own_key().to_owned(),
            root: foreign::path_text(&self.root),
            folder: self.own_name.clone(),
            used_at,
            identity: None,
        }
    }

    pub fn repository(&self) -> Option<&Repository> {
        self.repository.as_ref()
    }

    /// Returns where the repository was cloned from, without credentials, as far as that can be read.
    pub fn remote(&self) -> Option<String> {
        let origin = self.repository.as_ref()?.origin().ok()??;
        normalise_remote(&origin)
    }

    /// Returns the repository's folders that are outside the work tree.
    pub fn git_folders(&self) -> impl Iterator<Item = &Path> {
        let folders = self.repository.iter().flat_map(Repository::folders);
        folders.filter(|folder| !folder.starts_with(&self.root))
    }

    /// Returns the branch that is checked out, if the project is a repository and on one.
    pub fn branch(&self) -> Option<String> {
        self.repository.as_ref().and_then(Repository::branch)
    }

    /// Returns what git has checked out, if the project is a repository.
    pub fn head(&self) -> std::io::Result<Head> {
        self.repository.as_ref().map_or_else(|| Ok(Head::default()), Repository::head)
    }
}

/// Returns the name of a store's folder: readable, and unique by the hash of the project's key. It is derived from the
/// repository rather than from the folder of the call, because it must be the same from every work tree.
fn store_name(home: &Path, key: &str) -> String {
    let home = if home.ends_with(".git") { home.parent().unwrap_or(home) } else { home };
    let name = home.file_name().and_then(|name| name.to_str()).unwrap_or("root");
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' });
    let plain: String = plain.take(40).collect();
    format!("{plain}-{}", &blake3::hash(key.as_bytes()).to_hex()[..16])
}
