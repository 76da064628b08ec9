//! Groups of similar lines, each shown at the position of its first line.

use super::{Bodies, MAX_ITEMS, MAX_LINE_BYTES, MAX_SEPARATE_ERRORS, steps};
use crate::Item;
use crate::template::Template;
use crate::text::clip;

/// Returns errors or warnings with their explanations, and how many there are: each member of a small group separately;
/// of a larger group, the first with the count and the values that differ.
pub(super) fn of_trouble(mut groups: Vec<&Template>, bodies: &Bodies) -> (Vec<Item>, u64) {
    let apart = |group: &Template| group.count > 1 && group.count <= MAX_SEPARATE_ERRORS && group.is_kept();
    let total = groups.iter().map(|group| if apart(group) { group.count } else { 1 }).sum();
    // First what a script itself marked as an error, then the very first and the most frequent ones, then the others in
    // order.
    let begin = groups.iter().map(|group| group.first.0).min();
    let marked = |group: &Template| steps::is_marked(&group.first.1);
    groups.sort_by_key(|group| (!marked(group), Some(group.first.0) != begin, u64::MAX - group.count, group.first.0));
    let first = groups.iter().take_while(|group| marked(group)).count().min(8) + 4;
    if let Some(rest) = groups.get_mut(first..) {
        rest.sort_by_key(|group| group.first.0);
    }
    let mut items = Vec::new();
    for group in groups {
        match apart(group) {
            true => items.extend(group.kept.iter().map(|(number, text)| single(*number, text, bodies))),
            false => items.push(trouble(group, bodies)),
        }
    }
    items.truncate(MAX_ITEMS);
    (items, total)
}

fn single(number: u64, line: &str, bodies: &Bodies) -> Item {
    let mut text = line.to_owned();
    explain(&mut text, number, bodies);
    Item::at(number, text).or(line)
}

fn explain(text: &mut String, number: u64, bodies: &Bodies) {
    for line in bodies.of.get(&number).into_iter().flatten() {
        text.push_str("\n  ");
        text.push_str(line.trim());
    }
}

fn trouble(group: &Template, bodies: &Bodies) -> Item {
    let (number, first) = &group.first;
    let mut text = clip(first, MAX_LINE_BYTES);
    if group.count > 1 {
        text.push_str(&format!(" ({})", group.repeats()));
    }
    let brief = clip(&text, 240);
    explain(&mut text, *number, bodies);
    let values = values(group);
    if !values.is_empty() {
        text.push_str(&format!("\n  values: {values}"));
    }
    let changes = group.slots().any(|(before, _)| !is_process(before));
    if changes
        && group.count > 1
        && group.count <= 20
        && let Some(last) = group.last_text()
    {
        text.push_str(&format!("\n  {}: {}", group.last.0, clip(last, 240)));
    }
    Item::at(*number, text).until(group.last.0).or(brief)
}

/// Returns the values in which the lines of a group differ, if values repeat.
fn values(group: &Template) -> String {
    let mut parts = Vec::new();
    for (before, slot) in group.slots() {
        let values = slot.most_frequent();
        let telling = values.first().is_some_and(|(_, count)| *count >= 2 && *count * 20 >= group.count);
        if !telling || is_process(before) || parts.len() >= 4 {
            continue;
        }
        let list: Vec<String> = values.iter().take(4).map(|(value, count)| format!("{value} ×{count}")).collect();
        let more = if values.len() > 4 { format!(", {} more", values.len() - 4) } else { String::new() };
        parts.push(format!("{} {}{more}", clip(before, 30), list.join(", ")));
    }
    parts.join("; ")
}

/// Returns whether the text before a value ends or begins with a bracket, as before a process or a thread, which is not
/// informative.
fn is_process(before: &str) -> bool {
    before.starts_with('[') || before.ends_with(['[', '(', '#'])
}

/// Returns repeated lines, the most frequent first: the words they share, or else how long they are and the first of
/// them.
pub(super) fn of_many(mut often: Vec<&Template>) -> Vec<Item> {
    often.sort_by_key(|template| (u64::MAX - template.count, template.first.0));
    let items = often.into_iter().take(MAX_ITEMS).map(|template| {
        let text = match template.is_telling() {
            true => format!("×{} {}", template.times(), template.show(300)),
            false => {
                format!("×{} {}, such as {}", template.times(), template.length(), clip(template.first.1.trim(), 200))
            }
        };
        Item::at(template.first.0, text).until(template.last.0)
    });
    items.collect()
}

/// Returns, of lines that share no informative words, those after the very first, and those with the greatest numbers.
pub(super) fn samples(often: &[&Template]) -> Vec<Item> {
    let shapeless = often.iter().filter(|template| !template.is_telling());
    let mut items: Vec<Item> = Vec::new();
    for template in shapeless {
        let greatest = template.greatest().map(|(number, text)| (number, clip(text, 200)));
        let first = template.kept.iter().skip(1).map(|(number, text)| (*number, clip(text, 200)));
        for (number, text) in greatest.chain(first) {
            if number != template.first.0 && items.iter().all(|item| item.line != Some(number)) {
                items.push(Item::at(number, text));
            }
        }
    }
    items.truncate(MAX_ITEMS);
    items
}
