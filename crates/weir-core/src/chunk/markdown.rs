//! Markdown: blocks as a reader sees them, each under its headings.
//!
//! Invariant: a fenced block that fits into a chunk is one block, and text in a fence or a comment is never a heading.

use super::lines::{LineEnd, indented, is_blank, line};
use super::pack::{Joint, TextBlock};
use super::{MAX_CHUNK_BYTES, heading, plain};

/// The open headings, and what a cut has left open.
#[derive(Debug, Default)]
pub(super) struct MarkdownScanner {
    headings: Vec<(u8, String)>,
    inside: Enclosure,
    has_begun: bool,
    /// Whether a cut fell within a line, so that what follows does not begin a block.
    is_within_line: bool,
}

/// What a line is inside of, if that is not Markdown.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Enclosure {
    #[default]
    Text,
    Fence {
        mark: u8,
        count: usize,
    },
    Comment,
}

struct OpenBlock {
    is_within_line: bool,
    kind: BlockKind,
    end: usize,
    inside: Enclosure,
    /// The position where the open fence or comment begins.
    opened_at: usize,
    /// The position where the last fence or comment ended.
    closed_at: usize,
    /// The position where the last item of a list begins.
    item_at: usize,
    /// Whether the line before was blank.
    has_gap: bool,
    lines: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Unknown,
    Paragraph,
    List,
    /// A block that ends with its last line: a heading, a fence, a comment, a rule.
    Closed,
}

/// The effect of a line on the block being read.
enum LineEffect {
    /// The line belongs to the block.
    AcceptedReplies,
    /// The line begins another block.
    Ends,
    /// The line turns the block into a heading of this level.
    Titles(u8),
}

impl MarkdownScanner {
    /// Returns the block that `rest` begins with, including the blank lines after it.
    pub(super) fn next(&mut self, rest: &[u8], is_last: bool) -> Option<TextBlock> {
        if let Some(length) = self.front_matter(rest, is_last)? {
            return Some(self.block(length, Enclosure::Text));
        }
        let mut reading = OpenBlock {
            is_within_line: self.is_within_line,
            kind: if self.inside == Enclosure::Text { BlockKind::Unknown } else { BlockKind::Closed },
            end: 0,
            inside: self.inside,
            opened_at: 0,
            closed_at: 0,
            item_at: 0,
            has_gap: false,
            lines: 0,
        };
        let mut level = None;
        loop {
            let next = match line(rest, reading.end, is_last) {
                LineEnd::Ends(next) if next <= MAX_CHUNK_BYTES => next,
                LineEnd::Open => return None,
                LineEnd::Nothing => break,
                LineEnd::Ends(next) => return Some(self.overflow(rest, &rest[reading.end..next], reading)),
                LineEnd::Long => {
                    return Some(self.overflow(rest, &rest[reading.end..reading.end + MAX_CHUNK_BYTES], reading));
                }
            };
            match reading.push_line(&rest[reading.end..next]) {
                LineEffect::AcceptedReplies => {}
                LineEffect::Ends => break,
                LineEffect::Titles(found) => level = Some(found),
            }
            reading.end = next;
        }
        if reading.end == 0 {
            return None;
        }
        let Some(level) = level else {
            return Some(self.block(reading.end, reading.inside));
        };
        self.open(level, &rest[..reading.end]);
        let mut block = self.block(reading.end, Enclosure::Text);
        block.joint = Joint::Section(level);
        block.heading = Some(heading::path(self.headings.iter().map(|(_, title)| title.as_str())));
        Some(block)
    }

    /// Returns the length of the front matter, if this is the beginning and there is one. The outer `None` means that
    /// more text is needed.
    fn front_matter(&mut self, rest: &[u8], is_last: bool) -> Option<Option<usize>> {
        if self.has_begun {
            return Some(None);
        }
        let mut end = 0;
        let mut mark: &[u8] = b"";
        let found = loop {
            let next = match line(rest, end, is_last) {
                LineEnd::Open => return None,
                LineEnd::Ends(next) if next <= MAX_CHUNK_BYTES => next,
                _ => break None,
            };
            let text = rest[end..next].trim_ascii_end();
            match end {
                0 if matches!(text, b"---" | b"+++") => mark = text,
                0 => break None,
                _ if text == mark => break Some(next),
                _ => {}
            }
            end = next;
        };
        self.has_begun = true;
        Some(found)
    }

    /// Cuts a block that is too long with the line at its end.
    fn overflow(&mut self, rest: &[u8], line: &[u8], mut reading: OpenBlock) -> TextBlock {
        let mut inside = reading.inside;
        let begins_another = reading.kind != BlockKind::Unknown && matches!(reading.push_line(line), LineEffect::Ends);
        if inside == Enclosure::Text {
            inside = reading.inside;
        }
        let between = reading.item_at.max(reading.closed_at);
        let cut = match inside {
            Enclosure::Text if begins_another => reading.end,
            Enclosure::Text if between > 0 => between,
            Enclosure::Text => plain::cut(rest),
            // The fence or comment opened here may still fit into a chunk of its own.
            _ if reading.opened_at > 0 => reading.opened_at,
            _ => plain::cut(rest),
        };
        let block = self.block(cut, if cut > reading.opened_at { inside } else { Enclosure::Text });
        self.is_within_line = rest[cut - 1] != b'\n';
        block
    }

    fn block(&mut self, length: usize, inside: Enclosure) -> TextBlock {
        self.inside = inside;
        self.is_within_line = false;
        TextBlock { length, joint: Joint::Follows, heading: None }
    }

