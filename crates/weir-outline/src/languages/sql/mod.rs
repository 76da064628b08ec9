//! SQL: what a file creates and alters. It is read token by token, since the dialects differ too much for one grammar.
//!
//! Known misses: what a procedure creates is shown as if the file did; `DELIMITER` is not understood, so a body before
//! another delimiter ends at its first semicolon.

mod lex;

use std::ops::Range;

use lex::SqlToken;

use super::common::Lines;
use super::{Content, Language, Reader};
use crate::docs;
use crate::model::{Item, ItemKind, ItemOrigin, Outline, Visibility};

pub(super) static LANGUAGE: Language = Language::read_by(Reader {
    name: "sql",
    version: 2,
    extensions: &["sql", "ddl", "psql", "pgsql", "plsql", "tsql"],
    file_names: &[],
    read,
})
.with_content(Content::Keys);

/// Maximum length of a statement in characters. A longer one is cut.
const MAX_STATEMENT_CHARS: usize = 160;
/// Words between `CREATE` and what is created.
const PASSED: [&str; 24] = [
    "or", "replace", "alter", "temp", "temporary", "unique", "materialized", "unlogged", "global", "local", "external",
    "virtual", "foreign", "clustered", "nonclustered", "recursive", "constraint", "fulltext", "spatial", "trusted",
    "if", "not", "exists", "concurrently",
];
/// Words that begin a line of a table that is not a column.
const RULES: [&str; 11] =
    ["constraint", "primary", "foreign", "unique", "check", "key", "index", "exclude", "like", "fulltext", "period"];

fn read(text: &str, into: &mut Outline) {
    let tokens = lex::tokens(text);
    let lines = Lines::of(text);
    let file = SqlFile { text, lines };
    into.purpose = purpose(&tokens, text);
    for statement in tokens.split(|token| token.is(text, ";") || is_batch_end(token, text)) {
        into.items.extend(file.item(statement));
    }
}

/// Returns whether a token is `GO`, which ends a batch if it has a line of its own.
fn is_batch_end(token: &SqlToken, text: &str) -> bool {
    let after = text.get(token.bytes.end..).unwrap_or_default().trim_start_matches([' ', '\t', '\r']);
    let is_last = after.is_empty() || after.starts_with(['\n', '-']) || after.starts_with(|c: char| c.is_ascii_digit());
    token.is(text, "go") && is_last && lex::begins_line(text, token.bytes.start)
}

/// Returns the comments at the top, up to a blank line.
fn purpose(tokens: &[SqlToken], text: &str) -> Option<String> {
    let mut head = String::new();
    let mut end = 0;
    for token in tokens.iter().take_while(|token| token.is_comment && !token.text(text).starts_with('\\')) {
        let gap = text.get(end..token.bytes.start).unwrap_or_default();
        if gap.matches('\n').count() > 1 && !head.is_empty() && !docs::is_licence(&head) {
            break;
        }
        head.push_str(token.text(text));
        head.push('\n');
        end = token.bytes.end;
    }
    if docs::is_licence(&head) { None } else { docs::first_sentence(&docs::bare(&head)) }
}

struct SqlFile<'t> {
    text: &'t str,
    lines: Lines,
}

