//! A large source file that a client read, by its outline in place of a digest.
//!
//! Invariants: what is shown is within the budget of a digest; it is made of the text as it is kept, so that nothing comes
//! back that was redacted there.

use std::path::Path;

use weir_core::wording::{counted, fence, size};
use weir_core::{Origin, Reference};
use weir_outline::Level;
use weir_store::BlobReader;

use crate::error::CommandError;
use crate::run::read_on;

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

/// What takes the place of a source file, if its language is known and its outline is short enough to.
pub(super) fn shown(
    text: &BlobReader,
    path: &Path,
    (head, reference): (&str, Reference),
) -> Result<Option<String>, CommandError> {
    let bytes = text.bytes();
    if bytes > LARGEST {
        return Ok(None);
    }
    let Ok(text) = String::from_utf8(text.all()?) else { return Ok(None) };
    let Some(language) = weir_outline::language_of(path, &text).filter(|language| is_code(language)) else {
        return Ok(None);
    };
    let Ok(outline) = crate::outlining::outline(language, &text) else { return Ok(None) };
    let lines = counted(text.lines().count(), "line", "lines");
    let said = |shown: &str, left: &str| {
        let (size, fenced, read_on) = (size(bytes), fence(reference, shown), read_on(Origin::Model));
        format!(
            "{head}; outline; {lines}, {size} held as {reference}\n{fenced}\n{left}{read_on}, or read a part of the file"
        )
    };
    // What the largest digest may have: a part of an outline is worth less than the whole.
    let budget = weir_digest::budget(u64::MAX);
    let mut last = None;
    for level in [Level::Standard, Level::Minimal] {
        let shown = weir_outline::show(&outline, &text, level);
        // A file without items has nothing that an outline could show.
        if shown.level.is_none() || outline.items.is_empty() {
            return Ok(None);
        }
        let whole = said(&shown.text, "");
        if weir_tokens::count(&whole) <= budget {
            return Ok(Some(whole));
        }
        last = Some(shown.text);
    }
    Ok(last.map(|text| cut(&text, budget, said)))
}

/// As many lines of an outline as fit, and how many do not.
fn cut(outline: &str, budget: usize, said: impl Fn(&str, &str) -> String) -> String {
    let left =
        |text: &str| format!("{} more lines of the outline by context_peek; ", outline[text.len()..].lines().count());
    let around = weir_tokens::count(&said("", &left("")));
    let end = weir_tokens::fit(outline, budget.saturating_sub(around));
    let text = &outline[..outline[..end].rfind('\n').map_or(0, |at| at + 1)];
    said(text, &left(text))
}
