//! Which buckets there are, and in which folders. Invariant: a file says which layout a folder has. It is written before
//! the first bucket and deleted before the last file of another layout, so a folder is never a mixture of two.

use std::path::{Path, PathBuf};
use std::{fs, io};

use tantivy::Directory as _;
use tantivy::directory::{DirectoryLock, INDEX_WRITER_LOCK, MmapDirectory};
use weir_core::TenantId;
use weir_ledger::private;

use super::super::META_FILE;
use super::super::fields::Place;

/// How many buckets there are. Another number is another layout.
pub(super) const BUCKETS: usize = 64;
/// The file that says so, in the folder of the index.
const LAYOUT_FILE: &str = "layout";
const LAYOUT: &str = "64 buckets by tenant\n";

/// A folder that has this layout.
pub(super) struct Layout {
    pub(super) lock: DirectoryLock,
    /// What was deleted, if it was another layout.
    pub(super) emptied: Option<&'static str>,
}

/// Returns the bucket of a tenant: by its name in the index, which is a hash and the same on each machine.
pub(crate) fn bucket_of(tenant: &TenantId) -> usize {
    let name = Place::of_tenant(tenant).tenant;
    let number = name.get(..4).and_then(|digits| usize::from_str_radix(digits, 16).ok());
    number.unwrap_or_default() % BUCKETS
}

/// Returns the name of a bucket.
pub(super) fn name_of_bucket(bucket: usize) -> String {
    format!("{bucket:02}")
}

/// Returns the folder of a bucket.
pub(super) fn folder_of(folder: &Path, bucket: usize) -> PathBuf {
    folder.join(name_of_bucket(bucket))
}

/// Locks a folder, and gives it this layout if it has another one.
pub(super) fn prepare(folder: &Path) -> tantivy::Result<Layout> {
    let lock = MmapDirectory::open(folder)?.acquire_lock(&INDEX_WRITER_LOCK)?;
    let layout = match fs::read_to_string(folder.join(LAYOUT_FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        read => Some(read?),
    };
    // A server of an earlier version puts its index here, whatever else there is.
    let is_single = folder.join(META_FILE).exists();
    if layout.as_deref() == Some(LAYOUT) && !is_single {
        return Ok(Layout { lock, emptied: None });
    }
    let is_empty = layout.is_none() && others(folder)?.is_empty();
    empty(folder)?;
    fs::write(folder.join(LAYOUT_FILE), LAYOUT)?;
    private::sync(folder)?;
    let reason = if is_single {
        "the index was that of another version, which had one for all tenants; it was deleted"
    } else {
        "the index was not one in 64 buckets; it was deleted"
    };
    Ok(Layout { lock, emptied: (!is_empty).then_some(reason) })
}

/// Deletes everything in a folder that is locked, and what says which layout it has first.
fn empty(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(LAYOUT_FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => private::sync(folder)?,
    }
    for path in others(folder)? {
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    private::sync(folder)
}

/// Returns what is in a folder besides the file of its lock.
fn others(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths: io::Result<Vec<PathBuf>> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect();
    Ok(paths?.into_iter().filter(|path| !path.ends_with(&INDEX_WRITER_LOCK.filepath)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_is_in_the_same_bucket_on_every_machine_and_tenants_are_spread() {
        let bucket = |name: &str| bucket_of(&TenantId(name.to_owned()));
        assert_eq!(["acme", "umbrella", ""].map(bucket), [60, 52, 32]);
        let mut sizes = [0; BUCKETS];
        (0..6_400).for_each(|number| sizes[bucket(&format!("tenant {number}"))] += 1);
        assert!(sizes.iter().all(|size| (60..150).contains(size)), "{sizes:?}");
    }
}
