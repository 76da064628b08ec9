//! Finds items inside the tokens of a macro, which a grammar only sees as tokens.

use tree_sitter::Range;

use super::Walk;
use crate::model::{Item, ItemOrigin};

pub(crate) fn read(walk: &mut Walk<'_>, ranges: &[Range], inside: Option<&Item>, into: &mut Vec<Item>) {
    if ranges.is_empty() {
        return;
    }
    let tree = walk.parsing.parts(walk.parsed, ranges);
    let Some(tree) = tree else { return };
    let mut found = Vec::new();
    walk.children(&mut tree.walk(), inside, &mut found);
    for mut item in found {
        place(&mut item);
        into.push(item);
    }
}

fn place(item: &mut Item) {
    if item.place == ItemOrigin::Program {
        item.place = ItemOrigin::Macro;
    }
    item.children.iter_mut().for_each(place);
}
