//! What a run may not see or change, by the user's rules and by what holds without them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::time::SystemTime;

use weir_context::Context;
use weir_context::permission;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::foreign;
use weir_host::os;
use weir_policy::masks::{self, Nearest, Places, Tree};
use weir_policy::rules::Rules;
use weir_store::private;

use super::environment::search_path;

/// Where programs are even when `PATH` does not say so.
const USUAL: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// How much is looked through for files to hide where the project is no project but holds the home folder, which is
/// hidden as a whole. Rules of the user's that go to any depth are kept at any depth, and cost the time.
const MAX_NEAREST_FILES: usize = 20_000;

/// What a run may not see or change.
pub(super) struct Masks {
    pub(super) hidden: Vec<PathBuf>,
    pub(super) read_only: Vec<PathBuf>,
    pub(super) programs: Vec<PathBuf>,
    /// What the caller is to know.
    pub(super) remark: Option<String>,
}

/// Finds what a run may not see or change by these rules.
pub(super) fn masks(context: &Context, rules: &Rules, folder: &Path) -> Result<Masks, CommandError> {
    let mut tree = tree(context);
    tree.look_at_nearest(permission::holds_home(context).then(|| Nearest {
        most: MAX_NEAREST_FILES,
        // These a run may see, although they lie in a home.
        whole: vec![folder.to_owned(), foreign::resolved(&context.env().folder)],
    }));
    let found = masks::Masks::expand(&mut tree, rules, &places(context, folder), SystemTime::now());
    drop(tree);
    if let Some(problem) = found.problems.iter().find(|problem| problem.refuse) {
        return Err(CommandError::new(ErrorKind::Denied, format!("{}: {}", problem.path.display(), problem.wrong))
            .hint("nothing was run, because something that the rules hide could not be hidden"));
    }
    let mut hidden = found.hidden;
    // What other runs printed is for `ctx_get`, which looks at who may see it.
    hidden.extend(context.paths().data.canonicalize());
    let path = search_path(context);
    let programs = found.programs.iter().flat_map(|name| binaries(name, &path)).collect();
    let remark = found.left_out.then(|| {
        let root = context.project().root.display();
        format!("files named like secrets are hidden only among the {MAX_NEAREST_FILES} nearest to {root}")
    });
    Ok(Masks { hidden, read_only: found.read_only, programs, remark })
}

/// The folders that patterns of paths are relative to.
pub(super) fn places(context: &Context, folder: &Path) -> Places {
    Places {
        home: context.env().home.clone().unwrap_or_else(|| "/".into()),
        project: context.project().root.clone(),
        folder: folder.to_owned(),
    }
}

/// Weir's own folders, which a run could otherwise change where they lie in what it may write, as with dotfiles. What
/// is not there yet is made, since only what is there can be protected.
pub(super) fn own_places(context: &Context, writable: &[PathBuf]) -> Vec<PathBuf> {
    let folders = [context.paths().config.parent(), Some(context.paths().data.as_path())];
    let is_inside = |folder: &&Path| {
        let real = foreign::resolved(folder);
        writable.iter().any(|root| real.starts_with(root))
    };
    let inside = folders.into_iter().flatten().filter(is_inside);
    inside.filter_map(|folder| private::folder(folder).and_then(|()| folder.canonicalize()).ok()).collect()
}

/// Every file by which a program of this name can be started, other names of the same file beside it included.
fn binaries(name: &str, path: &OsStr) -> Vec<PathBuf> {
    let folders = std::env::split_paths(path).chain(USUAL.iter().map(PathBuf::from));
    let mut found: Vec<PathBuf> = folders.filter_map(|folder| folder.join(name).canonicalize().ok()).collect();
    let mut others = Vec::new();
    for binary in &found {
        let (Ok(about), Some(folder)) = (binary.metadata(), binary.parent()) else { continue };
        if os::link_count(&about) > 1 {
            others.extend(os::other_names(folder, &about));
        }
    }
    found.extend(others);
    found.sort();
    found.dedup();
    found
}

pub(super) fn tree(context: &Context) -> MutexGuard<'_, Tree> {
    context.running().tree()
}

pub(super) fn too_large(error: masks::TreeError) -> CommandError {
    CommandError::new(ErrorKind::Denied, format!("cannot scan the project: {error}"))
        .hint("nothing was run, because nothing in it could be hidden; run from a smaller folder")
}
