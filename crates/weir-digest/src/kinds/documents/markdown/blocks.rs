//! Blocks of a document that have a name: code by its language, tables by their header.
//!
//! A block whose name is rare is likely the one that a reader looks for, so it is shown whole.

use crate::kinds::documents::passages::Passages;
use crate::text::{clip, count};
use crate::{Item, Line, Part, Weight};

const MAX_NAMES: usize = 100;
/// The maximum number of blocks kept of a name, and of lines and bytes of one.
const MAX_BLOCKS: usize = 2;
const MAX_LINES: usize = 10;
const MAX_BLOCK_BYTES: usize = 600;

#[derive(Default)]
pub(super) struct Blocks {
    names: Vec<BlockGroup>,
    /// The index of the name of the current block.
    now: Option<usize>,
    beyond: u64,
    pub total: u64,
}

struct BlockGroup {
    name: String,
    count: u64,
    kept: Vec<CodeBlock>,
}

struct CodeBlock {
    line: Option<u64>,
    lines: usize,
    text: String,
}

impl Blocks {
    /// Begins a block. Its name is shown as its first line if `line` is given.
    pub(super) fn begin(&mut self, name: &str, line: Option<u64>) {
        self.total += 1;
        let name = name.get(..name.floor_char_boundary(160)).unwrap_or_default();
        let place = self.names.iter().position(|named| named.name == name);
        if place.is_none() && self.names.len() >= MAX_NAMES {
            self.beyond += 1;
            self.now = None;
            return;
        }
        let place = place.unwrap_or_else(|| {
            self.names.push(BlockGroup { name: name.to_owned(), count: 0, kept: Vec::new() });
            self.names.len() - 1
        });
        self.now = Some(place);
        if let Some(named) = self.names.get_mut(place) {
            named.count += 1;
            if named.count as usize <= MAX_BLOCKS {
                let text = if line.is_some() { name.to_owned() } else { String::new() };
                named.kept.push(CodeBlock { line, lines: 0, text });
            }
        }
    }

    pub(super) fn line(&mut self, line: &Line<'_>) {
        let Some(named) = self.now.and_then(|place| self.names.get_mut(place)) else { return };
        if named.count as usize > MAX_BLOCKS {
            return;
        }
        let Some(block) = named.kept.last_mut() else { return };
        block.line.get_or_insert(line.number);
        block.lines += 1;
        if block.lines > MAX_LINES || block.text.len() > MAX_BLOCK_BYTES {
            return;
        }
        if !block.text.is_empty() {
            block.text.push('\n');
        }
        block.text.push_str(&clip(line.text.trim_end(), 160));
    }

    pub(super) fn rare(&self, name: &str, passages: &mut Passages) -> Part {
        let mut blocks: Vec<&CodeBlock> = Vec::new();
        for named in self.names.iter().filter(|named| self.beyond == 0 || named.count == 1) {
            if named.count as usize <= MAX_BLOCKS {
                blocks.extend(named.kept.iter().filter(|block| !block.text.is_empty()));
            }
        }
        blocks.sort_by_key(|block| block.line);
        let item = |block: &&CodeBlock| {
            let more = block.lines.saturating_sub(MAX_LINES);
            let more =
                if more > 0 { format!("\n({})", count(more as u64, "more line", "more lines")) } else { String::new() };
            let first = block.text.lines().next().unwrap_or_default().to_owned();
            Item { line: block.line, text: format!("{}{more}", block.text), brief: Some(first), ..Item::default() }
        };
        for block in &blocks {
            passages.cover(&block.text);
        }
        let total =
            self.names.iter().filter(|named| named.count as usize <= MAX_BLOCKS).map(|named| named.count).sum::<u64>();
        let items: Vec<Item> = blocks.iter().map(item).take(30).collect();
        let total = total.max(items.len() as u64);
        Part::new(name, Weight::Fact, items).of(total)
    }

    /// Returns the names of more blocks than are shown.
    pub(super) fn repeated(&self) -> Vec<Item> {
        let mut names: Vec<&BlockGroup> = self.names.iter().filter(|named| named.count as usize > MAX_BLOCKS).collect();
        names.sort_by_key(|named| (u64::MAX - named.count, named.name.as_str()));
        names.iter().take(12).map(|named| Item::plain(format!("×{} {}", named.count, named.name))).collect()
    }
}
