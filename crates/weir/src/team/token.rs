//! The file with the token of a team server. Invariant: only its owner can read it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use weir_records::Credential;
use weir_store::private;

use crate::error::{CommandError, ErrorKind};
use crate::{foreign, os};

/// The largest file with a token, in bytes.
pub(crate) const MAX_TOKEN_BYTES: u64 = 4096;

/// Reads the token from a file that only its owner can read.
pub(crate) fn read_token(path: &Path) -> Result<String, CommandError> {
    let shown = path.display();
    let failed = |why: String| CommandError::new(ErrorKind::Config, format!("cannot read the token in {shown}: {why}"));
    let about = path.metadata().map_err(|error| failed(error.to_string()))?;
    if let Some(why) = os::not_private(&about) {
        return Err(failed(why.to_owned()).hint(format!("make it yours alone: chmod 600 '{shown}'")));
    }
    let bytes = foreign::read_user_file(path, MAX_TOKEN_BYTES).map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    check(text.trim()).map_err(|error| failed(error.message).hint("`weir team invite` prints one"))
}

/// Stores a token among Weir's data, where only the user can read it. Returns the file.
pub(crate) fn store_token(data: &Path, token: &str) -> Result<PathBuf, CommandError> {
    let token = check(token.trim())?;
    let name = blake3::hash(token.as_bytes()).to_hex();
    let failed = |error: std::io::Error| {
        CommandError::new(ErrorKind::Failed, format!("cannot store the token in {}: {error}", data.display()))
    };
    let folder = data.join("team-tokens");
    private::folder(&folder).map_err(failed)?;
    let path = folder.join(name.as_str().get(..16).unwrap_or_default());
    let mut file = private::open(&path, private::options().truncate(true)).map_err(failed)?;
    writeln!(file, "{token}").map_err(failed)?;
    Ok(path)
}

fn check(token: &str) -> Result<String, CommandError> {
    // The text may be a mistyped secret, so it is not repeated.
    match Credential::parse(token) {
        Some(_) => Ok(token.to_owned()),
        None => Err(CommandError::usage("that is not the token of a team server")),
    }
}
