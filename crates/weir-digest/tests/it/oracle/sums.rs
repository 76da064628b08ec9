//! Checks the sums and means of the fields of records, for outputs whose records are simple to read.

use std::collections::BTreeMap;

use serde_json::Value;
use weir_digest::Part;

use super::{Output, Verdict, number};

pub(super) fn examine(output: &Output, part: &Part, verdict: &mut Verdict) {
    let Some((records, _)) = part.name.rsplit_once("fields of ").and_then(|(_, rest)| number(rest)) else { return };
    for item in &part.items {
        let line = item.text.lines().next().unwrap_or_default();
        for measure in [Measure::Mean, Measure::Sum] {
            let Some((before, after)) = line.rsplit_once(measure.words()) else { continue };
            let said = after.split([',', ';', ' ']).next().unwrap_or_default();
            let is_plain = said.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
            let parsed = said.parse::<f64>().ok().filter(|_| is_plain);
            let Some(value) = parsed else {
                verdict.rule("sum", false, || format!("`{line}` has no number as its {measure:?}"));
                continue;
            };
            examine_measure(output, (records, before), measure, (value, said), verdict);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Mean,
    Sum,
}

impl Measure {
    fn words(self) -> &'static str {
        if self == Self::Mean { ", mean " } else { ", sum " }
    }
}

fn examine_measure(
    output: &Output,
    (records, before): (u64, &str),
    measure: Measure,
    (value, said): (f64, &str),
    verdict: &mut Verdict,
) {
    let name =
        before.split(": ").find(|name| !name.ends_with("[]") && !name.ends_with("{}") || before.starts_with(*name));
    let Some(name) = name else { return };
    // The path of the records may precede the name of their first field.
    let names: Vec<&str> = before.split(": ").take(2).chain([name]).collect();
    let columns = tables(output).into_iter().filter(|table| table.records == records);
    let found: Vec<Vec<f64>> = columns
        .flat_map(|table| names.iter().filter_map(|name| table.columns.get(*name).cloned()).collect::<Vec<_>>())
        .collect();
    if found.is_empty() {
        verdict.unchecked += 1;
        return;
    }
    let decimals = said.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let near = |numbers: &Vec<f64>| {
        let sum: f64 = numbers.iter().sum();
        let real = if measure == Measure::Mean { sum / numbers.len().max(1) as f64 } else { sum };
        (real - value).abs() <= 0.6 * 0.1_f64.powi(decimals as i32) + real.abs() * 1e-9
    };
    verdict.rule("sum", found.iter().any(near), || {
        format!("`{name}` of {records} records has another {measure:?} than {said}")
    });
    let has_total = tables(output).iter().any(|table| table.records == records && table.has_total);
    verdict
        .rule("sum", !has_total, || format!("one of the {records} records with `{name}` is the total of the others"));
}

/// Records and the numbers of their fields.
#[derive(Default)]
struct Table {
    records: u64,
    columns: BTreeMap<String, Vec<f64>>,
    has_total: bool,
}

fn tables(output: &Output) -> Vec<Table> {
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    let documents = output.json();
    for document in documents {
        match document {
            Value::Array(_) => visit(document, "", &mut tables),
            _ => record(document, "", &mut tables),
        }
    }
    let mut tables: Vec<Table> = tables.into_values().collect();
    if documents.is_empty() {
        tables.extend([',', ';', '\t', '|', ' '].iter().filter_map(|&mark| rows(output, mark)));
    }
    tables
}

/// Gathers the elements of an array as records.
fn visit(array: &Value, path: &str, tables: &mut BTreeMap<String, Table>) {
    for element in array.as_array().into_iter().flatten().filter(|element| element.is_object()) {
        record(element, path, tables);
    }
}

fn record(value: &Value, path: &str, tables: &mut BTreeMap<String, Table>) {
    let mut fields = Vec::new();
    flatten(value, String::new(), path, &mut fields, tables);
    let table = tables.entry(path.to_owned()).or_default();
    table.records += 1;
    for (name, number) in fields {
        table.columns.entry(name).or_default().push(number);
    }
    let is_total = |value: &Value| value.as_str().is_some_and(is_total);
    table.has_total |= value.as_object().is_some_and(|fields| fields.values().any(is_total));
}

/// Gathers the numbers of a record by the path of their field, and the arrays in it as further tables.
fn flatten(
    value: &Value,
    name: String,
    path: &str,
    fields: &mut Vec<(String, f64)>,
    tables: &mut BTreeMap<String, Table>,
) {
    let inner = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::Number(number) => fields.extend(number.as_f64().map(|number| (name, number))),
        // A string of digits is an identifier, unless it has decimals.
        Value::String(text) if text.contains('.') => fields.extend(parsed(text).map(|number| (name, number))),
        Value::Object(object) => {
            for (key, value) in object {
                flatten(value, inner(key), path, fields, tables);
            }
        }
        Value::Array(elements) if elements.iter().any(|element| element.is_object() || element.is_array()) => {
            fields.push((format!("{name}[]"), elements.len() as f64));
            visit(value, &format!("{path}/{name}"), tables);
        }
        Value::Array(elements) if elements.is_empty() => fields.push((format!("{name}[]"), 0.0)),
        Value::Array(elements) => {
            fields.extend(elements.iter().filter_map(Value::as_f64).map(|number| (format!("{name}[]"), number)));
        }
        _ => {}
    }
}

fn is_total(text: &str) -> bool {
    ["total", "totals"].contains(&text.trim().trim_matches('_').to_ascii_lowercase().as_str())
}

/// Reads the output as rows under a header, with this mark between cells, if most lines are rows.
fn rows(output: &Output, mark: char) -> Option<Table> {
    let mut lines = output.exact.iter().map(|line| line.trim()).filter(|line| line.contains(mark));
    let header = cells(lines.next()?, mark);
    if header.len() < 2 {
        return None;
    }
    let mut table = Table::default();
    for line in lines {
        let row = cells(line, mark);
        if row.len() < header.len() || row.iter().all(|cell| cell.trim_matches(['-', '+', '=']).is_empty()) {
            continue;
        }
        table.records += 1;
        for (name, cell) in header.iter().zip(&row) {
            table.has_total |= is_total(cell);
            if let Some(number) = parsed(cell) {
                table.columns.entry(name.clone()).or_default().push(number);
            }
        }
    }
    Some(table)
}

/// Splits a row at its marks, except within quotes.
fn cells(line: &str, mark: char) -> Vec<String> {
    if mark == ' ' {
        return line.split_whitespace().map(str::to_owned).collect();
    }
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for letter in line.trim_matches('|').chars() {
        match letter {
            '"' if mark == ',' || mark == ';' => quoted = !quoted,
            _ if letter == mark && !quoted => cells.push(String::new()),
            _ => cells.last_mut().into_iter().for_each(|cell| cell.push(letter)),
        }
    }
    cells.iter().map(|cell| cell.trim().trim_start_matches('\u{feff}').to_owned()).collect()
}

/// Parses a number with a decimal point, or with a decimal comma if it has no point.
fn parsed(cell: &str) -> Option<f64> {
    let is_number = cell.starts_with(|c: char| c.is_ascii_digit() || c == '-') && !cell.ends_with('.');
    let plain = || cell.replace('.', "").replace(',', ".").parse().ok();
    cell.parse::<f64>().ok().or_else(plain).filter(|_| is_number)
}
