//! Records the place of a project's folder, its device and inode numbers, to recognise the folder after a move.

use std::io::Write as _;
use std::path::Path;

use weir_store::private;

use super::Project;
use crate::foreign;
use crate::os;

/// The file next to the log that records the device and inode numbers of the project's folder.
const PLACE: &str = "place";
/// The most that is read of that file, in bytes.
const MAX_PLACE_BYTES: u64 = 128;

impl Project {
    /// Records the place of the project's folder next to its log. The store of another folder keeps the place of that
    /// folder.
    pub fn remember_place(&self, store: &Path) {
        let Some(place) = self.place().filter(|_| self.shared().is_none()) else { return };
        let path = store.join(PLACE);
        // Anything but a file, such as a pipe, is left alone: opening it could wait forever.
        let is_other = path.symlink_metadata().is_ok_and(|about| !about.is_file());
        if !is_other && recorded_place(store).as_ref() != Some(&place) {
            // Failing to write is harmless: the record only improves a guess.
            let file = private::open(&path, private::options().truncate(true));
            let _ = file.and_then(|mut file| file.write_all(place.as_bytes()));
        }
    }

    /// Returns the folder's device and inode numbers, which do not change when the folder is moved or renamed on the
    /// same file system.
    pub fn place(&self) -> Option<String> {
        let key = self.own_key();
        let folder = key.strip_prefix("git:").or_else(|| key.strip_prefix("path:"))?;
        let (device, inode) = os::file_id(&std::fs::metadata(folder).ok()?)?;
        Some(format!("{device}:{inode}\n"))
    }
}

pub fn recorded_place(store: &Path) -> Option<String> {
    let place = foreign::read_user_file(&store.join(PLACE), MAX_PLACE_BYTES).ok()?;
    String::from_utf8(place).ok()
}
