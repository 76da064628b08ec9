//! Selects columns from separated values.

use std::io::{BufRead as _, Read as _};

use super::{Collector, NotSelected, Selected, in_one_line, some_names};
use crate::Source;

const SEPARATORS: [u8; 4] = *b",;\t|";

/// Selects the columns with these names or numbers, row by row.
pub(super) fn select(source: &dyn Source, what: &str, mut out: Collector<'_>) -> Result<Selected, NotSelected> {
    out.selected.unit = "rows";
    let mut first = Vec::new();
    source.open()?.take(64 << 10).read_until(b'\n', &mut first)?;
    let often = |separator: &u8| first.iter().filter(|byte| *byte == separator).count();
    let separator = SEPARATORS.into_iter().rev().max_by_key(often).unwrap_or(b',');
    if often(&separator) == 0 {
        return Err(NotSelected::NoStructure);
    }
    let mut rows = csv::ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(source.open()?);
    let names = rows.byte_headers().map_err(|error| NotSelected::Damaged(error.to_string()))?.clone();
    let columns = columns(&names, what)?;
    out.selected.head = Some(in_one_line(written(&names, &columns, separator)));
    let mut row = csv::ByteRecord::new();
    while rows.read_byte_record(&mut row).map_err(|error| NotSelected::Damaged(error.to_string()))? {
        // As in the digest, surplus separators belong to the last column.
        if row.len() > names.len() {
            row = joined(&row, names.len(), separator);
        }
        out.push(written(&row, &columns, separator));
    }
    Ok(out.selected)
}

/// Returns the indices of the wanted columns, or of all columns if none is named.
fn columns(names: &csv::ByteRecord, what: &str) -> Result<Vec<usize>, NotSelected> {
    let known: Vec<String> = names.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
    let wanted = what.split([',', ';']).map(str::trim).filter(|name| !name.is_empty() && *name != "*");
    let places = wanted.map(|name| {
        let by_name = known.iter().position(|other| other == name);
        let by_name = by_name.or_else(|| known.iter().position(|other| other.eq_ignore_ascii_case(name)));
        let by_number = || name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        by_name.or_else(|| by_number().filter(|&place| place < known.len())).ok_or_else(|| NotSelected::NotThere {
            wanted: name.to_owned(),
            there: some_names(known.iter().map(String::as_str), known.len()),
        })
    });
    let places = places.collect::<Result<Vec<_>, _>>()?;
    Ok(if places.is_empty() { (0..known.len()).collect() } else { places })
}

/// Returns the row with this many values, of which the last is all that remain.
fn joined(row: &csv::ByteRecord, count: usize, separator: u8) -> csv::ByteRecord {
    let kept = count.saturating_sub(1);
    let last = row.iter().skip(kept).collect::<Vec<_>>().join(&separator);
    row.iter().take(kept).chain([last.as_slice()]).collect()
}

/// Joins some values of a row with their separator, quoted where they would be ambiguous.
fn written(row: &csv::ByteRecord, columns: &[usize], separator: u8) -> String {
    let value = |place: &usize| {
        let value = String::from_utf8_lossy(row.get(*place).unwrap_or_default()).into_owned();
        match value.contains(|c: char| c == char::from(separator) || c == '"' || (c.is_control() && c != '\t')) {
            true => format!("\"{}\"", value.replace('"', "\"\"")),
            false => value,
        }
    };
    columns.iter().map(value).collect::<Vec<_>>().join(&char::from(separator).to_string())
}
