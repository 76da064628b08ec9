//! The file with the token of a team server. Invariants: only its owner can read it; one that Weir stored is deleted
//! once no project uses it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use weir_host::error::{CommandError, ErrorKind};
use weir_host::foreign;
use weir_host::os;
use weir_records::Credential;
use weir_store::{TeamDb, private};

/// The folder of the tokens that are stored among Weir's data.
const TOKEN_FOLDER: &str = "team-tokens";
pub const MAX_TOKEN_BYTES: u64 = 4096;

/// Reads the token from a file that only its owner can read.
pub fn read_token(path: &Path) -> Result<String, CommandError> {
    let shown = path.display();
    let failed = |why: String| CommandError::new(ErrorKind::Config, format!("cannot read the token in {shown}: {why}"));
    let about = path.metadata().map_err(|error| failed(error.to_string()))?;
    if let Some(why) = os::not_private(&about) {
        return Err(failed(why.to_owned()).hint(format!("make it yours alone: chmod 600 '{shown}'")));
    }
    let bytes = foreign::read_user_file(path, MAX_TOKEN_BYTES).map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    check(text.trim()).map_err(|error| failed(error.message).hint("`weir-server invite` prints one"))
}

/// Stores a token among Weir's data, where only the user can read it. Returns the file.
pub fn store_token(data: &Path, token: &str) -> Result<PathBuf, CommandError> {
    let token = check(token.trim())?;
    let name = blake3::hash(token.as_bytes()).to_hex();
    let failed = |error: std::io::Error| {
        CommandError::new(ErrorKind::Failed, format!("cannot store the token in {}: {error}", data.display()))
    };
    let folder = data.join(TOKEN_FOLDER);
    private::folder(&folder).map_err(failed)?;
    let path = folder.join(name.as_str().get(..16).unwrap_or_default());
    let mut file = private::open(&path, private::options().truncate(true)).map_err(failed)?;
    writeln!(file, "{token}").map_err(failed)?;
    Ok(path)
}

/// What became of a token that a project no longer uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleasedToken {
    /// Weir had stored it, and has deleted it.
    Deleted,
    /// Weir has stored it, and another project uses it, or may.
    InUse,
    /// Its file is the user's own.
    Own,
}

/// Deletes a token that is stored among Weir's data, unless one of the stores in a folder uses it.
pub fn release_token(data: &Path, stores: &Path, file: &Path) -> Result<ReleasedToken, CommandError> {
    if file.parent() != Some(data.join(TOKEN_FOLDER).as_path()) {
        return Ok(ReleasedToken::Own);
    }
    let failed = |error: std::io::Error| {
        CommandError::new(ErrorKind::Failed, format!("cannot delete the token in {}: {error}", file.display()))
    };
    let folders = match std::fs::read_dir(stores) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        folders => Some(folders.map_err(failed)?),
    };
    for store in folders.into_iter().flatten() {
        // A database that cannot be read may name it.
        let token_file = token_file_of(&store.map_err(failed)?.path());
        if token_file.is_none_or(|used| Path::new(&used) == file) {
            return Ok(ReleasedToken::InUse);
        }
    }
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(ReleasedToken::Deleted),
    }
}

/// Returns the file with the token that a store uses, which is empty without a connection. `None` if it is not known.
fn token_file_of(store: &Path) -> Option<String> {
    let Some(db) = TeamDb::open_existing(store).ok()? else { return Some(String::new()) };
    Some(db.connection().ok()?.map(|known| known.token_file).unwrap_or_default())
}

fn check(token: &str) -> Result<String, CommandError> {
    // The text may be a mistyped secret, so it is not repeated.
    match Credential::parse(token) {
        Some(_) => Ok(token.to_owned()),
        None => Err(CommandError::usage("that is not the token of a team server")),
    }
}

#[cfg(test)]
mod tests {
    use weir_store::TeamConnection;

    use super::*;

    /// Stores a token, lets stores use it, and releases it.
    fn check_release(users: &[&str], expected: ReleasedToken) {
        let data = tempfile::tempdir().unwrap();
        let stores = data.path().join("projects");
        let token = store_token(data.path(), &Credential::draw().unwrap().to_string()).unwrap();
        for name in ["one", "other"] {
            std::fs::create_dir_all(stores.join(name)).unwrap();
            let file = if users.contains(&name) { token.to_str().unwrap() } else { "/elsewhere/token" };
            let connection = TeamConnection { token_file: file.to_owned(), ..TeamConnection::default() };
            TeamDb::open(&stores.join(name)).unwrap().connect(&connection).unwrap();
        }
        assert_eq!(release_token(data.path(), &stores, &token).unwrap(), expected);
        assert_eq!(token.exists(), expected != ReleasedToken::Deleted);
    }

    #[test]
    fn a_stored_token_is_deleted_once_no_project_uses_it() {
        check_release(&["other"], ReleasedToken::InUse);
        check_release(&[], ReleasedToken::Deleted);
    }
}
