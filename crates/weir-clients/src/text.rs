//! Texts of a payload. A text that is too long for memory is in a file of the caller's; only its place in that file,
//! its beginning and its end are here.
//!
//! Invariant: the type says whether a text is long. Nothing that a client sends can pass for another text.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

/// A text that is too long for memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongText {
    /// Its place in the caller's file, in bytes.
    pub range: Range<u64>,
    /// Its beginning, in whole characters.
    pub head: String,
    /// Its end, in whole characters.
    pub tail: String,
}

impl LongText {
    pub fn bytes(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }

    /// Returns its beginning and its end, and states how much is left out between them.
    pub fn brief(&self) -> String {
        let left_out = self.bytes().saturating_sub((self.head.len() + self.tail.len()) as u64);
        format!("{}\n… {left_out} bytes left out …\n{}", self.head, self.tail)
    }

    /// Keeps the beginning and the end within the text after some of it was cut off.
    fn fit(&mut self) {
        let most = usize::try_from(self.bytes()).unwrap_or(usize::MAX);
        self.head.truncate(most.min(self.head.len()));
        drop(self.tail.drain(..self.tail.len().saturating_sub(most)));
    }
}

/// A long text, and where it belongs in a payload.
#[derive(Debug, Clone, Copy)]
pub struct LongString<'a> {
    /// The string in the payload that stands for it. It is recognised by its address, not by its content, which is
    /// [`LongText::brief`].
    pub at: &'a Value,
    pub text: &'a Text,
}

/// A text from a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// A text in memory.
    Here(String),
    /// A text that is too long for memory, as its pieces in order. There is at least one.
    Long(Vec<Piece>),
}

/// A piece of a long text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A piece in memory.
    Here(String),
    /// A piece that is too long for memory.
    Long(LongText),
}

impl Default for Text {
    fn default() -> Self {
        Self::Here(String::new())
    }
}

impl Text {
    pub fn here(&self) -> Option<&str> {
        match self {
            Self::Here(text) => Some(text),
            Self::Long(_) => None,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.view().bytes()
    }

    /// Returns the text; of pieces that are too long for memory, only the beginning and the end.
    pub fn brief(&self) -> Cow<'_, str> {
        match self {
            Self::Here(text) => text.into(),
            Self::Long(pieces) => pieces.iter().map(Piece::brief).collect::<String>().into(),
        }
    }

    pub(crate) fn view(&self) -> TextView<'_> {
        match self {
            Self::Here(text) => TextView::Here(text),
            Self::Long(pieces) => TextView::Long { pieces, start: 0, end: 0 },
        }
    }

    /// Joins texts by line breaks.
    pub(crate) fn join(texts: impl Iterator<Item = Self>) -> Self {
        texts.reduce(Self::followed_by).unwrap_or_default()
    }

    fn followed_by(self, next: Self) -> Self {
        match (self, next) {
            (Self::Here(mut text), Self::Here(next)) => {
                text.push('\n');
                text.push_str(&next);
                Self::Here(text)
            }
            (first, next) => {
                let mut pieces = first.into_pieces();
                pieces.push(Piece::Here("\n".to_owned()));
                pieces.extend(next.into_pieces());
                Self::Long(pieces)
            }
        }
    }

    fn into_pieces(self) -> Vec<Piece> {
        match self {
            Self::Here(text) => vec![Piece::Here(text)],
            Self::Long(pieces) => pieces,
        }
    }
}

impl Piece {
    fn bytes(&self) -> u64 {
        match self {
            Self::Here(text) => text.len() as u64,
            Self::Long(long) => long.bytes(),
        }
    }

    fn brief(&self) -> Cow<'_, str> {
        match self {
            Self::Here(text) => text.into(),
            Self::Long(long) => long.brief().into(),
        }
    }

    fn head(&self) -> &str {
        match self {
            Self::Here(text) => text,
            Self::Long(long) => &long.head,
        }
    }

    fn tail(&self) -> &str {
        match self {
            Self::Here(text) => text,
            Self::Long(long) => &long.tail,
        }
    }

    fn cut_start(&mut self, bytes: usize) {
        match self {
            Self::Here(text) => drop(text.drain(..bytes)),
            Self::Long(long) => {
                long.range.start += bytes as u64;
                drop(long.head.drain(..bytes));
                long.fit();
            }
        }
    }

    fn cut_end(&mut self, bytes: usize) {
        match self {
            Self::Here(text) => text.truncate(text.len() - bytes),
            Self::Long(long) => {
                long.range.end -= bytes as u64;
                long.tail.truncate(long.tail.len() - bytes);
                long.fit();
            }
        }
    }
}

