//! Random texts, in particular those that are likely to be split or merged wrongly.

use proptest::prelude::*;

/// Strings near a boundary of some rule of the split pattern.
#[rustfmt::skip]
const NASTY: &[&str] = &[
    // Spaces of all kinds, and characters that only look like one. Nine spaces merge badly with an em space.
    " ", "  ", "   ", "         ", "\n", "\r", "\r\n", "\t", "\u{b}", "\u{85}", "\u{a0}", "\u{2003}", "\u{2028}", "\u{3000}",
    "\u{200b}", "\u{1f}",
    // Contractions, whole and broken, in both cases and in that of the long s.
    "'", "'s", "'S", "'t", "'T", "'re", "'RE", "'r", "'ve", "'Ve", "'m", "'ll", "'lL", "'l", "'d", "'D", "'ſ", "’s", "ſ",
    // Letters: lower, upper, title case, modifier, without case, and some with an unexpected counterpart in the other
    // case.
    "a", "b", "ing", "the", "A", "B", "HTTP", "ǅ", "ʰ", "ª", "中", "文字", "カ", "ب", "İ", "ı", "ß", "\u{212a}", "é", "я", "Я",
    // Marks: nonspacing, spacing, enclosing. The last ones are Thai, some of whose tokens end inside a character.
    "\u{301}", "\u{94d}", "\u{903}", "\u{20e3}", "\u{fe0f}", "\u{e34}", "\u{e34}เ", "ซ",
    // Numbers, which are split into pieces of at most three.
    "0", "12", "345", "½", "²", "٣", "Ⅻ", "〇",
    // Symbols, including those that line breaks follow.
    "/", "//", ".", ",", "!", "(", ")", "{\"", "\":", "-", "--", "==", "_", "`", "€", "\\", "<|endoftext|>", "<|", "|>",
    // What is several characters to a program but one to a reader, and what is none to either.
    "👨\u{200d}👩\u{200d}👧", "👍🏽", "🇩🇪", "\u{200d}", "\u{feff}", "\u{0}", "\u{10ffff}", "\u{e000}", "\u{378}",
];

pub(crate) fn nasty() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(NASTY), 0..40).prop_map(|parts| parts.concat())
}

/// Any characters, assigned or not.
pub(crate) fn arbitrary() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<char>(), 0..60).prop_map(String::from_iter)
}

pub(crate) fn repeated() -> impl Strategy<Value = String> {
    let unit = prop::collection::vec(prop::sample::select(NASTY), 1..3);
    (unit, 1usize..400, nasty()).prop_map(|(unit, times, end)| unit.concat().repeat(times) + &end)
}

/// A word without an end, such as base64.
pub(crate) fn endless() -> impl Strategy<Value = String> {
    "[a-z]{1,3000}|[A-Z]{1,3000}|[a-zA-Z]{1,3000}|[a-zA-Z0-9+/]{1,3000}|[一-龥]{1,1000}|[\\-=]{1,3000}"
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => nasty(), 2 => arbitrary(), 1 => repeated(), 1 => endless()]
}
