//! What was decided about each result of a tool, so that all later requests have the same bytes.
//!
//! There is one small file per result, in `proxied/` next to the log, named by a hash of the call and of the result's
//! text. It is empty if the result is shown as it is. Otherwise it has the replacement, sealed with a key that follows
//! from the result's text, so that nothing can be learnt from it after the result was forgotten.
//!
//! Invariants: the first ruling about a result stands, whichever process made it; a file that cannot be opened means
//! that the result is shown as it is; a ruling survives the process, and lasts [`MAX_AGE`] beyond its last use.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use weir_store::private;

/// The name of the folder within the store's folder.
pub(super) const FOLDER: &str = "proxied";
/// How long a ruling is kept after its last use.
const MAX_AGE: Duration = Duration::from_secs(30 * DAY.as_secs());
/// A use within this time of the one before it is not recorded.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Distinguishes our keys from all others that are made from the same text.
const PURPOSE: &str = "weir proxy 2026-11 replacement of a tool's result";
const NONCE_BYTES: usize = 16;

/// What was decided about a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ruling {
    Shown,
    /// This text is shown instead.
    Held(String),
}

/// What identifies a result: a secret that only its text yields.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ResultKey([u8; blake3::KEY_LEN]);

impl ResultKey {
    pub(super) fn of(call: &str, text: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(PURPOSE);
        hasher.update(&(call.len() as u64).to_le_bytes()).update(call.as_bytes()).update(text.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// Returns the key of what replaces the result once it is cleared.
    pub(super) fn cleared(&self) -> Self {
        Self(*self.hasher(b"cleared").finalize().as_bytes())
    }

    fn hasher(&self, purpose: &[u8]) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(purpose);
        hasher
    }

    fn file_name(&self) -> String {
        self.hasher(b"name").finalize().to_hex()[..32].to_owned()
    }

    fn tag(&self, nonce: &[u8], text: &[u8]) -> [u8; NONCE_BYTES] {
        let mut tag = [0; NONCE_BYTES];
        self.hasher(b"tag").update(nonce).update(text).finalize_xof().fill(&mut tag);
        tag
    }

    /// Encrypts or decrypts, which are the same.
    fn apply(&self, nonce: &[u8], bytes: &mut [u8]) {
        let mut stream = vec![0; bytes.len()];
        self.hasher(b"text").update(nonce).finalize_xof().fill(&mut stream);
        bytes.iter_mut().zip(stream).for_each(|(byte, key)| *byte ^= key);
    }

    fn seal(&self, text: &str) -> io::Result<Vec<u8>> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        let mut sealed = text.as_bytes().to_vec();
        self.apply(&nonce, &mut sealed);
        let tag = self.tag(&nonce, text.as_bytes());
        Ok([nonce.as_slice(), &tag, &sealed].concat())
    }

    fn open(&self, sealed: &[u8]) -> Option<String> {
        let (nonce, rest) = sealed.split_at_checked(NONCE_BYTES)?;
        let (tag, text) = rest.split_at_checked(NONCE_BYTES)?;
        let mut text = text.to_vec();
        self.apply(nonce, &mut text);
        if self.tag(nonce, &text) != tag {
            return None;
        }
        String::from_utf8(text).ok()
    }
}

pub(super) struct Rulings {
    folder: PathBuf,
}

impl Rulings {
    /// Opens the rulings next to a store, and removes those that have not been used for long.
    pub(super) fn open(store: &Path) -> io::Result<Self> {
        let folder = store.join(FOLDER);
        private::folder(&folder)?;
        for file in std::fs::read_dir(&folder)?.flatten() {
            if file.metadata().and_then(|about| about.modified()).is_ok_and(|used| is_older(used, MAX_AGE)) {
                let _ = std::fs::remove_file(file.path());
            }
        }
        Ok(Self { folder })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn find(&self, key: &ResultKey) -> Option<Ruling> {
        let path = self.folder.join(key.file_name());
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(_) => return Some(Ruling::Shown),
        };
        if file.metadata().and_then(|about| about.modified()).is_ok_and(|used| is_older(used, DAY)) {
            let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        }
        let mut sealed = Vec::new();
        let text = file.read_to_end(&mut sealed).ok().and_then(|_| key.open(&sealed));
        Some(text.map_or(Ruling::Shown, Ruling::Held))
    }

