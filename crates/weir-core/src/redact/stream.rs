//! Searches a text that arrives in pieces for secrets, with bounded memory.
//!
//! A matcher at a literal reads a little before it and some way after it, always through its window. The window notices
//! when a matcher reads beyond what is known so far. In that case the literal waits for more text, along with
//! everything from shortly before it. What is passed on was therefore decided on the same bytes as in the whole text,
//! and it does not matter where the pieces begin and end. Only the matchers of blocks read further than
//! [`WINDOW_BYTES`].
//!
//! Invariants: the findings are those of [`super::find`] in the whole text, unless a block is longer than
//! [`WINDOW_BYTES`]; such a block stays closed until its end is seen, and nothing of it is passed on. At most about
//! twice [`WINDOW_BYTES`] is held.

use std::collections::VecDeque;
use std::ops::Range;

use super::block::{self, KeyLine, Tag};
use super::class::WORD;
use super::scan::{self, Literal, LiteralHit, Sign};
use super::window::Window;
use super::{Finding, MARK, find_at, mark_at, merge};

/// Number of bytes that may wait for what follows them. A matcher reads at most three runs of 64 KiB, as in a JWT.
pub(super) const WINDOW_BYTES: usize = 256 << 10;
/// Number of bytes that arrive before they are searched.
pub(super) const BLOCK_BYTES: usize = 64 << 10;
/// Number of bytes before its literal that a matcher reads: 3 KiB for `kty`, and less for everything else.
const CONTEXT_BYTES: usize = 4 << 10;
/// Maximum distance from the beginning of a secret to its literal, in bytes.
const MAX_LEAD_BYTES: usize = 96;

/// The rule of a private block.
const PRIVATE: &str = "private";

/// A part of the redacted text, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedactedPart<'a> {
    Text(&'a [u8]),
    /// The place of a secret, whose bytes follow as [`RedactedPart::Removed`]. The mark names the rule.
    Mark(&'static str),
    /// This many bytes that arrived are not passed on.
    Removed(usize),
}

impl RedactedPart<'_> {
    pub fn write_to(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => out.extend_from_slice(text),
            Self::Mark(rule) => {
                out.extend_from_slice(MARK.as_bytes());
                out.extend_from_slice(rule.as_bytes());
                out.push(b']');
            }
            Self::Removed(_) => {}
        }
    }
}

/// Finds secrets in a text that arrives in pieces.
#[derive(Debug)]
pub(super) struct SecretStream {
    block: usize,
    window: usize,
    text: Vec<u8>,
    /// How far the text was passed on, and how far it was searched for literals.
    done: usize,
    scanned: usize,
    /// What was found and is not decided yet.
    hits: VecDeque<LiteralHit>,
    marks: VecDeque<Range<usize>>,
    tags: VecDeque<GluedTag>,
    last_mark_end: Option<usize>,
    /// What was decided and matters for what follows.
    window_start: usize,
    covered: Range<usize>,
    depth: usize,
    private_start: usize,
    key: Option<LongKey>,
    found: Vec<Finding>,
    /// Whether the text at `done` belongs to a secret whose mark was already passed on.
    inside: bool,
    has_blocks: bool,
}

#[derive(Debug)]
struct GluedTag {
    tag: Tag,
    is_glued: bool,
}

/// A private key longer than the window.
#[derive(Debug)]
struct LongKey {
    start: usize,
    end: usize,
    next_line: usize,
    /// Whether the line began earlier. A line too long to be held counts as part of the key.
    is_within_line: bool,
}

impl SecretStream {
    /// Creates a stream at the beginning of a text, with other sizes than [`BLOCK_BYTES`] and [`WINDOW_BYTES`].
    pub(super) fn with_sizes(block: usize, window: usize) -> Self {
        Self {
            block,
            window,
            text: Vec::new(),
            done: 0,
            scanned: 0,
            hits: VecDeque::new(),
            marks: VecDeque::new(),
            tags: VecDeque::new(),
            last_mark_end: None,
            window_start: 0,
            covered: 0..0,
            depth: 0,
            private_start: 0,
            key: None,
            found: Vec::new(),
            inside: false,
            has_blocks: false,
        }
    }

    pub(super) fn restart(&mut self) {
        *self = Self::with_sizes(self.block, self.window);
    }

