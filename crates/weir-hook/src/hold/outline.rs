//! Outlines a source file that is too large to be shown in full.

use std::borrow::Cow;
use std::path::Path;

use weir_outline::{Content, Language, Level};

/// A larger file takes too long to parse while a client waits.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// Starts the parser early, while the text is still being stored.
pub(super) fn prepare(path: &Path) {
    if weir_outline::language_of(path, "").is_some_and(is_outlined) {
        weir_files::outlining::prepare();
    }
}

/// Returns whether an outline shows what matters. The values and sentences of a text do, and a digest collects them.
fn is_outlined(language: &Language) -> bool {
    language.content() != Content::Text
}

/// Returns the outline of a source file with all its names, if its language is known and it has any symbols.
pub(super) fn of(text: &str, path: &Path, budget: usize) -> Option<String> {
    if text.len() as u64 > MAX_FILE_BYTES {
        return None;
    }
    let plain = without_numbers(text);
    let text: &str = &plain;
    let language = weir_outline::language_of(path, text).filter(|language| is_outlined(language))?;
    let outline = weir_files::outlining::outline(language, text).ok()?;
    let mut last = None;
    for level in [Level::Verbose, Level::Standard, Level::Minimal] {
        let shown = weir_outline::show(&outline, text, level);
        shown.level?;
        if weir_tokens::count(&shown.text) <= budget {
            return Some(shown.text);
        }
        last = Some(shown.text);
    }
    last.map(|text| cut(&text, budget))
}

/// Returns as many lines of an outline as fit, and states how many do not.
fn cut(outline: &str, budget: usize) -> String {
    let end = weir_tokens::fit(outline, budget.saturating_sub(20));
    let text = &outline[..outline[..end].rfind('\n').map_or(0, |at| at + 1)];
    format!("{text}… {} more lines of the outline\n", outline[text.len()..].lines().count())
}

/// Removes the numbers that a client has put before the lines of a file.
fn without_numbers(text: &str) -> Cow<'_, str> {
    let unnumbered = |line: &str| {
        let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix(['→', '\t']).map(str::to_owned)
    };
    let is_numbered = text.trim_start().starts_with("1→") || text.trim_start().starts_with("1\t");
    match is_numbered {
        true => text.split_inclusive('\n').map(|line| unnumbered(line).unwrap_or_else(|| line.to_owned())).collect(),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parser_sees_no_numbers_of_the_client() {
        let numbered = "     1→fn a() {\n     2→\tb(2)\n     3→}\nA remark of the client\n";
        assert_eq!(without_numbers(numbered), "fn a() {\n\tb(2)\n}\nA remark of the client\n");
        assert_eq!(without_numbers("1\tuse x;\n2\tuse y;"), "use x;\nuse y;");
        for plain in ["1 → 2\n", "fn a() {}\n", "", "12\tx\n"] {
            assert_eq!(without_numbers(plain), plain);
        }
    }
}
