//! Splits a line into words, and finds the part of each that may change.

/// The hash of a word that may be anything.
pub(super) const WILD: u64 = 0x9e37_79b9_7f4a_7c15;
/// The maximum number of words of a line that are examined.
const MAX_WORDS: usize = 40;

/// The words of one line. One value is reused for all lines, which avoids most allocations.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub spans: Vec<Span>,
    pub more: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub word: (usize, usize),
    /// The start and end of the part that may change.
    pub value: Option<(usize, usize)>,
    /// The hash of the part that may not change.
    pub hash: u64,
}

impl Words {
    /// Splits a line, without the bytes to skip.
    pub(super) fn split(&mut self, text: &str, skip: (usize, usize)) {
        self.spans.clear();
        self.more = false;
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if at == skip.0 && skip.1 > skip.0 {
                at = skip.1;
                continue;
            }
            if bytes[at].is_ascii_whitespace() {
                at += 1;
                continue;
            }
            let start = at;
            while at < bytes.len()
                && !bytes[at].is_ascii_whitespace()
                && !(at == skip.0 && at > start && skip.1 > skip.0)
            {
                at += 1;
            }
            if self.spans.len() == MAX_WORDS {
                self.more = true;
                return;
            }
            self.spans.push(Span::of(bytes, start, at));
        }
    }

    /// Returns the key under which lines with the same words are found.
    pub(super) fn key(&self, sort: u8) -> u64 {
        let count = self.spans.len();
        let start = seed(sort, count).wrapping_add(u64::from(self.more));
        self.spans.iter().enumerate().fold(start, |key, (place, span)| key.wrapping_add(mixed(span.hash, place)))
    }

    /// Returns the key under which lines with the same first words are found.
    pub(super) fn beginning_key(&self, sort: u8, count: usize) -> u64 {
        beginning_key(sort, self.spans.iter().map(|span| span.hash), count)
    }
}

/// Returns the key under which lines with the same first words are found.
pub(super) fn beginning_key(sort: u8, hashes: impl Iterator<Item = u64>, count: usize) -> u64 {
    let start = seed(sort, count) ^ WILD;
    hashes.take(count).enumerate().fold(start, |key, (place, hash)| key.wrapping_add(mixed(hash, place)))
}

fn seed(sort: u8, count: usize) -> u64 {
    mixed(u64::from(sort).wrapping_add(1), count.wrapping_add(1_000))
}

/// Returns what a word contributes to the key of its line.
pub(super) fn mixed(hash: u64, place: usize) -> u64 {
    let mut value = hash ^ (place as u64 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 30)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 29)
}

/// Hashes two texts and the border between them with FNV-1a.
pub(super) fn hash(before: &[u8], after: &[u8]) -> u64 {
    let mut value: u64 = 0xcbf2_9ce4_8422_2325;
    for &byte in before.iter().chain(&[0xff]).chain(after) {
        value = (value ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    value
}

impl Span {
    fn of(bytes: &[u8], start: usize, end: usize) -> Self {
        let word = bytes.get(start..end).unwrap_or_default();
        let value = value_of(word).map(|(from, to)| (start + from, start + to));
        let hash = match value {
            Some((from, to)) => hash(&bytes[start..from], &bytes[to..end]),
            None => hash(word, b"\x01"),
        };
        Self { word: (start, end), value, hash }
    }
}

/// Returns the part of a word that may change: the text after `key=`, or the span from the first to the last run of
/// letters and digits that contains a digit. Its ends are at ASCII bytes.
fn value_of(word: &[u8]) -> Option<(usize, usize)> {
    if let Some(equals) = memchr::memchr(b'=', word)
        && is_key(&word[..equals])
    {
        return after_key(word, equals + 1);
    }
    let (mut first, mut last) = (None, 0);
    let mut at = 0;
    while at < word.len() {
        if !word[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let start = at;
        let (mut digits, mut hex) = (false, true);
        while at < word.len() && word[at].is_ascii_alphanumeric() {
            digits |= word[at].is_ascii_digit();
            hex &= word[at].is_ascii_hexdigit();
            at += 1;
        }
        // A group of an address or a UUID may consist of letters only.
        let group = hex && at - start >= 2 && start > 0 && matches!(word[start - 1], b':' | b'-') && first.is_some();
        if digits || group {
            first = first.or(Some(start));
            last = at;
        }
    }
    first.map(|first| (first, last))
}

/// The names of fields whose values describe what a line is about.
const MESSAGE_KEYS: [&[u8]; 10] =
    [b"msg", b"message", b"level", b"lvl", b"severity", b"event", b"error", b"err", b"component", b"logger"];

fn is_key(key: &[u8]) -> bool {
    let key = key.strip_prefix(b"[").or_else(|| key.strip_prefix(b"(")).unwrap_or(key);
    let letters = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..40).contains(&key.len()) && key.iter().all(letters) && !MESSAGE_KEYS.contains(&key)
}

/// Returns the value after `key=`, without quotes and closing punctuation.
fn after_key(word: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut end = word.len();
    let mut start = from;
    while end > start && matches!(word[end - 1], b',' | b';' | b')' | b']' | b'}' | b'"' | b'\'') {
        end -= 1;
    }
    while start < end && matches!(word[start], b'"' | b'\'' | b'[' | b'{') {
        start += 1;
    }
    (start < end).then_some((start, end))
}
