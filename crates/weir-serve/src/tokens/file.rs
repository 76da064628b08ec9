//! The file of tokens. Invariants: only its owner can read it, it is never reached through a symbolic link, and a
//! change replaces it in one step, so a reader sees the old tokens or the new ones.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use weir_host::error::{CommandError, ErrorKind};
use weir_host::os::{self, not_following};
use weir_host::random;
use weir_host::when;
use weir_store::private;

use super::TokenScope;

/// The name of the file, below the data folder.
const NAME: &str = "http-tokens.json";
/// The file whose lock a writer holds.
const LOCK_NAME: &str = "http-tokens.lock";
/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 10;
/// The maximum number of tokens. A new one beyond it is refused.
const MAX_TOKENS: usize = 256;
/// The number of random bytes in a token.
const SECRET_BYTES: usize = 32;

#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Token {
    /// What its bearer may do.
    pub scope: TokenScope,
    /// The token itself.
    pub secret: String,
    /// When it expires, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
}

/// A state of the file. Two versions that are equal have the same content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileVersion {
    file: Option<(u64, u64)>,
    bytes: u64,
    changed: (i64, i64),
}

impl FileVersion {
    /// Returns the version at a path, if there is a file.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let about = path.symlink_metadata().ok()?;
        Some(Self { file: os::file_id(&about), bytes: about.len(), changed: os::changed_at(&about) })
    }
}

pub(super) fn path(data: &Path) -> PathBuf {
    data.join(NAME)
}

/// Creates the file with one token of each scope, unless it exists.
pub(crate) fn create(data: &Path) -> Result<(), CommandError> {
    change(data, |known| Ok((if known.is_none() { Some(fresh()?) } else { None }, ())))
}

/// Returns a token of this scope: the lasting one, or a new one if it shall expire.
pub fn issue(data: &Path, scope: TokenScope, expires: Option<i64>) -> Result<String, CommandError> {
    change(data, |known| {
        let mut tokens = known.map_or_else(fresh, Ok)?;
        let lasting = tokens.iter().find(|token| token.scope == scope && token.expires.is_none());
        if let Some(token) = lasting.filter(|_| expires.is_none()) {
            let secret = token.secret.clone();
            return Ok((Some(tokens), secret));
        }
        let now = when::now().0;
        tokens.retain(|token| token.expires.is_none_or(|at| at > now));
        if tokens.len() >= MAX_TOKENS {
            return Err(CommandError::usage(format!("there are {MAX_TOKENS} tokens already"))
                .hint("wait until some have expired, or revoke all with `weir serve --revoke-tokens`"));
        }
        let token = Token { expires, ..token(scope)? };
        let secret = token.secret.clone();
        tokens.push(token);
        Ok((Some(tokens), secret))
    })
}

/// Revokes all tokens, and creates one of each scope.
pub fn renew(data: &Path) -> Result<(), CommandError> {
    change(data, |_| Ok((Some(fresh()?), ())))
}

/// Reads the tokens. Returns `None` if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<Token>>, CommandError> {
    match read_private(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| unusable(path, &error.to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(path, &error.to_string())),
    }
}

/// Changes the tokens while no other process does. `work` gets those in the file, if there is one, and returns those to
/// write, if any.
fn change<T>(
    data: &Path,
    work: impl FnOnce(Option<Vec<Token>>) -> Result<(Option<Vec<Token>>, T), CommandError>,
) -> Result<T, CommandError> {
    let path = path(data);
    let cannot = |error: io::Error| unusable(&path, &error.to_string());
    private::folder(data).map_err(cannot)?;
    let lock = private::open(&data.join(LOCK_NAME), not_following(&mut private::options())).map_err(cannot)?;
    lock.lock().map_err(cannot)?;
    let (tokens, result) = work(read(&path)?)?;
    let Some(tokens) = tokens else { return Ok(result) };
    let text = serde_json::to_string_pretty(&tokens).map_err(|error| CommandError::broken(&error.to_string()))?;
    let new = data.join(format!(".{NAME}.{}", random::name()?));
    let written = write_new(&new, text.as_bytes()).and_then(|()| std::fs::rename(&new, &path));
    written.inspect_err(|_| drop(std::fs::remove_file(&new))).map_err(cannot)?;
    // The new name survives a power failure only once its folder is on disk.
    let _ = File::open(data).and_then(|folder| folder.sync_all());
    Ok(result)
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private::open(path, not_following(private::options().create_new(true)))?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn read_private(path: &Path) -> io::Result<Vec<u8>> {
    let file = not_following(File::options().read(true)).open(path)?;
    check_private(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large to be a file of tokens"));
    }
    Ok(bytes)
}

/// Returns an error unless only this user can read and write the file.
fn check_private(about: &Metadata) -> io::Result<()> {
    let why = if about.is_file() { os::not_private(about) } else { Some("it is not a regular file") };
    why.map_or(Ok(()), |why| Err(io::Error::new(io::ErrorKind::PermissionDenied, why)))
}

fn fresh() -> Result<Vec<Token>, CommandError> {
    TokenScope::ALL.iter().copied().map(token).collect()
}

/// Returns a new token that does not expire. Its name says what it is to a person who finds it.
fn token(scope: TokenScope) -> Result<Token, CommandError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| CommandError::new(ErrorKind::Failed, format!("cannot get random bytes: {error}")))?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Token { scope, secret: format!("weir_{}_{digits}", scope.as_str()), expires: None })
}

fn unusable(path: &Path, why: &str) -> CommandError {
    CommandError::new(ErrorKind::Config, format!("cannot use the tokens in {}: {why}", path.display()))
        .hint("remove that file; the next `weir serve` creates it again, with new tokens")
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_the_owner_can_read_the_file() {
        let place = tempfile::tempdir().unwrap();
        let data = place.path().join("data");
        create(&data).unwrap();
        assert_eq!((mode(&data), mode(&path(&data))), (0o700, 0o600));
        let tokens = read(&path(&data)).unwrap().unwrap();
        assert_eq!(tokens.iter().map(|token| token.scope).collect::<Vec<_>>(), TokenScope::ALL);
        let before = std::fs::read(path(&data)).unwrap();
        create(&data).unwrap();
        assert_eq!(std::fs::read(path(&data)).unwrap(), before);
    }

    #[test]
    fn a_file_that_others_can_read_or_a_link_is_refused() {
        let place = tempfile::tempdir().unwrap();
        create(place.path()).unwrap();
        let file = path(place.path());
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(read(&file).unwrap_err().to_string().contains("other users"));
        let elsewhere = place.path().join("elsewhere");
        std::fs::rename(&file, &elsewhere).unwrap();
        std::fs::set_permissions(&elsewhere, std::fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&elsewhere, &file).unwrap();
        assert!(read(&file).is_err() && create(place.path()).is_err());
        assert!(file.symlink_metadata().unwrap().is_symlink());
    }

    #[test]
    fn tokens_that_expire_are_added_and_removed() {
        let place = tempfile::tempdir().unwrap();
        let lasting = issue(place.path(), TokenScope::Read, None).unwrap();
        assert_eq!(issue(place.path(), TokenScope::Read, None).unwrap(), lasting);
        assert!(lasting.starts_with("weir_read_") && lasting.len() == "weir_read_".len() + 2 * SECRET_BYTES);
        assert_ne!(issue(place.path(), TokenScope::Read, Some(1)).unwrap(), lasting);
        issue(place.path(), TokenScope::Read, Some(i64::MAX)).unwrap();
        assert_eq!(read(&path(place.path())).unwrap().unwrap().len(), TokenScope::ALL.len() + 1);
    }
}
