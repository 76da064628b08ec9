//! Opens a file in the user's editor and waits for it.

use std::ffi::OsStr;
use std::path::Path;

use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};

/// The variables that name an editor, in the order in which they count.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];

/// The editor, if no variable names one.
const DEFAULT_EDITOR: &str = "vi";

/// Opens a file in the editor. As for git, the editor may be a command with options.
#[expect(clippy::disallowed_methods, reason = "the user asks for their own editor, on their own terminal")]
pub(super) fn open(env: &Env, path: &Path) -> Result<(), CommandError> {
    let named = VARIABLES.iter().find_map(|name| env.value(name));
    let editor = named.and_then(OsStr::to_str).filter(|value| !value.trim().is_empty()).unwrap_or(DEFAULT_EDITOR);
    let cannot = |why: String| {
        CommandError::new(ErrorKind::Failed, format!("cannot edit {}: {editor}: {why}", path.display()))
            .hint("set EDITOR to the editor that you use")
    };
    let mut command = std::process::Command::new("/bin/sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(path);
    let status = command.status().map_err(|error| cannot(error.to_string()))?;
    if status.success() { Ok(()) } else { Err(cannot(status.to_string())) }
}
