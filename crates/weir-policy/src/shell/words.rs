//! The words of a command, and which parts of them are known before the script runs.

use tree_sitter::Node;

use super::quotes;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Word {
    pieces: Vec<Piece>,
    source: String,
    splits: bool,
    quoted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Text with its quotes and escapes resolved.
    Known(String),
    /// Any text: a variable, a substitution or a glob.
    Unknown,
}

impl Word {
    /// Creates a known word, as produced by a wrapper or a builtin.
    pub(crate) fn known(text: &str) -> Self {
        Self { pieces: vec![Piece::Known(text.to_owned())], source: text.to_owned(), splits: false, quoted: false }
    }

    /// Creates a word about which nothing is known, and which may become several words or none.
    pub(crate) fn unknown(source: &str) -> Self {
        Self { pieces: vec![Piece::Unknown], source: source.to_owned(), splits: true, quoted: false }
    }

    pub fn literal(&self) -> Option<&str> {
        match &self.pieces[..] {
            [] => Some(""),
            [Piece::Known(text)] => Some(text),
            _ => None,
        }
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the pieces of the word in order. Two known pieces are never adjacent.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns whether the word may become several words or none, because it contains an unquoted expansion.
    pub fn splits(&self) -> bool {
        self.splits
    }

    /// Returns whether any part of the word was quoted or escaped, so it is not a reserved word.
    pub(super) fn quoted(&self) -> bool {
        self.quoted
    }

    pub(super) fn known_start(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Known(text)) => text,
            _ => "",
        }
    }
}

pub(super) fn resolve(node: Node<'_>, script: &str) -> Word {
    let mut builder = Builder::default();
    builder.node(node, script);
    builder.finish(&script[node.byte_range()])
}

#[derive(Default)]
struct Builder {
    pieces: Vec<Piece>,
    splits: bool,
    quoted: bool,
    /// Whether it contains a bracket, which starts a glob class unless it is the whole word: the command `[`.
    bracket: bool,
    /// How much of a brace expansion has been seen: `{`, then a comma or two dots, then `}`.
    braces: usize,
}

impl Builder {
    fn finish(self, source: &str) -> Word {
        let Self { pieces, splits, quoted, bracket, braces } = self;
        let source = source.to_owned();
        if braces >= 3 || (bracket && source != "[") {
            return Word { pieces: vec![Piece::Unknown], source, splits: true, quoted };
        }
        Word { pieces, source, splits, quoted }
    }

    fn known(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Known(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Known(text.to_owned())),
        }
    }

    fn unknown(&mut self) {
        if self.pieces.last() != Some(&Piece::Unknown) {
            self.pieces.push(Piece::Unknown);
        }
    }

    fn node(&mut self, node: Node<'_>, script: &str) {
        let text = &script[node.byte_range()];
        match node.kind() {
            "word" | "variable_name" | "special_variable_name" if node.child_count() == 0 => self.bare(text),
            "number" if node.child_count() == 0 => self.bare(text),
            "raw_string" => {
                self.quoted = true;
                self.known(text.trim_start_matches('\'').trim_end_matches('\''));
            }
            "ansi_c_string" => {
                self.quoted = true;
                match quotes::ansi_c(text) {
                    Some(text) => self.known(&text),
                    None => self.unknown(),
                }
            }
            "string" => self.string(node, script),
            "command_name" | "concatenation" => {
                let mut cursor = node.walk();
                for child in node.children(&mut cursor) {
                    self.node(child, script);
                }
            }
            "$" | "==" | "=~" => self.known(text),
            // The name of a file to read: one word, whatever its value.
            "process_substitution" => self.unknown(),
            _ => {
                self.splits = true;
                self.unknown();
            }
        }
    }

    /// Adds the text in double quotes: everything outside expansions is text, even what the grammar skips as white
    /// space.
    fn string(&mut self, node: Node<'_>, script: &str) {
        self.quoted = true;
        let mut cursor = node.walk();
        let mut at = node.start_byte() + 1;
        let expansions = node.children(&mut cursor).filter(|child| super::kinds::is_expansion(child.kind()));
        for child in expansions {
            self.known(&quotes::double(script.get(at..child.start_byte()).unwrap_or_default()));
            self.unknown();
            at = child.end_byte();
        }
        let end = node.end_byte().saturating_sub(1).max(at);
        self.known(&quotes::double(script.get(at..end).unwrap_or_default()));
    }

    fn bare(&mut self, text: &str) {
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' => {
                    self.quoted = true;
                    if let Some(c) = chars.next() {
                        self.known(c.encode_utf8(&mut [0; 4]));
                    }
                }
                '*' | '?' => self.unknown(),
                '[' => {
                    self.bracket = true;
                    self.known("[");
                }
                _ => {
                    self.brace(c, chars.peek().copied());
                    self.known(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
    }

    fn brace(&mut self, c: char, next: Option<char>) {
        self.braces = match (self.braces, c) {
            (0, '{') => 1,
            (1, ',') => 2,
            (1, '.') if next == Some('.') => 2,
            (2, '}') => 3,
            (braces, _) => braces,
        };
    }
}