impl SqlFile<'_> {
    fn item(&self, statement: &[SqlToken]) -> Option<Item> {
        let doc = self.doc(statement);
        let words: Vec<&SqlToken> = statement.iter().filter(|token| !token.is_comment).collect();
        let (first, rest) = words.split_first()?;
        let is_creation = first.is(self.text, "create");
        if !is_creation && !first.is(self.text, "alter") {
            return None;
        }
        let mut named = rest.iter().skip_while(|token| self.is_one_of(token, &PASSED));
        let what = named.next()?.text(self.text).to_ascii_lowercase();
        let named: Vec<&SqlToken> = named.skip_while(|token| self.is_one_of(token, &PASSED)).copied().collect();
        let head = self.head(&words, &what, is_creation);
        let bytes = first.bytes.start..words.last().map_or(first.bytes.end, |last| last.bytes.end);
        let mut item = self.line(kind(&what, is_creation), self.flat(head), bytes);
        item.names = vec![self.name(&named)];
        item.doc = doc;
        if what == "table" && is_creation {
            item.children = self.columns(&words);
        }
        Some(item)
    }

    /// Returns the part of a statement to show: up to its body.
    fn head<'w>(&self, words: &'w [&'w SqlToken], what: &str, is_creation: bool) -> &'w [&'w SqlToken] {
        let ends = |token: &&SqlToken| match what {
            _ if !is_creation => false,
            "table" => token.is(self.text, "(") || token.is(self.text, "as"),
            "view" => token.depth == 0 && token.is(self.text, "as"),
            "function" | "procedure" | "proc" | "trigger" | "event" | "rule" | "package" => {
                let is_body = ["as", "is", "begin", "return", "language"].iter().any(|word| token.is(self.text, word));
                token.depth == 0 && (is_body || token.text(self.text).starts_with('$'))
            }
            _ => false,
        };
        let end = words.iter().skip(1).position(ends).map_or(words.len(), |at| at + 1);
        words.get(..end).unwrap_or(words)
    }

    /// Returns a name with its schema: words joined by dots, without quotes.
    fn name(&self, words: &[&SqlToken]) -> String {
        let mut name = String::new();
        for token in words {
            let text = token.text(self.text);
            let is_joined = name.is_empty() || name.ends_with('.') || text == ".";
            if !is_joined || text == "(" {
                break;
            }
            // Brackets are quotes in one dialect.
            if !matches!(text, "[" | "]") {
                name.push_str(text.trim_matches(['"', '`']));
            }
        }
        name
    }

    fn columns(&self, words: &[&SqlToken]) -> Vec<Item> {
        let Some(start) = words.iter().position(|token| token.is(self.text, "(")) else { return Vec::new() };
        let inside = words.get(start + 1..).unwrap_or_default();
        let end = inside.iter().position(|token| token.depth == 0).unwrap_or(inside.len());
        let inside = inside.get(..end).unwrap_or_default();
        let parts = inside.split(|token| token.depth == 1 && token.is(self.text, ","));
        parts.filter_map(|part| self.column(part)).collect()
    }

    fn column(&self, part: &[&SqlToken]) -> Option<Item> {
        let (first, last) = (part.first()?, part.last()?);
        let mut item = self.line(ItemKind::Field, self.flat(part), first.bytes.start..last.bytes.end);
        let is_rule = self.is_one_of(first, &RULES);
        let named = if is_rule { part.get(1).filter(|_| first.is(self.text, "constraint")) } else { Some(first) };
        item.names = named.map(|token| token.text(self.text).trim_matches(['"', '`']).to_owned()).into_iter().collect();
        Some(item)
    }

    fn is_one_of(&self, token: &SqlToken, words: &[&str]) -> bool {
        words.iter().any(|word| token.is(self.text, word))
    }

    /// Returns the comment that ends on the line before a statement.
    fn doc(&self, statement: &[SqlToken]) -> Option<String> {
        let begin = statement.iter().position(|token| !token.is_comment)?;
        let mut next = self.lines.at(statement.get(begin)?.bytes.start);
        let mut comment = Vec::new();
        for token in statement.get(..begin)?.iter().rev() {
            if self.lines.at(token.bytes.end) + 1 < next || token.text(self.text).starts_with('\\') {
                break;
            }
            next = self.lines.at(token.bytes.start);
            comment.push(token.text(self.text));
        }
        comment.reverse();
        docs::first_sentence(&docs::bare(&comment.join("\n")))
    }

    /// Joins tokens on one line, with a space where there was one.
    fn flat(&self, tokens: &[&SqlToken]) -> String {
        let mut line = String::new();
        let mut end = None;
        for token in tokens {
            let text = token.text(self.text);
            let is_apart = end.is_some_and(|end| end != token.bytes.start);
            let is_tight = line.ends_with('(') || matches!(text, ")" | ",");
            if is_apart && !is_tight {
                line.push(' ');
            }
            line.push_str(&text.lines().map(str::trim).collect::<Vec<_>>().join(" "));
            end = Some(token.bytes.end);
            if line.len() > MAX_STATEMENT_CHARS {
                let cut = line.char_indices().nth(MAX_STATEMENT_CHARS).map_or(line.len(), |(cut, _)| cut);
                line.truncate(cut);
                line.push('…');
                break;
            }
        }
        line
    }

    fn line(&self, kind: ItemKind, signature: String, bytes: Range<usize>) -> Item {
        Item {
            kind,
            names: Vec::new(),
            signature,
            visibility: Visibility::Public,
            place: ItemOrigin::Program,
            doc: None,
            attributes: Vec::new(),
            lines: (self.lines.at(bytes.start), self.lines.at(bytes.end.saturating_sub(1))),
            bytes,
            children: Vec::new(),
        }
    }
}

fn kind(what: &str, is_creation: bool) -> ItemKind {
    match what {
        _ if !is_creation => ItemKind::Key,
        "table" | "view" | "type" | "domain" => ItemKind::Type,
        "function" | "procedure" | "proc" | "trigger" | "aggregate" => ItemKind::Function,
        "extension" => ItemKind::Export,
        _ => ItemKind::Key,
    }
}
