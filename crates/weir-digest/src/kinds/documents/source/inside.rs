//! The contents of definitions: where functions end, the members of types and tables, and the errors.
//!
//! It relies on indentation, which formatters maintain in all of these languages. Invariant: memory is bounded.

use super::language::Language;
use crate::kinds::documents::passages::{Passages, USUAL};
use crate::text::clip;

/// The maximum nesting depth of functions.
const MAX_DEPTH: usize = 50;
/// The maximum number of bytes kept of the members of one type.
const MAX_MEMBERS_BYTES: usize = 220;
const MAX_MEMBER_BYTES: usize = 80;

/// The open functions, with their indentation and their index among the definitions.
#[derive(Default)]
pub(super) struct Spans {
    open: Vec<(usize, usize)>,
    /// The last line that was neither blank nor a comment.
    last: u64,
}

impl Spans {
    pub(super) fn begin(&mut self, indent: usize, place: usize) {
        if self.open.len() < MAX_DEPTH {
            self.open.push((indent, place));
        }
    }

    /// Returns the functions that ended before or on this line: their indices and last lines.
    pub(super) fn line(&mut self, number: u64, line: &str, language: Language) -> Vec<(usize, u64)> {
        let mut ended = Vec::new();
        let text = line.trim_start();
        let indent = line.len() - text.len();
        while let Some(&(outer, place)) = self.open.last().filter(|open| open.0 >= indent) {
            let closes = text.starts_with('}') && outer == indent;
            let over = closes
                || match language {
                    Language::Python => !text.starts_with([')', ']', '}', '#']),
                    _ => language.find(line).is_some() || text.starts_with('}'),
                };
            if !over {
                break;
            }
            ended.push((place, if closes { number } else { self.last }));
            self.open.pop();
        }
        if !language.is_comment(text) && !text.starts_with('@') {
            self.last = number;
        }
        ended
    }

    /// Returns the functions that the end of the file ends.
    pub(super) fn finish(&mut self) -> Vec<(usize, u64)> {
        let last = self.last;
        self.open.drain(..).map(|(_, place)| (place, last)).collect()
    }
}

/// The members of a type, or the lines of a multi-line constant, that are being read.
pub(super) struct Members {
    indent: usize,
    /// The indentation of the members.
    inner: Option<usize>,
    /// The index of the type among the definitions.
    pub place: usize,
    pub text: String,
    pub count: u64,
}

impl Members {
    /// Returns an empty list of members if a line begins a body.
    pub(super) fn begin(line: &str, place: usize, language: Language) -> Option<Self> {
        let text = line.trim();
        let opens = text.ends_with(['{', '(', '[', '=']) || language == Language::Python && text.ends_with(':');
        let indent = line.len() - line.trim_start().len();
        opens.then(|| Self { indent, inner: None, place, text: String::new(), count: 0 })
    }

    /// Takes a line, which may itself be a definition. Returns `false` if it is beyond the end.
    pub(super) fn line(&mut self, line: &str, defines: bool, language: Language) -> bool {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        if text.is_empty() || language.is_comment(text) {
            return true;
        }
        if indent <= self.indent {
            // A brace by itself opens the body.
            return text == "{";
        }
        let inner = *self.inner.get_or_insert(indent);
        let is_member = indent == inner
            && !defines
            && !text.starts_with(['@', '#', '"', '}', ')', ']', '\''])
            && !matches!(text, "pass" | "..." | "{" | ";")
            && (!text.ends_with('{') || !text.contains('('));
        if is_member {
            self.count += 1;
            let bare = text.trim_end_matches(['{', ',', ';', ' ', '(']);
            let bare = ["pub ", "private ", "readonly ", "public ", "final "]
                .iter()
                .fold(bare, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
            if self.text.len() < MAX_MEMBERS_BYTES && !bare.is_empty() {
                if !self.text.is_empty() {
                    self.text.push_str("; ");
                }
                // Several spaces only align members.
                let words = bare.split_ascii_whitespace().take(16).collect::<Vec<_>>().join(" ");
                self.text.push_str(&clip(&words, MAX_MEMBER_BYTES));
            }
        }
        true
    }
}

/// The errors that a file raises, throws, returns or panics with.
#[derive(Default)]
pub(super) struct Errors {
    pub found: Passages,
    /// An error whose message is on the next line.
    open: Option<(u64, String)>,
}

impl Errors {
    pub(super) fn line(&mut self, number: u64, text: &str) {
        if let Some((line, mut begun)) = self.open.take() {
            begun.push_str(text);
            self.found.add(Some(line), &clip(&begun, 200), USUAL);
            return;
        }
        if !is_error(text) {
            return;
        }
        if text.ends_with('(') {
            self.open = Some((number, clip(text, 160)));
        } else {
            self.found.add(Some(number), &clip(text, 200), USUAL);
        }
    }
}

/// Returns whether a line creates an error.
fn is_error(text: &str) -> bool {
    const STARTS: [&str; 7] = ["raise ", "throw ", "#[error(", "panic(", "bail!(", "ensure!(", "die "];
    #[rustfmt::skip]
    const WITH_TEXT: [&str; 13] = [
        "errors.New(", "fmt.Errorf(", "panic!(", "anyhow!(", "Err(", ".expect(", "unreachable!(", "throw new ",
        "reject(", "sys.exit(", "new Error(", "static_assert(", "abort(",
    ];
    STARTS.iter().any(|start| text.starts_with(start))
        || WITH_TEXT.iter().any(|word| text.contains(word)) && (text.contains(['"', '\'', '`']) || text.ends_with('('))
}
