//! The sources of the lines of a log: the program, the unit or the logger named between the time and the text.
//!
//! Invariant: memory does not grow with the log.

use std::collections::BTreeMap;

use crate::Item;
use crate::text::clip;
use crate::trouble::{Level, Trouble};

/// The maximum number of sources that are distinguished, and that are shown.
const MAX_SOURCES: usize = 200;
const MAX_SOURCES_SHOWN: usize = 10;
/// The maximum number of words after the time in which the name may be, and the maximum length of a name.
const MAX_WORDS: usize = 4;
const MAX_NAME_BYTES: usize = 60;

/// The number of lines of each source.
#[derive(Default)]
pub(super) struct Sources {
    lines: u64,
    named: u64,
    of: BTreeMap<String, Count>,
}

#[derive(Default)]
struct Count {
    lines: u64,
    errors: u64,
    warnings: u64,
}

impl Sources {
    /// Takes the text after the time of a line.
    pub(super) fn add(&mut self, rest: &str, trouble: Option<Trouble>) {
        self.lines += 1;
        let Some(name) = name(rest) else { return };
        if !self.of.contains_key(name) && self.of.len() < MAX_SOURCES {
            self.of.insert(name.to_owned(), Count::default());
        }
        let Some(count) = self.of.get_mut(name) else { return };
        self.named += 1;
        count.lines += 1;
        match trouble {
            Some(Trouble::Error) => count.errors += 1,
            Some(Trouble::Warning) => count.warnings += 1,
            None => {}
        }
    }

    /// Returns `sshd 412 (3 errors), cron 60`, if nearly all lines have a name and there are several names.
    pub(super) fn item(&self) -> Option<(usize, Item)> {
        let count = self.of.len();
        if self.named * 10 < self.lines * 7 || !(2..=60).contains(&count) || self.named < count as u64 * 3 {
            return None;
        }
        let mut all: Vec<(&String, &Count)> = self.of.iter().collect();
        all.sort_by_key(|(_, count)| (u64::MAX - count.lines, u64::MAX - count.errors));
        let shown = all.iter().take(MAX_SOURCES_SHOWN).map(|(name, count)| {
            let counted = |count: u64, word: &str| (count > 0).then(|| format!("{count} {word}"));
            let trouble = [counted(count.errors, "errors"), counted(count.warnings, "warnings")];
            let trouble: Vec<String> = trouble.into_iter().flatten().collect();
            let trouble = if trouble.is_empty() { String::new() } else { format!(" ({})", trouble.join(", ")) };
            format!("{name} {}{trouble}", count.lines)
        });
        let more =
            if count > MAX_SOURCES_SHOWN { format!(", {} more", count - MAX_SOURCES_SHOWN) } else { String::new() };
        Some((count, Item::plain(clip(&shown.collect::<Vec<_>>().join(", "), 500) + &more)))
    }
}

/// Returns the name in `host sshd[12]: text`, `INFO shop.orders - text`, `[main] WARN o.a.Client: text`.
fn name(rest: &str) -> Option<&str> {
    let rest = rest.get(..rest.floor_char_boundary(200)).unwrap_or(rest);
    for word in rest.split_ascii_whitespace().take(MAX_WORDS) {
        let bare = word.trim_end_matches([':', ']', ',']);
        let bare = bare.split_once('[').filter(|(name, _)| !name.is_empty()).map_or(bare, |(name, _)| name);
        let bare = bare.trim_start_matches('[');
        let is_name = bare.len() > 1
            && bare.len() <= MAX_NAME_BYTES
            && bare.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
            && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-@$/".contains(&byte));
        if !is_name || Level::named(bare).is_some() {
            continue;
        }
        let marked = word.ends_with(':') || word.ends_with("]:");
        let dotted = !word.starts_with('[') && bare.split('.').count() > 1 && bare.split('.').all(is_part);
        if marked || dotted {
            return Some(bare);
        }
    }
    None
}

/// Returns whether a part of a dotted name is plausible: not a number, and not part of a path.
fn is_part(part: &str) -> bool {
    part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic()) && !part.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_between_the_time_and_the_text() {
        for (rest, expected) in [
            (" gw sshd[12]: Failed password", Some("sshd")),
            (" gw kernel: wan0 up", Some("kernel")),
            (" INFO  shop.orders - placed", Some("shop.orders")),
            (" [main] WARN o.a.k.Client: x", Some("o.a.k.Client")),
            (" [12] LOG:  checkpoint starting", None),
            (" parcel 12 weighs 3.5 kg", None),
        ] {
            assert_eq!(name(rest), expected, "{rest}");
        }
    }
}
