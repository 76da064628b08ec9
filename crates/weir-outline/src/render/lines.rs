//! Renders items by their signatures, one per line, with the small members of a type on the line of their type.
//!
//! Invariant: an item without a line number is on the line after the item above it.

use super::{Level, Selection};
use crate::model::{Item, ItemKind};

/// Maximum length of an attribute to show, in bytes. The arguments of a longer one are not worth their length.
const MAX_ATTRIBUTE_BYTES: usize = 24;

pub(super) fn write(items: &[Item], (level, selection): (Level, Selection), text: &mut String) {
    LineWriter { level, selection, text, line: 0 }.items(items.iter(), 0);
}

struct LineWriter<'a> {
    level: Level,
    selection: Selection,
    text: &'a mut String,
    /// The line in the file of the last item written.
    line: u32,
}

impl LineWriter<'_> {
    fn items<'i>(&mut self, items: impl Iterator<Item = &'i Item>, depth: usize) {
        let mut folded: Vec<(&str, Vec<&str>)> = Vec::new();
        let selection = self.selection;
        for item in items.filter(|item| selection.has(item)) {
            match plain_impl(item) {
                Some((of, which)) if self.level != Level::Verbose => fold(&mut folded, of, which),
                _ if is_empty_impl(item, selection) => {}
                _ => self.item(item, depth),
            }
        }
        for (of, traits) in folded {
            self.indent(depth);
            self.text.push_str(&format!("impl {} for {of}\n", traits.join(", ")));
        }
    }

    fn item(&mut self, item: &Item, depth: usize) {
        self.indent(depth);
        for mark in item.attributes.iter().filter(|attribute| is_short_mark(attribute)) {
            self.text.push_str(&format!("{mark} "));
        }
        self.text.push_str(&item.signature);
        let members = item.children.iter().filter(|child| self.selection.has(child));
        let (small, large): (Vec<&Item>, Vec<&Item>) = members.partition(|item| self.is_small(item));
        if !small.is_empty() {
            let small = small.iter().map(|item| item.signature.as_str()).collect::<Vec<_>>();
            self.text.push_str(&format!(" {{ {} }}", small.join(", ")));
        }
        self.place(item);
        let derived = derives(item);
        if !derived.is_empty() {
            self.text.push_str(&format!(" derive {}", derived.join(", ")));
        }
        if let (Level::Verbose, Some(doc)) = (self.level, &item.doc) {
            self.text.push_str(&format!(" — {doc}"));
        }
        self.text.push('\n');
        // The members of a trait implementation are known from the trait.
        let of_trait = item.kind == ItemKind::Implementation && item.names.len() > 1;
        if !of_trait || self.level == Level::Verbose {
            self.items(large.into_iter(), depth + 1);
        }
    }

    fn place(&mut self, item: &Item) {
        let (first, last) = item.lines;
        let follows = std::mem::replace(&mut self.line, first) + 1 == first;
        match self.level {
            Level::Verbose if last > first => self.text.push_str(&format!(" :{first}-{last}")),
            _ if follows => {}
            _ => self.text.push_str(&format!(" :{first}")),
        }
    }

    fn is_small(&self, item: &Item) -> bool {
        let is_member = matches!(item.kind, ItemKind::Field | ItemKind::Variant) && item.children.is_empty();
        is_member && self.level != Level::Verbose
    }

    fn indent(&mut self, depth: usize) {
        (0..depth).for_each(|_| self.text.push_str("  "));
    }
}

/// Returns the type and the trait of an `impl` with nothing else in its signature.
fn plain_impl(item: &Item) -> Option<(&str, &str)> {
    let [of, which] = item.names.as_slice() else { return None };
    let plain = item.kind == ItemKind::Implementation && item.signature == format!("impl {which} for {of}");
    plain.then_some((of, which))
}

/// Puts the traits of one type on one line.
fn fold<'i>(folded: &mut Vec<(&'i str, Vec<&'i str>)>, of: &'i str, which: &'i str) {
    match folded.iter_mut().find(|(other, _)| *other == of) {
        Some((_, traits)) => traits.push(which),
        None => folded.push((of, vec![which])),
    }
}

/// Returns whether an inherent `impl` has nothing to show.
fn is_empty_impl(item: &Item, selection: Selection) -> bool {
    let shows = item.children.iter().any(|child| selection.has(child));
    item.kind == ItemKind::Implementation && item.names.len() < 2 && !shows
}

/// Returns whether an attribute is a short marker that says what an item is: `@property`, `@Override`.
fn is_short_mark(attribute: &str) -> bool {
    attribute.starts_with('@') && attribute.len() <= MAX_ATTRIBUTE_BYTES
}

fn derives(item: &Item) -> Vec<&str> {
    let lists = item.attributes.iter().filter_map(|attribute| attribute.strip_prefix("#[derive(")?.strip_suffix(")]"));
    lists.flat_map(|list| list.split(',').map(str::trim).filter(|name| !name.is_empty())).collect()
}
