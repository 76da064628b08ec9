//! Folders that use the store of another folder. For each there is a record in the user's data folder.
//!
//! Invariants: a record is written only after the user agreed; nothing in a repository can create, change or remove
//! one; records are not chained, so the store that a record names belongs to the project that it names.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Component, Path};

use serde_json::{Value, json};
use weir_store::private;

use crate::foreign;

/// The folder of the records, below the data folder.
const FOLDER: &str = "shared";
const MAX_RECORD_BYTES: u64 = 64 << 10;

/// A store that a folder uses, although the store belongs to another folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedStore {
    /// The key of the project that uses the store.
    pub user: String,
    /// The key of the project that owns the store.
    pub owner: String,
    pub folder: String,
    /// Where the project that owns the store was when the user agreed.
    pub root: String,
}

/// Returns the store that a project uses instead of its own. `name` is the name of its own store's folder. Costs one
/// failed attempt to open a file if there is none.
pub fn find(data: &Path, name: &str, key: &str) -> io::Result<Option<SharedStore>> {
    let path = data.join(FOLDER).join(name);
    let text = match foreign::read_user_file(&path, MAX_RECORD_BYTES) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unusable(&path, &error.to_string())),
    };
    let record = parse(&text).filter(|record| record.user == key);
    record.map(Some).ok_or_else(|| unusable(&path, "it is damaged"))
}

/// Returns every record, with the name of the own store's folder of the project that it is for. Damaged records are
/// left out. A record that cannot be read at the moment is an error, since it may be the one that is looked for.
pub fn all(data: &Path) -> io::Result<Vec<(String, SharedStore)>> {
    let Some(files) = foreign::settled(std::fs::read_dir(data.join(FOLDER)))? else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for file in files {
        let Some(name) = file?.file_name().into_string().ok().filter(|name| !name.starts_with('.')) else { continue };
        let text = foreign::settled(foreign::read_user_file(&data.join(FOLDER).join(&name), MAX_RECORD_BYTES))?;
        all.extend(text.and_then(|text| parse(&text)).map(|record| (name, record)));
    }
    Ok(all)
}

pub fn write(data: &Path, name: &str, record: &SharedStore) -> io::Result<()> {
    let folder = data.join(FOLDER);
    private::folder(&folder)?;
    let SharedStore { user, owner, folder: store, root } = record;
    let text = json!({ "user": user, "owner": owner, "folder": store, "root": root }).to_string();
    let new = folder.join(format!(".{name}.{}", std::process::id()));
    let mut file = private::open(&new, private::options().truncate(true))?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.and_then(|()| std::fs::rename(&new, folder.join(name))).inspect_err(|_| {
        let _ = std::fs::remove_file(&new);
    })?;
    // A new name survives a power failure only once its folder is on disk.
    let _ = File::open(&folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Removes the record of a project, which then uses its own store again.
pub fn remove(data: &Path, name: &str) -> io::Result<()> {
    std::fs::remove_file(data.join(FOLDER).join(name))
}

fn parse(text: &[u8]) -> Option<SharedStore> {
    let record: Value = serde_json::from_slice(text).ok()?;
    let field = |name: &str| record[name].as_str().map(str::to_owned);
    let folder = field("folder").filter(|folder| is_name(folder))?;
    Some(SharedStore { user: field("user")?, owner: field("owner")?, folder, root: field("root")? })
}

/// Whether a text is the name of a folder, rather than a path.
fn is_name(text: &str) -> bool {
    let mut parts = Path::new(text).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == text)
}

fn unusable(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!("{}: {why}; remove that file to use this folder's own store", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> SharedStore {
        let [user, owner, folder, root] = ["git:/b/.git", "git:/a\n\"x\"/.git", "a-0123", "/a"].map(str::to_owned);
        SharedStore { user, owner, folder, root }
    }

    #[test]
    fn a_record_is_for_one_project_until_it_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let data = place.path();
        assert_eq!(find(data, "b-4567", "git:/b/.git").unwrap(), None);
        write(data, "b-4567", &record()).unwrap();
        assert_eq!(find(data, "b-4567", "git:/b/.git").unwrap(), Some(record()));
        assert_eq!(all(data).unwrap(), [("b-4567".to_owned(), record())]);
        assert_eq!(find(data, "c-89ab", "git:/c/.git").unwrap(), None);
        // A folder whose name collides is not the folder that the user agreed to.
        assert!(find(data, "b-4567", "git:/evil/.git").is_err());
        remove(data, "b-4567").unwrap();
        assert_eq!(find(data, "b-4567", "git:/b/.git").unwrap(), None);
        assert_eq!(all(data).unwrap(), []);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_a_record() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        write(place.path(), "b-4567", &record()).unwrap();
        let mode = |path: &str| place.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(FOLDER), mode("shared/b-4567")), (0o700, 0o600));
    }

    #[test]
    fn a_damaged_record_opens_nothing_and_says_what_to_do() {
        let place = tempfile::tempdir().unwrap();
        let data = place.path();
        for folder in ["../user", "/etc", "", ".", "a/b", "a/"] {
            write(data, "b-4567", &SharedStore { folder: folder.to_owned(), ..record() }).unwrap();
            let error = find(data, "b-4567", "git:/b/.git").unwrap_err().to_string();
            assert!(error.contains("remove that file"), "{folder}: {error}");
        }
        std::fs::write(data.join("shared/b-4567"), "{").unwrap();
        assert!(find(data, "b-4567", "git:/b/.git").is_err());
    }
}
