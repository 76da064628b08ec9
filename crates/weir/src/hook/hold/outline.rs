//! Outlines a source file that is too large to be shown in full.

use std::path::Path;

use weir_outline::Level;

/// A larger file takes too long to parse while a client waits.
const MAX_FILE_BYTES: u64 = 256 << 10;
/// Languages for data and prose. Their values and sentences matter, which a digest collects and an outline omits.
const NOT_CODE: [&str; 3] = ["json", "markdown", "html"];

/// Starts the parser early, while the text is still being stored.
pub(super) fn prepare(path: &Path) {
    if weir_outline::language_of(path, "").is_some_and(is_code) {
        crate::outlining::prepare();
    }
}

fn is_code(language: &weir_outline::Language) -> bool {
    !NOT_CODE.contains(&language.name())
}

/// Returns the outline of a source file with all its names, if its language is known and it has any symbols.
pub(super) fn of(text: &str, path: &Path, budget: usize) -> Option<String> {
    if text.len() as u64 > MAX_FILE_BYTES {
        return None;
    }
    let language = weir_outline::language_of(path, text).filter(|language| is_code(language))?;
    let outline = crate::outlining::outline(language, text).ok()?;
    if outline.items.is_empty() {
        return None;
    }
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
