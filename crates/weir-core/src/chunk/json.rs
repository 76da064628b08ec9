//! JSON and JSON Lines: cut between members and elements, each chunk under the path of its first one.
//!
//! Invariant: every byte is read at most a fixed number of times, and the state is bounded, however deep the text nests
//! and whether or not a string ever ends. Text without a place to cut is cut as plain text.

use super::pack::{Joint, TextBlock};
use super::{MAX_CHUNK_BYTES, TARGET_CHUNK_BYTES, heading, plain};

/// Maximum depth to which paths are recorded. Deeper levels are only counted.
const MAX_DEPTH: usize = 64;
/// Maximum length of a key that is stored in full, in bytes.
const MAX_KEY_BYTES: usize = 64;

/// The state at the current position.
#[derive(Debug, Default, Clone)]
pub(super) struct JsonScanner {
    open: Vec<OpenContainer>,
    /// Number of levels below those in `open`.
    deeper: usize,
    string: StringState,
    /// The last string, which is a key if a colon follows.
    last: Vec<u8>,
}

/// Whether a byte is in a string.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum StringState {
    #[default]
    Outside,
    Inside,
    /// After a backslash.
    Escaped,
}

/// A container, and the position in it.
#[derive(Debug, Clone)]
enum OpenContainer {
    Object(Vec<u8>),
    Array(usize),
}

impl JsonScanner {
    /// Returns about a chunk from the beginning of `rest`.
    pub(super) fn next(&mut self, rest: &[u8], is_last: bool) -> Option<TextBlock> {
        if rest.is_empty() || (rest.len() <= MAX_CHUNK_BYTES && !is_last) {
            return None;
        }
        let heading = Some(self.path(rest));
        let length = if rest.len() <= MAX_CHUNK_BYTES { rest.len() } else { self.clone().best_cut(rest) };
        rest[..length].iter().for_each(|&byte| self.read(byte));
        Some(TextBlock { length, joint: Joint::Follows, heading })
    }

    /// Returns the cut at the least depth, and of those the closest to the target.
    fn best_cut(mut self, rest: &[u8]) -> usize {
        let mut best: Option<(usize, usize)> = None;
        let distance = |at: usize| at.abs_diff(TARGET_CHUNK_BYTES);
        let mut is_cut = false;
        for (at, &byte) in rest[..MAX_CHUNK_BYTES].iter().enumerate() {
            // A comma keeps the line end after it and the blanks before that.
            let cuts_here = is_cut && !matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            if cuts_here {
                is_cut = false;
                let depth = self.depth();
                let is_better = best.is_none_or(|(best_depth, best_at)| {
                    depth < best_depth || (depth == best_depth && distance(at) < distance(best_at))
                });
                if at >= TARGET_CHUNK_BYTES / 2 && is_better {
                    best = Some((depth, at));
                }
            }
            self.read(byte);
            let is_between = byte == b',' || (byte == b'\n' && self.depth() == 0);
            is_cut |= is_between && self.string == StringState::Outside;
        }
        best.map_or_else(|| plain::cut(rest), |(_, at)| at)
    }

    fn depth(&self) -> usize {
        self.open.len() + self.deeper
    }

    fn read(&mut self, byte: u8) {
        match (self.string, byte) {
            (StringState::Escaped, _) => {
                self.keep(byte);
                self.string = StringState::Inside;
            }
            (StringState::Inside, b'\\') => self.string = StringState::Escaped,
            (StringState::Inside, b'"') => self.string = StringState::Outside,
            (StringState::Inside, _) => self.keep(byte),
            (StringState::Outside, b'"') => {
                self.last.clear();
                self.string = StringState::Inside;
            }
            (StringState::Outside, b'{') => self.enter(OpenContainer::Object(Vec::new())),
            (StringState::Outside, b'[') => self.enter(OpenContainer::Array(0)),
            (StringState::Outside, b'}' | b']') => self.leave(),
            (StringState::Outside, b':') if self.deeper == 0 => {
                if let Some(OpenContainer::Object(key)) = self.open.last_mut() {
                    key.clone_from(&self.last);
                }
            }
            (StringState::Outside, b',') if self.deeper == 0 => match self.open.last_mut() {
                Some(OpenContainer::Array(index)) => *index += 1,
                Some(OpenContainer::Object(key)) => key.clear(),
                None => {}
            },
            (StringState::Outside, _) => {}
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.last.len() < MAX_KEY_BYTES {
            self.last.push(byte);
        }
    }

    fn enter(&mut self, level: OpenContainer) {
        if self.open.len() < MAX_DEPTH {
            self.open.push(level);
        } else {
            self.deeper += 1;
        }
    }

    fn leave(&mut self) {
        match self.deeper.checked_sub(1) {
            Some(deeper) => self.deeper = deeper,
            None => {
                self.open.pop();
            }
        }
    }

    /// Returns the path of what `rest` begins with, or its closest parts if it is too long for a heading.
    fn path(&self, rest: &[u8]) -> String {
        let mut path = String::new();
        for level in &self.open {
            match level {
                OpenContainer::Array(index) => path.push_str(&format!("[{index}]")),
                OpenContainer::Object(key) if key.is_empty() => add_key(&mut path, &key_ahead(rest)),
                OpenContainer::Object(key) => add_key(&mut path, key),
            }
        }
        if path.len() > heading::MAX_HEADING_BYTES {
            let start = path.ceil_char_boundary(path.len() - heading::MAX_HEADING_BYTES + '…'.len_utf8());
            path.replace_range(..start, "…");
        }
        path
    }
}

fn add_key(path: &mut String, key: &[u8]) {
    if key.is_empty() {
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    // A key is cut at a fixed length, so its last character may be incomplete.
    path.push_str(heading::part(key).trim_end_matches('\u{fffd}'));
}

fn key_ahead(rest: &[u8]) -> Vec<u8> {
    let Some((b'"', text)) = rest[..rest.len().min(MAX_CHUNK_BYTES)].trim_ascii_start().split_first() else {
        return Vec::new();
    };
    text.iter().copied().take(MAX_KEY_BYTES).take_while(|&byte| byte != b'"').collect()
}