    /// Takes more text, and passes on the part of it that is decided.
    pub(super) fn push_to(&mut self, bytes: &[u8], pass: &mut impl FnMut(RedactedPart<'_>)) {
        for piece in bytes.chunks(self.block) {
            self.text.extend_from_slice(piece);
            if self.text.len() - self.scanned >= self.block + scan::MAX_LITERAL_BYTES {
                self.advance(false, pass);
            }
        }
    }

    pub(super) fn finish_to(&mut self, pass: &mut impl FnMut(RedactedPart<'_>)) {
        self.advance(true, pass);
    }

    /// Returns how many bytes it holds, including its notes about them.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        let noted = self.hits.capacity() * size_of::<LiteralHit>() + self.tags.capacity() * size_of::<GluedTag>();
        self.text.capacity() + noted + self.marks.capacity() * size_of::<Range<usize>>()
    }

    pub(super) fn has_blocks(&self) -> bool {
        self.has_blocks
    }

    /// Searches what has arrived. How often this is called before the last time does not matter.
    pub(super) fn advance(&mut self, is_last: bool, pass: &mut impl FnMut(RedactedPart<'_>)) {
        // A literal that begins after this position may be incomplete.
        let known = if is_last { self.text.len() } else { self.text.len().saturating_sub(scan::MAX_LITERAL_BYTES) };
        self.scan(known);
        let tags_to = self.follow_tags(is_last);
        let hits_to = self.look_at_hits(known, is_last);
        let limit = if is_last { known } else { known.min(tags_to).min(hits_to).saturating_sub(MAX_LEAD_BYTES) };
        self.pass_on(limit.max(self.done), is_last, pass);
        self.forget(self.done.saturating_sub(CONTEXT_BYTES));
    }

    fn scan(&mut self, known: usize) {
        let mut hits = Vec::new();
        scan::scan_between(&self.text, self.scanned..known, &mut hits);
        self.scanned = known;
        // The last bytes of a part are read again with the next one, and may complete a literal that begins after this
        // part.
        for hit in hits.into_iter().filter(|hit| hit.at < known) {
            match hit.literal() {
                Literal::Sign(Sign::Mark) => {
                    if let Some(mark) = mark_at(&self.text, hit) {
                        self.last_mark_end = Some(mark.end);
                        self.marks.push_back(mark);
                    }
                }
                Literal::Sign(Sign::PrivateOpen | Sign::PrivateClose) => {
                    if let Some(tag) = block::tag_at(&self.text, hit) {
                        self.has_blocks = true;
                        let start = tag.range.start;
                        let follows_word = start > 0 && WORD.has(self.text[start - 1]);
                        let is_glued = follows_word || self.last_mark_end == Some(start);
                        self.tags.push_back(GluedTag { tag, is_glued });
                    }
                }
                Literal::Sign(Sign::PemBegin | Sign::PuttyLines | Sign::AnsibleVault) => {
                    self.has_blocks = true;
                    self.hits.push_back(hit);
                }
                _ => self.hits.push_back(hit),
            }
        }
    }

    /// Opens and closes private blocks. Returns the position of a tag that waits for what follows it.
    fn follow_tags(&mut self, is_last: bool) -> usize {
        let last_close = self.tags.iter().rev().find(|tag| !tag.tag.opens).map_or(0, |tag| tag.tag.range.start);
        while let Some(GluedTag { tag: Tag { opens, range }, is_glued }) = self.tags.front() {
            let (start, end) = (range.start, range.end);
            if *opens && self.depth == 0 && *is_glued && start >= last_close {
                // It counts only if a closing tag follows. There is none so far, and the window is the longest wait.
                if !is_last && self.text.len() - start <= self.window {
                    return start;
                }
            } else if *opens {
                if self.depth == 0 {
                    self.private_start = start;
                }
                self.depth += 1;
            } else if self.depth > 0 {
                self.depth -= 1;
                if self.depth == 0 {
                    self.found.push(Finding::new(PRIVATE, self.private_start..end));
                }
            }
            self.tags.pop_front();
        }
        usize::MAX
    }

    /// Runs the matchers. Returns the position of a literal that waits for what follows it.
    fn look_at_hits(&mut self, known: usize, is_last: bool) -> usize {
        if let Some(waits) = self.follow_key(known, is_last) {
            return waits;
        }
        while let Some(&hit) = self.hits.front() {
            let is_covered = hit.at > self.covered.start && hit.at < self.covered.end;
            if is_covered || self.is_in_mark(hit.at) {
                self.hits.pop_front();
                continue;
            }
            let window = self.window_at(known, is_last);
            let finding = find_at(&window, hit);
            let (is_sound, is_open) = (!window.take_looked_at_mark(), window.take_looked_ahead());
            if is_open && self.text.len() - hit.at <= self.window {
                return hit.at;
            }
            self.hits.pop_front();
            let Some(finding) = finding.filter(|_| is_sound || is_open) else { continue };
            // Only a key can be longer than the window.
            if is_open && matches!(hit.literal(), Literal::Sign(Sign::PemBegin)) {
                let start = finding.start;
                self.key = Some(LongKey { start, end: start, next_line: start, is_within_line: false });
                self.covered = start..usize::MAX;
                if let Some(waits) = self.follow_key(known, is_last) {
                    return waits;
                }
                continue;
            }
            if finding.start < self.covered.start || finding.end > self.covered.end {
                self.covered = finding.start..finding.end;
            }
            self.found.push(finding);
        }
        usize::MAX
    }

    /// Returns the window between marks that contains the first hit.
    fn window_at(&self, known: usize, is_last: bool) -> Window<'_> {
        let end = self.marks.front().map_or(self.text.len(), |mark| mark.start);
        let known = if is_last { usize::MAX } else { known };
        Window::of_part(&self.text, self.window_start..end, known)
    }

    fn is_in_mark(&mut self, at: usize) -> bool {
        while let Some(mark) = self.marks.pop_front_if(|mark| mark.end <= at) {
            self.window_start = mark.end;
        }
        self.marks.front().is_some_and(|mark| mark.start <= at)
    }

    /// Continues with a key that is longer than the window. Returns the position where it waits for what follows.
    fn follow_key(&mut self, known: usize, is_last: bool) -> Option<usize> {
        let mut key = self.key.take()?;
        loop {
            let _ = self.is_in_mark(key.next_line);
            let window = self.window_at(known, is_last);
            let line = block::next_key_line(&window, key.next_line, key.is_within_line);
            let is_open = window.take_looked_ahead();
            let waits = is_open && self.text.len() - key.next_line <= self.window;
            match line {
                KeyLine::Key { end, .. } | KeyLine::End { end: Some(end) } if is_open && !waits => {
                    self.key = Some(LongKey { end, next_line: end, is_within_line: true, ..key });
                    return Some(end);
                }
                _ if waits => {
                    let at = key.next_line;
                    self.key = Some(key);
                    return Some(at);
                }
                KeyLine::Key { end, next } => key = LongKey { end, next_line: next, is_within_line: false, ..key },
                KeyLine::Between { next } => key.next_line = next,
                KeyLine::End { end } => {
                    let range = key.start..end.unwrap_or(key.end);
                    self.covered = range.clone();
                    self.found.push(Finding::new("private-key", range));
                    return None;
                }
            }
        }
    }

    /// Passes on the text up to `limit`, or up to a secret that may extend beyond it.
    fn pass_on(&mut self, limit: usize, is_last: bool, pass: &mut impl FnMut(RedactedPart<'_>)) {
        let end = if is_last { self.text.len() } else { usize::MAX };
        let private = (self.depth > 0).then(|| Finding::new(PRIVATE, self.private_start..end));
        let key = self.key.as_ref().map(|key| Finding::new("private-key", key.start..end));
        // Of findings with the same bytes, the first one names the mark, and blocks come first.
        let (blocks, others): (Vec<_>, Vec<_>) =
            self.found.iter().cloned().chain(private).chain(key).partition(|finding| finding.rule == PRIVATE);
        let groups = merge([blocks, others].concat());
        for group in groups {
            if group.end <= self.done {
                continue;
            }
            if group.start >= limit && !(self.inside && group.start <= self.done) {
                break;
            }
            let goes_on = self.inside && group.start <= self.done;
            let is_too_long = self.text.len() - group.start.min(self.text.len()) > self.window;
            if !goes_on {
                self.inside = false;
                pass(RedactedPart::Text(&self.text[self.done..group.start]));
                self.done = group.start;
                if group.end > limit && !is_too_long {
                    self.found.retain(|finding| finding.end > group.start);
                    return;
                }
                pass(RedactedPart::Mark(group.rule));
            }
            let to = group.end.min(limit);
            pass(RedactedPart::Removed(to - self.done));
            self.done = to;
            self.inside = group.end > limit;
            if self.inside {
                break;
            }
        }
        if !self.inside {
            pass(RedactedPart::Text(&self.text[self.done..limit]));
            self.done = limit;
        }
        let done = self.done;
        self.found.retain(|finding| finding.end > done);
    }

    /// Drops the first `length` bytes, which are not needed any more.
    fn forget(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        let back = |at: &mut usize| *at = at.saturating_sub(length);
        let back_range = |range: &mut Range<usize>| {
            back(&mut range.start);
            // A range without an end stays without one.
            if range.end != usize::MAX {
                back(&mut range.end);
            }
        };
        self.text.drain(..length);
        for at in [&mut self.done, &mut self.scanned, &mut self.window_start, &mut self.private_start] {
            back(at);
        }
        self.hits.iter_mut().for_each(|hit| back(&mut hit.at));
        self.marks.iter_mut().for_each(back_range);
        self.tags.iter_mut().for_each(|tag| back_range(&mut tag.tag.range));
        self.last_mark_end = self.last_mark_end.and_then(|end| end.checked_sub(length));
        back_range(&mut self.covered);
        if let Some(key) = &mut self.key {
            for at in [&mut key.start, &mut key.end, &mut key.next_line] {
                back(at);
            }
        }
        for finding in &mut self.found {
            back(&mut finding.start);
            back(&mut finding.end);
        }
    }
}