/// A text from which a decoder cuts what the client put before and after it.
///
/// The [`head`](Self::head) and the [`tail`](Self::tail) of a text in memory are the whole text. Those of a long text
/// are its first and its last bytes, so a decoder that looks where clients write works alike for both.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TextView<'a> {
    /// A text in memory.
    Here(&'a str),
    /// A text that is too long for memory.
    Long {
        pieces: &'a [Piece],
        /// How many bytes are cut off the first piece, all of them from its head.
        start: usize,
        /// How many bytes are cut off the last piece, all of them from its tail.
        end: usize,
    },
}

impl<'a> TextView<'a> {
    pub(crate) fn head(self) -> &'a str {
        match self {
            Self::Here(text) => text,
            Self::Long { pieces, start, .. } => {
                let head = &pieces.first().map_or("", Piece::head)[start..];
                &head[..head.len().min(self.most())]
            }
        }
    }

    pub(crate) fn tail(self) -> &'a str {
        match self {
            Self::Here(text) => text,
            Self::Long { pieces, end, .. } => {
                let tail = pieces.last().map_or("", Piece::tail);
                let tail = &tail[..tail.len() - end];
                &tail[tail.len().saturating_sub(self.most())..]
            }
        }
    }

    /// Returns the last line, unless it is longer than the tail.
    pub(crate) fn last_line(self) -> Option<&'a str> {
        match (self, self.tail().rsplit_once('\n')) {
            (_, Some((_, last))) => Some(last),
            (Self::Here(text), None) => Some(text),
            (Self::Long { .. }, None) => None,
        }
    }

    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Here(text) => text.len() as u64,
            Self::Long { pieces, start, end } => {
                pieces.iter().map(Piece::bytes).sum::<u64>().saturating_sub((start + end) as u64)
            }
        }
    }

    /// Returns the length in bytes as far as it can be an index.
    fn most(self) -> usize {
        usize::try_from(self.bytes()).unwrap_or(usize::MAX)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.bytes() == 0
    }

    /// Cuts bytes off the beginning, at most the whole head.
    pub(crate) fn without_start(self, bytes: usize) -> Self {
        let bytes = bytes.min(self.head().len());
        match self {
            Self::Here(text) => Self::Here(&text[bytes..]),
            Self::Long { pieces, start, end } => Self::Long { pieces, start: start + bytes, end },
        }
    }

    /// Cuts bytes off the end, at most the whole tail.
    pub(crate) fn without_end(self, bytes: usize) -> Self {
        let bytes = bytes.min(self.tail().len());
        match self {
            Self::Here(text) => Self::Here(&text[..text.len() - bytes]),
            Self::Long { pieces, start, end } => Self::Long { pieces, start, end: end + bytes },
        }
    }

    /// Returns the text after a prefix. A prefix that is longer than the head is not found.
    pub(crate) fn strip_prefix(self, prefix: &str) -> Option<Self> {
        self.head().starts_with(prefix).then(|| self.without_start(prefix.len()))
    }

    /// Returns the text before a suffix. A suffix that is longer than the tail is not found.
    pub(crate) fn strip_suffix(self, suffix: &str) -> Option<Self> {
        self.tail().ends_with(suffix).then(|| self.without_end(suffix.len()))
    }

    /// Returns what follows another text with which this one begins. If this text is long, only the beginnings, the
    /// ends and the lengths are compared, and what follows must be within the tail.
    pub(crate) fn after(self, first: TextView<'_>) -> Option<&'a str> {
        if let (Self::Here(text), TextView::Here(first)) = (self, first) {
            return text.strip_prefix(first);
        }
        let rest = usize::try_from(self.bytes().checked_sub(first.bytes())?).ok()?;
        let tail = self.tail();
        let (end, rest) = tail.split_at_checked(tail.len().checked_sub(rest)?)?;
        let begins_alike = self.head().bytes().zip(first.head().bytes()).all(|(a, b)| a == b);
        let ends_alike = end.bytes().rev().zip(first.tail().bytes().rev()).all(|(a, b)| a == b);
        (begins_alike && ends_alike).then_some(rest)
    }

    /// Returns the text without what was cut off.
    pub(crate) fn to_text(self) -> Text {
        match self {
            Self::Here(text) => Text::Here(text.to_owned()),
            Self::Long { pieces, start, end } => {
                let mut pieces = pieces.to_vec();
                if let Some(first) = pieces.first_mut() {
                    first.cut_start(start);
                }
                if let Some(last) = pieces.last_mut() {
                    last.cut_end(end);
                }
                Text::Long(pieces)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a text as a long one, with a file that contains nothing else.
    fn long(text: &str, excerpt: usize) -> Text {
        let (start, end) =
            (text.floor_char_boundary(excerpt), text.ceil_char_boundary(text.len().saturating_sub(excerpt)));
        let (head, tail) = (text[..start].to_owned(), text[end..].to_owned());
        Text::Long(vec![Piece::Long(LongText { range: 0..text.len() as u64, head, tail })])
    }

    fn whole(file: &str, text: &Text) -> String {
        let Text::Long(pieces) = text else { panic!("{text:?}") };
        let whole = |piece: &Piece| match piece {
            Piece::Here(text) => text.clone(),
            Piece::Long(long) => file[long.range.start as usize..long.range.end as usize].to_owned(),
        };
        pieces.iter().map(whole).collect()
    }

    proptest! {
        #[test]
        fn a_long_text_is_cut_like_a_short_one(
            file in "[a-cé€𝄞\n]{0,40}",
            excerpt in 0..60usize,
            cuts in prop::collection::vec((any::<bool>(), 0..12usize), 0..5),
        ) {
            let long = long(&file, excerpt);
            let (mut view, mut plain) = (long.view(), file.as_str());
            for (is_start, bytes) in cuts {
                if is_start {
                    let bytes = view.head().floor_char_boundary(bytes);
                    (view, plain) = (view.without_start(bytes), &plain[bytes..]);
                } else {
                    let tail = view.tail();
                    let bytes = tail.len() - tail.ceil_char_boundary(tail.len().saturating_sub(bytes));
                    (view, plain) = (view.without_end(bytes), &plain[..plain.len() - bytes]);
                }
                let text = view.to_text();
                for view in [view, text.view()] {
                    prop_assert!(plain.starts_with(view.head()) && plain.ends_with(view.tail()));
                    prop_assert_eq!(view.bytes(), plain.len() as u64);
                }
                prop_assert_eq!(whole(&file, &text), plain);
            }
        }
    }

    #[test]
    fn what_follows_a_long_text_is_found_by_its_ends() {
        let (first, second) = ("ab".repeat(50), "cd".repeat(50));
        let text = format!("{first}\nend");
        for excerpt in [4, 30, 200] {
            assert_eq!(long(&text, excerpt).view().after(long(&first, excerpt).view()), Some("\nend"));
            assert_eq!(long(&text, excerpt).view().after(TextView::Here(&first)), Some("\nend"));
            assert_eq!(long(&text, excerpt).view().after(long(&second, excerpt).view()), None);
        }
        assert_eq!(long(&text, 3).view().after(long(&first, 3).view()), None, "not within the tail");
        assert_eq!(TextView::Here(&text).after(TextView::Here(&first)), Some("\nend"));
    }

    #[test]
    fn joined_texts_keep_their_order_and_their_ends() {
        let here = |text: &str| Text::Here(text.to_owned());
        assert_eq!(Text::join(std::iter::empty()), here(""));
        assert_eq!(Text::join([here("a"), here("b")].into_iter()), here("a\nb"));
        let joined = Text::join([here("a"), long("0123456789", 3), here("b")].into_iter());
        assert_eq!((whole("0123456789", &joined).as_str(), joined.bytes()), ("a\n0123456789\nb", 14));
        assert_eq!(joined.brief(), "a\n012\n… 4 bytes left out …\n789\nb");
        let view = joined.view().without_start(1).without_end(1);
        assert_eq!(whole("0123456789", &view.to_text()), "\n0123456789\n");
    }
}
