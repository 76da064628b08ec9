//! The byte format of the records in a file of shown lines.

/// The first bytes of a file, before its key.
const MAGIC: &[u8; 8] = b"weirsl01";
/// Number of bytes before the first record.
pub(super) const HEADER_BYTES: usize = MAGIC.len() + blake3::KEY_LEN;
/// Number of bytes of a record before its label: kind, length of the label, number of hashes.
const RECORD_HEADER_BYTES: usize = 1 + 2 + 4;
const MAX_LABEL_BYTES: usize = 200;

pub(super) enum ShownRecord<'a> {
    Text(ShownText<'a>),
    /// The hash of a call that was answered with lines left out.
    Shortened(u64),
    /// Texts whose label contains this no longer count.
    Forgotten(&'a str),
    /// How far a transcript has been searched.
    Searched {
        /// The transcript, as a hash.
        transcript: &'a str,
        to: u64,
    },
}

/// A text that was shown, as hashes of its lines.
#[derive(Clone, Copy)]
pub(super) struct ShownText<'a> {
    pub(super) label: &'a str,
    hashes: &'a [u8],
}

impl ShownText<'_> {
    pub(super) fn len(&self) -> usize {
        self.hashes.len() / 8
    }

    pub(super) fn line(&self, at: usize) -> u64 {
        number(&self.hashes[at * 8..])
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = u64> {
        self.hashes.chunks_exact(8).map(number)
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk().copied().map_or(0, u64::from_le_bytes)
}

impl<'a> ShownRecord<'a> {
    /// Returns a text that was shown, ready to be encoded.
    pub(super) fn text(label: &'a str, lines: &[u64]) -> OwnedText<'a> {
        OwnedText { label, lines: lines.iter().flat_map(|line| line.to_le_bytes()).collect() }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        match *self {
            Self::Text(text) => frame(0, text.label, text.hashes),
            Self::Shortened(call) => frame(1, "", &call.to_le_bytes()),
            Self::Forgotten(part) => frame(2, part, &[]),
            Self::Searched { transcript, to } => frame(3, transcript, &to.to_le_bytes()),
        }
    }
}

/// A text that owns the hashes of its lines.
pub(super) struct OwnedText<'a> {
    label: &'a str,
    lines: Vec<u8>,
}

impl OwnedText<'_> {
    pub(super) fn record(&self) -> ShownRecord<'_> {
        ShownRecord::Text(ShownText { label: self.label, hashes: &self.lines })
    }
}

fn frame(kind: u8, label: &str, numbers: &[u8]) -> Vec<u8> {
    let label = &label[..label.floor_char_boundary(MAX_LABEL_BYTES)];
    let mut bytes = Vec::with_capacity(RECORD_HEADER_BYTES + label.len() + numbers.len());
    bytes.push(kind);
    bytes.extend((label.len() as u16).to_le_bytes());
    bytes.extend((numbers.len() as u32 / 8).to_le_bytes());
    bytes.extend(label.as_bytes());
    bytes.extend(numbers);
    bytes
}

/// Returns the bytes before the first record.
pub(super) fn header(key: &[u8; blake3::KEY_LEN]) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..MAGIC.len()].copy_from_slice(MAGIC);
    header[MAGIC.len()..].copy_from_slice(key);
    header
}

pub(super) fn key(bytes: &[u8]) -> Option<[u8; blake3::KEY_LEN]> {
    bytes.strip_prefix(MAGIC)?.first_chunk().copied()
}

/// Returns whether the bytes consist of complete, readable records.
pub(super) fn is_whole(mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match split(bytes) {
            Some((_, rest)) => bytes = rest,
            None => return false,
        }
    }
    true
}

pub(super) fn all(mut bytes: &[u8]) -> impl Iterator<Item = ShownRecord<'_>> {
    std::iter::from_fn(move || {
        let (record, rest) = split(bytes)?;
        bytes = rest;
        Some(record)
    })
}

/// Returns the texts that still count, oldest first.
pub(super) fn live(bytes: &[u8]) -> Vec<ShownText<'_>> {
    let mut texts = Vec::new();
    for record in all(bytes) {
        match record {
            ShownRecord::Text(text) => texts.push(text),
            ShownRecord::Forgotten(part) => texts.retain(|text| !text.label.contains(part)),
            ShownRecord::Shortened(_) | ShownRecord::Searched { .. } => {}
        }
    }
    texts
}

fn split(bytes: &[u8]) -> Option<(ShownRecord<'_>, &[u8])> {
    let (frame, rest) = bytes.split_at_checked(RECORD_HEADER_BYTES)?;
    let label = u16::from_le_bytes([frame[1], frame[2]]) as usize;
    let count = u32::from_le_bytes([frame[3], frame[4], frame[5], frame[6]]) as usize;
    let (label, rest) = rest.split_at_checked(label)?;
    let (hashes, rest) = rest.split_at_checked(count.checked_mul(8)?)?;
    let label = std::str::from_utf8(label).ok()?;
    let record = match frame[0] {
        0 => ShownRecord::Text(ShownText { label, hashes }),
        1 if count == 1 => ShownRecord::Shortened(number(hashes)),
        2 => ShownRecord::Forgotten(label),
        3 if count == 1 => ShownRecord::Searched { transcript: label, to: number(hashes) },
        _ => return None,
    };
    Some((record, rest))
}
