//! Generated Markdown for measurements: headings, prose, lists and code in files of about 20 KB, the same in every run.

use crate::text::{RandomNumbers, paragraph, word};

/// An approximation, used to choose words that really occur.
pub(super) const PARAGRAPHS_PER_MEGABYTE: u64 = 2_400;

const FILE_BYTES: usize = 20 << 10;
const BATCH_BYTES: usize = 4 << 20;

pub(super) struct MadeFile {
    pub path: String,
    pub text: String,
}

/// Returns files of this many bytes in total, in batches of about 4 MB, which bounds the memory.
pub(super) fn batches(bytes: u64) -> impl Iterator<Item = Vec<MadeFile>> {
    batches_from(0, bytes)
}

/// Returns such batches, starting after the first `first` files.
pub(super) fn batches_from(first: u64, bytes: u64) -> impl Iterator<Item = Vec<MadeFile>> {
    let (mut number, mut made, mut at) = (first, 0, first * 64);
    std::iter::from_fn(move || {
        let mut batch = Vec::new();
        let mut size = 0;
        while size < BATCH_BYTES && made < bytes {
            let file = file(number, &mut at);
            number += 1;
            size += file.text.len();
            made += file.text.len() as u64;
            batch.push(file);
        }
        (!batch.is_empty()).then_some(batch)
    })
}

/// Returns one file, beginning with the paragraph at `at`.
fn file(number: u64, at: &mut u64) -> MadeFile {
    let mut numbers = RandomNumbers::new(number + 77);
    let name = |numbers: &mut RandomNumbers| word(numbers.next() % 4_000);
    let mut text = format!("# {} {}\n\n", name(&mut numbers), name(&mut numbers));
    while text.len() < FILE_BYTES {
        text.push_str(&paragraph(*at));
        text.push_str("\n\n");
        *at += 1;
        match numbers.next() % 6 {
            0 => text.push_str(&format!("## {} {}\n\n", name(&mut numbers), name(&mut numbers))),
            1 => text.push_str(&format!("### {}\n\n", name(&mut numbers))),
            2 => text.push_str(&code(&mut numbers)),
            3 => (0..4).for_each(|_| text.push_str(&format!("- {} {}\n", name(&mut numbers), name(&mut numbers)))),
            _ => {}
        }
    }
    MadeFile { path: format!("docs/part{}/{number}.md", number % 50), text }
}

fn code(numbers: &mut RandomNumbers) -> String {
    let mut name = || word(numbers.next() % 4_000);
    let (function, argument, result) = (name(), name(), name());
    let body: String = (0..3).map(|_| format!("    let {} = {}.{}();\n", name(), name(), name())).collect();
    format!("```rust\nfn {function}_{argument}({argument}: &str) -> {result} {{\n{body}}}\n```\n\n")
}
