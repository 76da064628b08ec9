//! The outline of a source file that is too large to be shown whole.

use std::path::Path;

use weir_outline::Level;

/// A larger file takes longer to parse than a client should wait.
const LARGEST: u64 = 256 << 10;
/// Languages of data and of prose: what matters there are values and sentences, which a digest gathers and an outline
/// leaves out.
const NOT_CODE: [&str; 3] = ["json", "markdown", "html"];

/// Starts the parser ahead, while the text is still being kept.
pub(super) fn prepare(path: &Path) {
    if weir_outline::language_of(path, "").is_some_and(is_code) {
        crate::outlining::prepare();
    }
}

fn is_code(language: &weir_outline::Language) -> bool {
    !NOT_CODE.contains(&language.name())
}

/// The outline of a source file with every name in it, if its language is known and it has any.
pub(super) fn of(text: &str, path: &Path, budget: usize) -> Option<String> {
    if text.len() as u64 > LARGEST {
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

/// As many lines of an outline as fit, and how many do not.
fn cut(outline: &str, budget: usize) -> String {
    let end = weir_tokens::fit(outline, budget.saturating_sub(20));
    let text = &outline[..outline[..end].rfind('\n').map_or(0, |at| at + 1)];
    format!("{text}… {} more lines of the outline\n", outline[text.len()..].lines().count())
}
