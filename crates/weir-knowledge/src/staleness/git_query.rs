//! Queries git about the objects of a repository, in a sandbox in which git can change nothing, has no network, and
//! sees no more than a run does.
//!
//! Invariant: git reads no configuration of the repository, because it may name programs to start. Instead of the
//! repository's own folder, git is shown one of ours, with the repository's objects and the checked-out commit.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir_context::Context;
use weir_host::config::Sandbox;
use weir_host::git::Repository;
use weir_runner::{Level, RunError, Spec};

/// Where git finds a repository inside a full sandbox, in its private `/tmp`.
const PLACE: &str = "/tmp/weir-git";
/// The longest list of the ends of a shallow history that is read, in bytes.
const MAX_SHALLOW_BYTES: u64 = 1 << 20;

/// Variables that keep git from doing anything besides its task.
const QUIET: &[(&str, &str)] = &[
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
];

/// A query about a repository.
pub struct GitQuery<'a> {
    pub repository: &'a Repository,
    pub head: &'a str,
    pub folder: &'a Path,
}

impl GitQuery<'_> {
    /// Returns git's output, within limits of time and length, or `None` if git cannot be run in a sandbox. `program`
    /// returns the command to start, given the path of git.
    pub fn ask(
        &self,
        context: &Context,
        patience: Duration,
        most: u64,
        program: impl Fn(&Path) -> Vec<OsString>,
    ) -> Option<Vec<u8>> {
        let git = find_git(context)?;
        let spec = Spec {
            visible: [git.parent()?, &self.repository.work_tree, &self.repository.common].map(Path::to_owned).to_vec(),
            ..Spec::new(Level::Full, program(&git), self.folder)
        };
        let spec = weir_run::masked(context, spec)?;
        match weir_run::output_of_with_limit(&self.placed(context, &spec, PLACE.into()), patience, most) {
            Err(RunError::Sandbox(problem)) if !problem.refused && context.config().sandbox != Sandbox::Required => {
                let scratch = weir_run::new_scratch(context).ok()?;
                let spec = Spec { level: Level::Landlock, scratch: Some(scratch.clone()), ..spec };
                let said =
                    weir_run::output_of_with_limit(&self.placed(context, &spec, scratch.clone()), patience, most);
                // In case no helper was there to remove it.
                let _ = std::fs::remove_dir_all(scratch);
                said.ok()
            }
            said => said.ok(),
        }
    }

    /// Returns the spec with a repository of ours at `place`, in which git finds the objects of this one.
    fn placed(&self, context: &Context, spec: &Spec, place: PathBuf) -> Spec {
        let format = match self.head.len() {
            64 => "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n",
            _ => "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
        };
        let mut files = vec![
            (place.join("HEAD"), format!("{}\n", self.head).into_bytes()),
            (place.join("config"), format.as_bytes().to_vec()),
            (place.join("refs/none"), Vec::new()),
        ];
        files.extend(shallow(self.repository).map(|text| (place.join("shallow"), text)));
        let objects = self.repository.common.join("objects");
        let own = [("GIT_DIR", place.into_os_string()), ("GIT_OBJECT_DIRECTORY", objects.into())];
        let own = own.into_iter().map(|(name, value)| (OsString::from(name), value));
        let quiet = QUIET.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let environment = context.env().for_runs().cloned().chain(own).chain(quiet).collect();
        Spec { environment, files, ..spec.clone() }
    }
}

/// Returns where the history of a shallow repository ends.
fn shallow(repository: &Repository) -> Option<Vec<u8>> {
    let path = repository.common.join("shallow");
    let about = path.symlink_metadata().ok()?;
    (about.is_file() && about.len() <= MAX_SHALLOW_BYTES).then(|| std::fs::read(path).ok()).flatten()
}

fn find_git(context: &Context) -> Option<PathBuf> {
    let path = weir_run::search_path(context);
    let programs = std::env::split_paths(&path).filter_map(|folder| Some(folder.canonicalize().ok()?.join("git")));
    programs.into_iter().find(|git| git.is_file())
}
