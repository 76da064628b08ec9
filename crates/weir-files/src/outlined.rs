//! Shows a file by its interface, and what a change did to that interface.

use std::collections::HashSet;
use std::path::Path;

use weir_core::wording::one_line;
use weir_outline::{Item, Level, Outline, OutlineError, Shown};

use crate::outlining::outline_of;

const MAX_NAMED_SYMBOLS: usize = 6;
const MAX_SIGNATURE_CHARS: usize = 110;

/// Returns the outline of a file at a level, or the text itself if that is not longer.
pub fn outlined(path: &Path, text: &str, level: Level) -> Result<Shown, OutlineError> {
    let outline = outline_of(path, text)?;
    Ok(weir_outline::show(&outline, text, level))
}

/// Returns the lines of an outline that fit in a number of tokens, and the number of the others.
pub fn whole_lines(outline: &str, tokens: usize) -> (&str, usize) {
    let end = weir_tokens::fit(outline, tokens);
    let end = if end < outline.len() { outline[..end].rfind('\n').map_or(end, |at| at + 1) } else { end };
    (&outline[..end], outline[end..].lines().count())
}

/// Describes in a line or two what a change did to the interface of a file. Empty if the interface is the same.
pub fn changes(path: &Path, old: &str, new: &str) -> String {
    let (Ok(before), Ok(after)) = (outline_of(path, old), outline_of(path, new)) else { return String::new() };
    let mut lines = Vec::new();
    let said = differences(&before, &after);
    if !said.is_empty() {
        let more = said.len().saturating_sub(MAX_NAMED_SYMBOLS);
        let more = if more > 0 { format!("; {more} more") } else { String::new() };
        lines.push(format!("outline: {}{more}", said[..said.len().min(MAX_NAMED_SYMBOLS)].join("; ")));
    }
    if after.broken > 0 && before.broken == 0 {
        lines.push("the file no longer parses completely".to_owned());
    }
    lines.join("\n")
}

/// Returns the symbols that were added or removed or have a different signature.
fn differences(before: &Outline, after: &Outline) -> Vec<String> {
    let (before, after) = (symbols(&before.items), symbols(&after.items));
    let [was, is]: [HashSet<&(String, String)>; 2] = [before.iter().collect(), after.iter().collect()];
    let gone: Vec<&(String, String)> = before.iter().filter(|symbol| !is.contains(symbol)).collect();
    let new: Vec<&(String, String)> = after.iter().filter(|symbol| !was.contains(symbol)).collect();
    let names = |list: &[&(String, String)]| list.iter().map(|symbol| symbol.0.clone()).collect::<HashSet<_>>();
    let (names_gone, names_new) = (names(&gone), names(&new));
    let mut said = Vec::new();
    for (name, signature) in gone {
        if !names_new.contains(name) {
            said.push(format!("- {}", one_line(signature, MAX_SIGNATURE_CHARS)));
        }
    }
    for (name, signature) in new {
        let mark = if names_gone.contains(name) { '~' } else { '+' };
        said.push(format!("{mark} {}", one_line(signature, MAX_SIGNATURE_CHARS)));
    }
    said
}

fn symbols(items: &[Item]) -> Vec<(String, String)> {
    fn add(items: &[Item], above: &str, all: &mut Vec<(String, String)>) {
        for item in items {
            let name = format!("{above}/{:?} {}", item.kind, item.names.join(","));
            add(&item.children, &name, all);
            all.push((name, item.signature.clone()));
        }
    }
    let mut all = Vec::new();
    add(items, "", &mut all);
    all
}
