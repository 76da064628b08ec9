//! Splits a shell script into words and operators. Quotes are removed; substitutions are left as written.

use super::Separator;

/// The maximum length of a here-document's text.
const MAX_HERE_DOCUMENT_BYTES: usize = 1 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Separator(Separator),
    /// A bracket that begins or ends a subshell.
    Subshell {
        opens: bool,
    },
    /// The command before it runs in the background.
    Background,
    /// A file that output is redirected to.
    Write(String),
    /// The text of a here-document, which follows the line of its command.
    Here(String),
}

pub(super) struct Lexer<'t> {
    rest: &'t str,
    /// The delimiters of the here-documents on this line.
    ends: Vec<String>,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(script: &'t str) -> Self {
        Self { rest: script, ends: Vec::new() }
    }

    /// Returns the next token. Redirections that do not write to a file are skipped.
    pub(super) fn token(&mut self) -> Option<Token> {
        loop {
            self.skip_blanks();
            let first = self.rest.chars().next()?;
            if first == '#' {
                self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
                continue;
            }
            if first == '\n' && !self.ends.is_empty() {
                return Some(Token::Here(self.here()));
            }
            if matches!(first, '(' | ')') {
                self.rest = &self.rest[1..];
                return Some(Token::Subshell { opens: first == '(' });
            }
            if let Some(separator) = self.operator() {
                return Some(Token::Separator(separator));
            }
            // `&>` is a redirection, unless a process substitution follows.
            if self.rest.starts_with('&') && (!self.rest.starts_with("&>") || self.rest.starts_with("&>(")) {
                self.rest = &self.rest[1..];
                return Some(Token::Background);
            }
            match self.redirection() {
                None => return Some(Token::Word(self.word())),
                Some(path) if !path.is_empty() => return Some(Token::Write(path)),
                Some(_) => {}
            }
        }
    }

    fn operator(&mut self) -> Option<Separator> {
        const OPERATORS: &[(&str, Separator)] = &[
            ("&&", Separator::And),
            ("||", Separator::Or),
            ("|&", Separator::Pipe),
            ("|", Separator::Pipe),
            (";;", Separator::Then),
            (";", Separator::Then),
            ("\n", Separator::Then),
        ];
        let found = OPERATORS.iter().find(|(text, _)| self.rest.starts_with(text));
        let (text, separator) = found?;
        self.rest = &self.rest[text.len()..];
        Some(*separator)
    }

    /// Consumes a redirection and returns the file that it writes, or an empty name if it writes none.
    fn redirection(&mut self) -> Option<String> {
        let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let rest = &self.rest[digits..];
        let rest = if digits == 0 { rest.strip_prefix('&').unwrap_or(rest) } else { rest };
        if !rest.starts_with(['<', '>']) || rest.starts_with("<(") || rest.starts_with(">(") {
            return None;
        }
        let writes = rest.starts_with('>') && !rest.starts_with(">&") && digits == 0;
        let is_here = rest.starts_with("<<") && !rest.starts_with("<<<");
        self.rest = rest.trim_start_matches(['<', '>', '&', '|']);
        if is_here {
            self.rest = self.rest.strip_prefix('-').unwrap_or(self.rest);
        }
        self.skip_blanks();
        let word = self.word();
        if is_here {
            self.ends.push(word);
            return Some(String::new());
        }
        Some(if writes { word } else { String::new() })
    }

    /// Consumes the here-documents of a line and returns the text of the last one.
    fn here(&mut self) -> String {
        let mut text = String::new();
        for end in std::mem::take(&mut self.ends) {
            text.clear();
            // The line break before the text is skipped; the one after it separates the commands.
            let body = self.rest.strip_prefix('\n').unwrap_or(self.rest);
            let mut at = 0;
            for line in body.split_inclusive('\n') {
                at += line.len();
                if line.trim() == end {
                    break;
                }
                if text.len() < MAX_HERE_DOCUMENT_BYTES {
                    text.push_str(&line[..line.floor_char_boundary(MAX_HERE_DOCUMENT_BYTES)]);
                }
            }
            let after = &body[at..];
            // The line break stays, since the text after it begins a new line.
            self.rest = if body[..at].ends_with('\n') { &body[at - 1..] } else { after };
        }
        text
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.rest.chars().next() {
            match c {
                _ if c.is_whitespace()
                    || ";&|()<>".contains(c) && !self.rest.starts_with("<(") && !self.rest.starts_with(">(") =>
                {
                    break;
                }
                '\\' => {
                    self.rest = &self.rest[1..];
                    if let Some(next) = self.rest.chars().next() {
                        self.rest = &self.rest[next.len_utf8()..];
                        if next != '\n' {
                            word.push(next);
                        }
                    }
                }
                '\'' => {
                    let (text, rest) = self.rest[1..].split_once('\'').unwrap_or((&self.rest[1..], ""));
                    word.push_str(text);
                    self.rest = rest;
                }
                '"' => self.quoted(&mut word),
                '`' => {
                    let end = self.rest[1..].find('`').map_or(self.rest.len(), |end| end + 2);
                    self.raw(end, &mut word);
                }
                '$' | '<' | '>' if self.rest[1..].starts_with('(') => {
                    let end = substitution(self.rest);
                    self.raw(end, &mut word);
                }
                _ => self.raw(c.len_utf8(), &mut word),
            }
        }
        word
    }

    fn quoted(&mut self, word: &mut String) {
        self.rest = &self.rest[1..];
        while let Some(c) = self.rest.chars().next() {
            match c {
                '"' => {
                    self.rest = &self.rest[1..];
                    return;
                }
                '\\' if self.rest[1..].starts_with(['"', '\\', '$', '`', '\n']) => {
                    self.rest = &self.rest[1..];
                    self.raw(1, word);
                }
                '$' if self.rest.starts_with("$(") => {
                    let end = substitution(self.rest);
                    self.raw(end, word);
                }
                _ => self.raw(c.len_utf8(), word),
            }
        }
    }

    /// Takes this many bytes as they are.
    fn raw(&mut self, bytes: usize, word: &mut String) {
        let (text, rest) = self.rest.split_at(bytes);
        word.push_str(text);
        self.rest = rest;
    }

    fn skip_blanks(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
            match self.rest.strip_prefix("\\\n") {
                Some(rest) => self.rest = rest,
                None => return,
            }
        }
    }
}

/// Returns the length of a substitution that begins with `$(`, up to the closing bracket, skipping quotes and
/// here-documents.
fn substitution(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 1;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        at += match c {
            '(' => {
                depth += 1;
                1
            }
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
                1
            }
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '<' if rest.starts_with("<<") && !rest.starts_with("<<<") => here_length(rest),
            _ => c.len_utf8(),
        };
    }
    text.len()
}

/// Returns the length of a here-document, from its `<<` to the end of the line with its delimiter.
fn here_length(text: &str) -> usize {
    let Some((first, body)) = text.split_once('\n') else { return text.len() };
    let named = first.trim_start_matches(['<', '-', ' ']);
    let end =
        named.trim_start_matches(['\'', '"', '\\']).split(['\'', '"', ' ', ')', ';', '|']).next().unwrap_or_default();
    let mut at = first.len() + 1;
    for line in body.split_inclusive('\n') {
        if line.trim() == end {
            return at + line.trim_end_matches('\n').len();
        }
        at += line.len();
    }
    text.len()
}
