//! Makes the outline of a file's text.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::languages::{Language, ReadMethod};
use crate::model::Outline;
use crate::parse::Parsing;
use crate::walk::Source;
use crate::{docs, parse, recover, walk};

/// Maximum size of a file in bytes. Larger files are data or generated code.
pub const LARGEST: usize = 1 << 20;

/// Why a file has no outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutlineError {
    Unknown,
    /// The file is larger than [`LARGEST`].
    TooLarge,
    /// The file cannot be parsed within the limits on time and nesting.
    Unfit,
    /// The parser process crashed on the file.
    Crashed,
    /// No parser process could be started.
    NoParser,
}

impl fmt::Display for OutlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown language",
            Self::TooLarge => "the file is too large",
            Self::Unfit => "the file cannot be parsed within the time and memory limits",
            Self::Crashed => "the parser crashed",
            Self::NoParser => "cannot start the parser process",
        })
    }
}

impl std::error::Error for OutlineError {}

pub fn outline(language: &'static Language, text: &str) -> Result<Outline, OutlineError> {
    if text.len() > LARGEST {
        return Err(OutlineError::TooLarge);
    }
    if parse::is_too_deep(text) {
        return Err(OutlineError::Unfit);
    }
    let mut made = Outline::empty(language, text);
    let spec = match &language.method {
        ReadMethod::Own(reader) => {
            (reader.read)(text, &mut made);
            return Ok(made);
        }
        ReadMethod::Walk(spec) => spec,
    };
    let table = language.table(spec);
    let parsed = preprocessed(text, spec.hooks.preprocess);
    let mut parsing = Parsing::new(&table.grammar).ok_or(OutlineError::Unfit)?;
    let tree = parsing.whole(&parsed).ok_or(OutlineError::Unfit)?;
    let source = Source { text, parsed: &parsed };
    let mut walked = walk::items(spec, table, &mut parsing, (&tree, source));
    if walked.broken > 0 {
        walked = recover::recover_items(spec, table, &mut parsing, (walked, source));
    }
    (spec.hooks.finish)(&mut walked.items, tree.root_node(), text);
    made.items = walked.items;
    made.broken = walked.broken;
    made.purpose = docs::of_file(spec, table, tree.root_node(), text);
    Ok(made)
}

/// Returns the text to parse: without conflict markers, and with syntax that the grammar cannot read replaced. It has
/// the same number of bytes and the same lines.
fn preprocessed(text: &str, preprocess: fn(&str) -> Option<String>) -> Cow<'_, str> {
    let whole = without_conflict_marks(text);
    let more = preprocess(&whole);
    match more {
        Some(more) if more.len() == text.len() => Cow::Owned(more),
        _ => whole,
    }
}

/// Blanks the lines with conflict markers; both sides of a conflict stay.
fn without_conflict_marks(text: &str) -> Cow<'_, str> {
    const MARKS: [&str; 4] = ["<<<<<<< ", "=======", ">>>>>>> ", "||||||| "];
    let is_mark = |line: &str| {
        MARKS.iter().any(|mark| line.starts_with(mark)) && (!line.starts_with('=') || line.trim_end() == "=======")
    };
    if !text.contains("<<<<<<< ") && !text.contains(">>>>>>> ") {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if is_mark(line) {
            whole.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        } else {
            whole.push_str(line);
        }
    }
    Cow::Owned(whole)
}
