//! One JSON value per line: records of events and logs. What went wrong comes first, then what the fields hold.

use std::io;

use super::json::document;
use super::json_graph::Graph;
use super::json_reader::{PieceConsumer, Reader};
use super::json_rows::Values;
use super::rows_page::TableFacts;
use crate::kinds::fold::Fold;
use crate::kinds::{Kind, Stretch};
use crate::sample::Sample;
use crate::text::count;
use crate::{Lines, Page, Source};

pub(crate) const KIND: Kind = Kind::data("ndjson", is, read);

/// The maximum number of tables inside records that are shown.
const MAX_TABLES: usize = 3;

fn is(sample: &Sample<'_>) -> bool {
    sample.mostly(85, is_record)
}

/// Returns whether a line looks like one JSON value.
fn is_record(line: &str) -> bool {
    let line = line.trim();
    let inner = line.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).map(str::trim_start);
    let array = || line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(str::trim_start);
    let begins_value =
        |rest: &str| rest.starts_with(['"', '{', '[', '-']) || rest.starts_with(|c: char| c.is_ascii_digit());
    inner.is_some_and(|rest| rest.is_empty() || rest.starts_with('"')) || array().is_some_and(begins_value)
}

pub(super) fn read(source: &dyn Source, _sample: &Sample<'_>) -> io::Result<Option<Page>> {
    let mut graph = Graph::new();
    let mut log = Fold::default();
    walk(source, &mut graph, &mut log)?;
    graph.find_maps();
    let mut values = Values::new(&graph);
    let mut log = Fold::default();
    let cut = walk(source, &mut values, &mut log)?;
    let Some(records) = values.tables.first() else { return Ok(None) };
    if log.lines * 5 > records.count {
        return Ok(None);
    }
    let cut = if cut > 0 { format!(", {cut} of them not read to their ends") } else { String::new() };
    let errors = match (records.errors.count, records.warnings.count) {
        (0, 0) => String::new(),
        (errors, warnings) => format!(", {errors} mention errors, {}", count(warnings, "warning", "warnings")),
    };
    let mut page = Page::new(format!("JSON lines: {}{cut}{errors}", count(records.count, "record", "records")));
    let mut gathered = TableFacts::default();
    gathered.add(records);
    let mut inner: Vec<_> = values.tables.iter().skip(1).filter(|table| table.count > 4).collect();
    inner.sort_by_key(|table| std::cmp::Reverse(table.count.saturating_mul(table.columns.len() as u64)));
    for table in inner.iter().take(MAX_TABLES) {
        gathered.add(table);
    }
    gathered.push(&mut page);
    log.put(&mut page);
    Ok(Some(page))
}

/// Walks through all lines. Lines that are not JSON go to the fold. Returns how many lines were not read to their end.
fn walk(source: &dyn Source, gather: &mut dyn PieceConsumer, log: &mut Fold) -> io::Result<u64> {
    let mut lines = Lines::of(source)?;
    let mut reader = Reader::on(b"");
    let mut cut = 0;
    while let Some(line) = lines.read()? {
        let text = line.text.trim();
        if text.is_empty() {
            continue;
        }
        if !is_record(text) && (line.left_out == 0 || !text.starts_with(['{', '['])) {
            log.take(&line);
            continue;
        }
        reader.restart(text.as_bytes(), line.number);
        gather.begin(line.number);
        gather.raw(line.text);
        let whole = document(&mut reader, gather)?;
        gather.end();
        cut += u64::from(!whole);
    }
    Ok(cut)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::About;
    use crate::check::check;

    #[test]
    fn errors_come_first_and_those_that_say_the_same_together() {
        let mut raw = String::new();
        for second in 0..50 {
            let (level, message) = match second {
                7 | 9 => ("error", format!("timeout after {} ms", 1_000 + second)),
                20 => ("warn", "cache is full".to_owned()),
                _ => ("info", "request done".to_owned()),
            };
            let time = format!("2026-09-01T06:00:{second:02}Z");
            raw.push_str(&format!(
                "{{\"level\":\"{level}\",\"time\":\"{time}\",\"req_id\":\"r{second}\",\"ms\":{},\"msg\":\"{message}\"}}\n",
                second * 7 % 40
            ));
        }
        raw.push_str("Killed\n");
        check(&raw, 600).shows(&expect![[r#"
            JSON lines: 50 records, 2 mention errors, 1 warning; 1 error line
            == errors, grouped by message: 1
            8: {"level":"error","time":"2026-09-01T06:00:07Z","req_id":"r7","ms":9,"msg":"timeout after 1007 ms"} ×2
            == warnings, grouped by message: 1
            21: {"level":"warn","time":"2026-09-01T06:00:20Z","req_id":"r20","ms":20,"msg":"cache is full"}
            == fields of 50 records: 5
            level: info ×47, error ×2 (r7, r9), warn ×1 (r20)
            time: 2026-09-01T06:00:00Z to 2026-09-01T06:00:49Z, all different
            req_id: all different, such as r0, r1
            ms: 0 (r0) to 39 (r17), mean 18.7, sum 935
            msg: request done ×47, timeout after 1007 ms ×2 with other numbers, cache is full ×1
            == first and last records: 50, 3 shown
            1: {"level":"info","time":"2026-09-01T06:00:00Z","req_id":"r0","ms":0,"msg":"request done"}
            2: {"level":"info","time":"2026-09-01T06:00:01Z","req_id":"r1","ms":7,"msg":"request done"}
            50: {"level":"info","time":"2026-09-01T06:00:49Z","req_id":"r49","ms":23,"msg":"request done"}
            == lines in order: errors 1
            51: Killed"#]]);
    }

    #[test]
    fn other_lines_are_not_records() {
        for text in [
            "[INFO] one\n[INFO] two\n[WARN] three\n",
            "{ a: 1 }\n{ b: 2 }\n{ c: 3 }\n",
            "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n",
            "[1/3] building\n[2/3] linking\n[3/3] done\n",
        ] {
            assert!(!is(&Sample::of(&text.as_bytes(), About::default()).unwrap()), "{text}");
        }
    }
}
