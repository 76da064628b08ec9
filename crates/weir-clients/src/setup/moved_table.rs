//! Puts Weir into the place of a server in a client's TOML settings, and the server back into its own. The text is
//! edited by spans, as in `table`.

use std::ops::Range;

use serde_json::json;
use toml_edit::{Item, Table};

use super::Unusable;
use super::form::ServerForm;
use super::moved::TakenServer;
use super::ours::{SERVER_OPTION, gateway_arguments};
use super::table::{is_ours, joined, parse, sections_of, toml_string};

/// Replaces how a server is started by a call of our program, and leaves the rest of its table.
pub(super) fn redirect(
    text: &str,
    servers: &str,
    form: &ServerForm,
    (name, program): (&str, &str),
) -> Result<(String, TakenServer), Unusable> {
    let document = parse(text)?;
    let table = own_table(document.get(servers), name)?;
    let (mut lines, mut sections) = (Vec::new(), Vec::new());
    for key in form.launch_keys() {
        match table.get(key) {
            Some(Item::Table(inner)) if !inner.is_dotted() => sections_of(inner, &mut sections),
            Some(Item::Table(inner)) => lines.extend(inner.iter().filter_map(|(_, item)| item.span())),
            Some(item) => lines.extend(item.span()),
            None => {}
        }
    }
    let whole = |ranges: Vec<Range<usize>>| joined(text, ranges.into_iter().map(|it| whole_lines(text, it)).collect());
    let (lines, sections) = (whole(lines), whole(sections));
    let first = lines.first().map(|first| first.start).ok_or_else(|| Unusable::new("it is not a table of its own"))?;
    let taken = |ranges: &[Range<usize>]| ranges.iter().map(|range| &text[range.clone()]).collect();
    let taken = TakenServer { name: name.to_owned(), text: taken(&lines), tables: taken(&sections) };
    let end = line_end(text);
    let ours = format!(
        "command = {}{end}args = {}{end}",
        toml_string(program)?,
        json!(gateway_arguments(name)).to_string().replace(',', ", ")
    );
    let mut cut: Vec<Range<usize>> = lines.into_iter().chain(sections).collect();
    cut.sort_by_key(|range| range.start);
    let mut changed = text.to_owned();
    for range in cut.into_iter().rev() {
        let is_first = range.start == first;
        changed.replace_range(range, if is_first { &ours } else { "" });
    }
    Ok((changed, taken))
}

/// Puts a server back, unless the user has changed or removed the table that calls us.
pub(super) fn put_back(text: &str, servers: &str, taken: &TakenServer) -> Result<String, Unusable> {
    let document = parse(text)?;
    let table = own_table(document.get(servers), &taken.name).ok().filter(|table| is_redirected(table));
    let Some(table) = table else { return Ok(text.to_owned()) };
    let end = line_end(text);
    let is_whole = taken.text.ends_with('\n');
    let text_back = if is_whole { taken.text.clone() } else { format!("{}{end}", taken.text) };
    let lines = ["command", "args"].iter().filter_map(|key| table.get(key)?.span());
    let lines = joined(text, lines.map(|range| whole_lines(text, range)).collect());
    let mut changed = text.to_owned();
    for (number, range) in lines.into_iter().enumerate().rev() {
        changed.replace_range(range, if number == 0 { &text_back } else { "" });
    }
    if !taken.tables.is_empty() {
        let before = if changed.ends_with('\n') { end.to_owned() } else { format!("{end}{end}") };
        changed.push_str(&format!("{before}{}", taken.tables));
    }
    Ok(changed)
}

/// Returns the table of a server, if it has a heading of its own.
fn own_table<'d>(servers: Option<&'d Item>, name: &str) -> Result<&'d Table, Unusable> {
    match servers.and_then(|servers| servers.get(name)) {
        Some(Item::Table(table)) if !table.is_dotted() && !table.is_implicit() => Ok(table),
        _ => Err(Unusable::new("it is not a table of its own")),
    }
}

fn is_redirected(table: &Table) -> bool {
    let option = table.get("args").and_then(|arguments| arguments.get(1)).and_then(Item::as_str);
    is_ours(&Item::Table(table.clone())) && option == Some(SERVER_OPTION)
}

/// Returns the lines that a range touches.
fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    start..text[range.end..].find('\n').map_or(text.len(), |at| range.end + at + 1)
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