    /// Records a ruling. Returns the one that stands: another process may have been faster.
    pub(super) fn record(&self, key: &ResultKey, ruling: Ruling) -> io::Result<Ruling> {
        let path = self.folder.join(key.file_name());
        let sealed = match &ruling {
            Ruling::Shown => Vec::new(),
            Ruling::Held(text) => key.seal(text)?,
        };
        // Under its name, the file is complete.
        let new = path.with_extension(format!("{:016x}", getrandom::u64().map_err(io::Error::other)?));
        let written = private::open(&new, private::options().create_new(true))
            .and_then(|mut file| file.write_all(&sealed))
            .and_then(|()| std::fs::hard_link(&new, &path));
        let _ = std::fs::remove_file(&new);
        match written {
            Ok(()) => Ok(ruling),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(self.find(key).unwrap_or(Ruling::Shown)),
            Err(error) => Err(error),
        }
    }
}

fn is_older(time: SystemTime, than: Duration) -> bool {
    time.elapsed().is_ok_and(|age| age > than)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "the full output, with a word that nobody may find: xylophone";
    const SHOWN: &str = "3 lines held as [ctx:k7f2m9q4xz]: xylophone";

    fn rulings() -> (tempfile::TempDir, Rulings) {
        let folder = tempfile::tempdir().unwrap();
        let rulings = Rulings::open(folder.path()).unwrap();
        (folder, rulings)
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        std::fs::read_dir(folder.join(FOLDER)).unwrap().map(|file| file.unwrap().path()).collect()
    }

    #[test]
    fn the_first_ruling_stands_and_survives_the_process() {
        let (folder, rulings) = rulings();
        let held = Ruling::Held(SHOWN.to_owned());
        let (one, two) = (ResultKey::of("call_1", TEXT), ResultKey::of("call_2", TEXT));
        assert_eq!(rulings.find(&one), None);
        assert_eq!(rulings.record(&one, held.clone()).unwrap(), held);
        assert_eq!(rulings.record(&two, Ruling::Shown).unwrap(), Ruling::Shown);
        let again = Rulings::open(folder.path()).unwrap();
        assert_eq!(again.record(&one, Ruling::Shown).unwrap(), held);
        assert_eq!(again.record(&two, held.clone()).unwrap(), Ruling::Shown);
        assert_eq!((again.find(&one), again.find(&two)), (Some(held), Some(Ruling::Shown)));
        assert_eq!(files(folder.path()).len(), 2, "nothing is left besides the rulings");
    }

    #[test]
    fn no_other_call_or_text_has_the_ruling() {
        let (_folder, rulings) = rulings();
        rulings.record(&ResultKey::of("call_1", TEXT), Ruling::Held(SHOWN.to_owned())).unwrap();
        let shifted = format!("1{TEXT}");
        for (call, text) in [("call_2", TEXT), ("call_1", SHOWN), ("call_", shifted.as_str()), ("", TEXT)] {
            assert_eq!(rulings.find(&ResultKey::of(call, text)), None, "{call}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_says_nothing_without_the_result() {
        let (folder, rulings) = rulings();
        rulings.record(&ResultKey::of("call_1", TEXT), Ruling::Held(SHOWN.to_owned())).unwrap();
        let [file] = &files(folder.path())[..] else { panic!("one file") };
        let bytes = std::fs::read(file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("xylophone"));
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_file_shows_the_result_as_it_is() {
        let (folder, rulings) = rulings();
        let key = ResultKey::of("call_1", TEXT);
        rulings.record(&key, Ruling::Held(SHOWN.to_owned())).unwrap();
        let [file] = &files(folder.path())[..] else { panic!("one file") };
        let whole = std::fs::read(file).unwrap();
        for length in [1, 16, 31, 32, whole.len() - 1] {
            std::fs::write(file, &whole[..length]).unwrap();
            assert_eq!(rulings.find(&key), Some(Ruling::Shown), "{length} bytes");
        }
    }

    #[test]
    fn rulings_that_nobody_uses_go_away() {
        let (folder, rulings) = rulings();
        for (call, days) in [("old", 31), ("used", 31), ("new", 29)] {
            let key = ResultKey::of(call, TEXT);
            rulings.record(&key, Ruling::Held(SHOWN.to_owned())).unwrap();
            let file = File::options().append(true).open(folder.path().join(FOLDER).join(key.file_name())).unwrap();
            file.set_modified(SystemTime::now() - DAY * days).unwrap();
        }
        rulings.find(&ResultKey::of("used", TEXT)).unwrap();
        let again = Rulings::open(folder.path()).unwrap();
        let left = ["old", "used", "new"].map(|call| again.find(&ResultKey::of(call, TEXT)).is_some());
        assert_eq!(left, [false, true, true]);
    }
}
