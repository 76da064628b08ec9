//! Default names under which files can be found.
//!
//! Invariant: a file of the project has one name, whichever folder it was indexed with.

use std::path::Path;

use weir_core::Scope;
use weir_host::error::CommandError;
use weir_host::foreign;
use weir_store::Store;

use super::below;

/// The label of the whole project. The paths below it begin with it and are valid from the project's root.
pub(super) const ROOT: &str = ".";

/// Returns the label of a file or a folder: its path in the project, or its full path if it is outside.
pub(super) fn of(store: &Store, scope: &Scope, root: &Path, path: &Path) -> Result<String, CommandError> {
    let Some(inside) = below(root, path) else { return Ok(foreign::path_text(path)) };
    if inside.is_empty() {
        return Ok(ROOT.to_owned());
    }
    // A file that was indexed with the whole project keeps its name.
    let with_root = format!("{ROOT}/{inside}");
    let is_known = !store.known_files(scope, &with_root)?.is_empty();
    Ok(if is_known { with_root } else { inside })
}
