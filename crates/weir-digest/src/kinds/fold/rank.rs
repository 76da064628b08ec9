//! Ranks the lines that rarely repeat: those before an error, the beginning and the end come first.

use std::collections::BTreeSet;

use super::MAX_ITEMS;
use crate::Item;
use crate::template::Template;
use crate::text::clip;
use crate::trouble::{self, Level};

/// Words of lines in which a program reports its own state.
const EVENTS: &str = "start stop shut boot ready listening exit finish complet resum accepted version signal terminat migrat \
    deploy rollback total took elapsed done slow reload upgrade recover connected lost unclean result summary \
    built created removed install added updated deleted destroy success skipp changed passed warnings";

fn tells_of_event(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() >= 4);
    words.any(|word| {
        let begins = |event: &str| word.get(..event.len()).is_some_and(|start| start.eq_ignore_ascii_case(event));
        EVENTS.split(' ').any(begins)
    })
}

/// The rank of debug messages, which come last.
const DEBUG_RANK: u8 = 3;

/// Ranks a rare line: the very first and those before an error, then events, then the rest.
fn rank(template: &Template, near: &BTreeSet<u64>) -> u8 {
    let (number, text) = &template.first;
    if *number == 1 || near.contains(number) {
        return 0;
    }
    let level = trouble::level(text).map_or("", |level| Level::name(level.place()));
    match tells_of_event(text) {
        _ if matches!(level, "DEBUG" | "TRACE" | "VERBOSE" | "FINE") => DEBUG_RANK,
        true => 1,
        false => 2,
    }
}

/// Reorders lines to alternate between the first and the last, towards the middle.
fn both_ends(lines: &mut [&Template]) {
    let count = lines.len();
    let order = (0..count).map(|place| if place % 2 == 0 { place / 2 } else { count - 1 - place / 2 });
    let ordered: Vec<&Template> = order.filter_map(|place| lines.get(place).copied()).collect();
    lines.copy_from_slice(&ordered);
}

/// Returns lines that rarely repeat, the most informative first, and how many there are.
pub(super) fn rare_items(mut rare: Vec<&Template>, near: &BTreeSet<u64>) -> (Vec<Item>, u64) {
    rare.sort_by_cached_key(|template| (rank(template, near), template.first.0));
    // Of the most informative, both ends come before the middle: how it began and how it ended.
    let telling = rare.iter().filter(|template| rank(template, near) < DEBUG_RANK - 1).count();
    both_ends(rare.get_mut(..telling).unwrap_or_default());
    let mut items = Vec::new();
    let mut total = 0;
    for template in rare {
        if template.is_kept() && !template.is_telling() {
            total += template.count;
            items.extend(template.kept.iter().map(|(number, text)| Item::at(*number, text.clone())));
            continue;
        }
        total += 1;
        let mut text = clip(&template.first.1, 300);
        if template.count > 1 {
            text.push_str(&format!(" ({})", template.repeats()));
        }
        items.push(Item::at(template.first.0, text).until(template.last.0));
    }
    items.truncate(MAX_ITEMS);
    (items, total)
}