    fn open(&mut self, level: u8, text: &[u8]) {
        self.headings.retain(|(open, _)| *open < level);
        self.headings.push((level, title(text)));
    }
}

impl OpenBlock {
    fn push_line(&mut self, line: &[u8]) -> LineEffect {
        let (indent, text) = indented(line);
        let first = text.first().copied().unwrap_or(b'\n');
        if self.inside != Enclosure::Text {
            self.go_on_inside(text, self.end + line.len());
            return LineEffect::AcceptedReplies;
        }
        if std::mem::take(&mut self.is_within_line) {
            self.kind = BlockKind::Paragraph;
            return LineEffect::AcceptedReplies;
        }
        if matches!(first, b'\n' | b'\r') && is_blank(text) {
            self.has_gap = self.kind != BlockKind::Unknown;
            return LineEffect::AcceptedReplies;
        }
        let begins_inside = begins(first, text);
        let level = if indent < 4 && first == b'#' { atx_level(text) } else { None };
        let is_item = is_item(text);
        if self.kind == BlockKind::Unknown {
            self.lines = 1;
            self.kind = match begins_inside {
                Some(inside) => {
                    self.enter(inside, text);
                    BlockKind::Closed
                }
                None if level.is_some() => BlockKind::Closed,
                None if is_item => BlockKind::List,
                None => BlockKind::Paragraph,
            };
            return level.map_or(LineEffect::AcceptedReplies, LineEffect::Titles);
        }
        let is_over = match self.kind {
            BlockKind::Unknown => false,
            BlockKind::Closed => true,
            BlockKind::Paragraph => self.has_gap,
            // After a gap, a list continues with another item, or with what is indented below one.
            BlockKind::List => self.has_gap && !is_item && indent < 2,
        };
        let starts_again =
            level.is_some() || (begins_inside.is_some() && (self.kind == BlockKind::Paragraph || indent < 2));
        if is_over || starts_again {
            return LineEffect::Ends;
        }
        if let (BlockKind::Paragraph, Some(level)) = (self.kind, setext_level(indent, text))
            && self.lines <= 2
        {
            self.kind = BlockKind::Closed;
            return LineEffect::Titles(level);
        }
        if is_item && indent < 2 {
            self.item_at = self.end;
        }
        if let Some(inside) = begins_inside {
            self.enter(inside, text);
        }
        self.has_gap = false;
        self.lines += 1;
        LineEffect::AcceptedReplies
    }

    fn enter(&mut self, inside: Enclosure, text: &[u8]) {
        // A comment may end on the line it begins on.
        let is_over = inside == Enclosure::Comment && contains(text, b"-->");
        if !is_over {
            self.inside = inside;
            self.opened_at = self.end;
        }
    }

    fn go_on_inside(&mut self, text: &[u8], end: usize) {
        let is_over = match self.inside {
            Enclosure::Text => true,
            Enclosure::Comment => contains(text, b"-->"),
            Enclosure::Fence { mark, count } => {
                let marks = run(text, mark);
                marks >= count && is_blank(&text[marks..])
            }
        };
        if is_over {
            self.inside = Enclosure::Text;
            self.closed_at = end;
        }
    }
}

/// Returns what a line opens that is not Markdown.
fn begins(first: u8, text: &[u8]) -> Option<Enclosure> {
    match first {
        b'`' | b'~' => {
            let count = run(text, first);
            // A line such as ```` ```code``` ```` is a paragraph.
            let is_fence = count >= 3 && (first == b'~' || !text[count..].contains(&b'`'));
            is_fence.then_some(Enclosure::Fence { mark: first, count })
        }
        b'<' if text.starts_with(b"<!--") => Some(Enclosure::Comment),
        _ => None,
    }
}

fn atx_level(text: &[u8]) -> Option<u8> {
    let count = run(text, b'#');
    let is_heading = (1..=6).contains(&count) && text.get(count).is_none_or(u8::is_ascii_whitespace);
    is_heading.then_some(count as u8)
}

fn setext_level(indent: usize, text: &[u8]) -> Option<u8> {
    let first = *text.first()?;
    let is_underline = indent < 4 && matches!(first, b'=' | b'-') && is_blank(&text[run(text, first)..]);
    is_underline.then_some(if first == b'=' { 1 } else { 2 })
}

fn is_item(text: &[u8]) -> bool {
    let after = match text.first() {
        Some(b'-' | b'*' | b'+') => 1,
        Some(b'0'..=b'9') => {
            let digits = text.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
            if !matches!(text.get(digits), Some(b'.' | b')')) {
                return false;
            }
            digits + 1
        }
        _ => return false,
    };
    text.get(after).is_none_or(u8::is_ascii_whitespace)
}

/// Returns the words of a heading, without the marks around them.
fn title(text: &[u8]) -> String {
    let text = text.trim_ascii();
    let marked = atx_level(text).is_some();
    let first_line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let mut words = first_line;
    if marked {
        words = words[run(words, b'#')..].trim_ascii();
        let without = words.len() - words.iter().rev().take_while(|&&byte| byte == b'#').count();
        if without == 0 || words[without - 1].is_ascii_whitespace() {
            words = words[..without].trim_ascii();
        }
    }
    let words: Vec<u8> = words.iter().copied().filter(|byte| !matches!(byte, b'`' | b'*')).collect();
    heading::part(&words)
}

fn run(text: &[u8], byte: u8) -> usize {
    text.iter().take_while(|&&b| b == byte).count()
}

fn contains(text: &[u8], needle: &[u8]) -> bool {
    text.windows(needle.len()).any(|window| window == needle)
}
