//! The two files that pages refer to. A file's name has the hash of its content, so it may be kept for ever.

/// A file that is served as it is.
#[derive(Debug)]
pub struct Asset {
    stem: &'static str,
    ending: &'static str,
    /// The value of its `Content-Type` header.
    pub media_type: &'static str,
    pub body: &'static str,
    hash: u64,
}

pub const STYLE: Asset = Asset::new("style", "css", "text/css; charset=utf-8", include_str!("../assets/style.css"));

/// The keys: the only script, and no page needs it.
pub const KEYS: Asset = Asset::new("keys", "js", "text/javascript; charset=utf-8", include_str!("../assets/keys.js"));

pub const ASSETS: [Asset; 2] = [STYLE, KEYS];

impl Asset {
    const fn new(stem: &'static str, ending: &'static str, media_type: &'static str, body: &'static str) -> Self {
        Self { stem, ending, media_type, body, hash: hash(body.as_bytes()) }
    }

    /// Returns the name of the file, which changes with its content.
    pub fn name(&self) -> String {
        format!("{}.{:016x}.{}", self.stem, self.hash, self.ending)
    }

    /// Returns the path under which pages ask for the file.
    pub fn path(&self) -> String {
        format!("/assets/{}", self.name())
    }
}

/// Returns the FNV-1a hash of a file. It tells versions of our own files apart and guards against nothing.
const fn hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_content_has_another_name() {
        let name = |body| Asset::new("style", "css", "text/css", body).name();
        assert_eq!(name(""), "style.cbf29ce484222325.css");
        assert_ne!(name("a{}"), name("b{}"));
    }

    #[test]
    fn no_file_asks_for_anything_elsewhere() {
        for asset in ASSETS {
            for foreign in ["http:", "https:", "//fonts", "@import", "url(", "eval(", "innerHTML", "fetch("] {
                assert!(!asset.body.contains(foreign), "{} contains {foreign}", asset.name());
            }
        }
    }
}
