//! Adds and removes our MCP server as a table of a TOML file.
//!
//! Invariant: the text is edited by spans and never serialised again, so comments, line ends and order are preserved.

use std::ops::Range;

use serde_json::Value;
use toml_edit::{Document, Item, Table, TableLike};

use super::Unusable;
use super::ours::{NAME, is_our_program};

/// Adds our server to the table of servers.
pub(super) fn add(text: &str, servers: &str, program: &str) -> Result<String, Unusable> {
    let document = parse(text)?;
    let command = toml_string(program)?;
    match document.get(servers) {
        None => Ok(append(text, servers, &command)),
        Some(Item::Table(table)) => match table.get(NAME) {
            None => Ok(append(text, servers, &command)),
            Some(entry) => update_command(text, entry, program, &command),
        },
        Some(_) => Err(Unusable::new(format!(
            "`{servers}` is not a table of its own; write `{NAME} = {{ command = {command}, args = [\"mcp\"] }}` into it"
        ))),
    }
}

/// Removes our server with everything below it.
pub(super) fn remove(text: &str, servers: &str) -> Result<String, Unusable> {
    let document = parse(text)?;
    let Some(Item::Table(table)) = document.get(servers) else { return Ok(text.to_owned()) };
    let Some(Item::Table(entry)) = table.get(NAME).filter(|entry| is_ours(entry)) else { return Ok(text.to_owned()) };
    let mut sections = Vec::new();
    sections_of(entry, &mut sections);
    let ranges = joined(text, sections);
    Ok(ranges.into_iter().rev().fold(text.to_owned(), |text, range| without_lines(&text, range)))
}

/// Returns the keys of a table in the root that are not disabled; empty if the table is missing.
pub(super) fn keys(text: &str, table: &str) -> impl Iterator<Item = String> {
    let document = parse(text).ok();
    let table = document.as_ref().and_then(|document| document.get(table)?.as_table_like());
    let on = |item: &Item| item.get("enabled").and_then(Item::as_bool) != Some(false);
    let keys: Vec<String> = table
        .map(|table| table.iter().filter(|(_, item)| on(item)).map(|(key, _)| key.to_owned()).collect())
        .unwrap_or_default();
    keys.into_iter()
}

/// Returns the value of a key in the root table, or `None` if it is missing.
pub(super) fn value(text: &str, key: &str) -> Result<Option<Value>, Unusable> {
    let document = parse(text)?;
    let item = document.get(key);
    let number = item.and_then(|item| item.as_integer().map(Value::from).or_else(|| item.as_float().map(Value::from)));
    Ok(number.or_else(|| item.and_then(Item::as_str).map(Value::from)))
}

/// Returns the text with this value for a key in the root table, or without the key.
pub(super) fn put_value(text: &str, key: &str, value: Option<&Value>) -> Result<String, Unusable> {
    let document = parse(text)?;
    let present = document.get(key).and_then(Item::span);
    match (present, value) {
        (Some(span), Some(value)) => Ok(format!("{}{value}{}", &text[..span.start], &text[span.end..])),
        (Some(span), None) => {
            let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
            let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
            Ok(format!("{}{}", &text[..start], &text[end..]))
        }
        (None, None) => Ok(text.to_owned()),
        (None, Some(value)) => {
            let (mark, body) = text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 });
            let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
            Ok(format!("{mark}{key} = {value}{end}{body}"))
        }
    }
}

/// Adds a table at the end, which is valid whatever comes before it.
fn append(text: &str, servers: &str, command: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let body = text.trim_start_matches('\u{feff}');
    let before = match body {
        "" => "",
        body if body.ends_with('\n') => end,
        _ => &format!("{end}{end}"),
    };
    format!("{text}{before}[{servers}.{NAME}]{end}command = {command}{end}args = [\"mcp\"]{end}")
}

/// Updates the command, which may name a path that our program has moved away from.
fn update_command(text: &str, entry: &Item, program: &str, command: &str) -> Result<String, Unusable> {
    if !is_ours(entry) {
        return Err(Unusable::new(format!("it has a server `{NAME}` that is not ours")));
    }
    let present = entry.get("command");
    match present.and_then(Item::span) {
        Some(span) if present.and_then(Item::as_str) != Some(program) => {
            Ok(format!("{}{command}{}", &text[..span.start], &text[span.end..]))
        }
        _ => Ok(text.to_owned()),
    }
}

pub(super) fn is_ours(entry: &Item) -> bool {
    entry.get("command").and_then(Item::as_str).is_some_and(is_our_program)
}

/// Collects the section of a table and those of the tables in it. Other tables may lie between them.
pub(super) fn sections_of(table: &Table, sections: &mut Vec<Range<usize>>) {
    let mut spans: Vec<Range<usize>> = table.span().into_iter().collect();
    spans_of(table, &mut spans, sections);
    let (start, end) = (spans.iter().map(|span| span.start).min(), spans.iter().map(|span| span.end).max());
    sections.extend(start.zip(end).map(|(start, end)| start..end));
}

/// Collects the spans of the values in a table's section, and the sections of the tables in it.
fn spans_of(table: &Table, spans: &mut Vec<Range<usize>>, sections: &mut Vec<Range<usize>>) {
    for (_, item) in TableLike::iter(table) {
        match item {
            Item::Table(inner) if inner.is_dotted() => spans_of(inner, spans, sections),
            Item::Table(inner) => sections_of(inner, sections),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|inner| sections_of(inner, sections)),
            other => spans.extend(other.span()),
        }
    }
}

/// Joins ranges that have nothing between them, and sorts them.
pub(super) fn joined(text: &str, mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if text[last.end.min(range.start)..range.start].trim().is_empty() => {
                last.end = last.end.max(range.end);
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// Returns the text without the lines that a range touches, and without the empty line before them.
fn without_lines(text: &str, range: Range<usize>) -> String {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at + 1);
    let (before, after) = (&text[..start], &text[end..]);
    let kept = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n'));
    let kept = kept.filter(|kept| kept.ends_with('\n') && (after.is_empty() || after.starts_with(['\n', '\r'])));
    format!("{}{after}", kept.unwrap_or(before))
}

/// Returns a text as a TOML string. JSON's escapes are valid in TOML too.
pub(super) fn toml_string(text: &str) -> Result<String, Unusable> {
    if text.chars().any(char::is_control) {
        return Err(Unusable::new("the path of this program has a control character in it"));
    }
    Ok(Value::from(text).to_string())
}

pub(super) fn parse(text: &str) -> Result<Document<&str>, Unusable> {
    Document::parse(text).map_err(|error| {
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        Unusable { line, why: format!("it is not TOML: {}", error.message().lines().next().unwrap_or_default()) }
    })
}
