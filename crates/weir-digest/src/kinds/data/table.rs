//! Tables with aligned columns under a header: `ps`, `df`, `ss`, `lsof`, `dpkg -l`, `pip list`, `kubectl get`, `psql`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::cells::Cells;
use super::layout::{self, Layout};
use crate::kinds::fold::Fold;
use crate::kinds::shared::counts::Spread;
use crate::kinds::{How, Kind, Stretch};
use crate::sample::Sample;
use crate::text::clip;
use crate::{Item, Lines, Page, Part, Source, Weight, trouble};

pub(crate) const KIND: Kind = Kind { name: "table", how: How::Whole { is, read } };

fn is(sample: &Sample<'_>) -> bool {
    // Lines that state levels are a log, whatever table it begins with.
    !sample.mostly(50, |line| trouble::level(line).is_some()) && layout::find(sample.full_lines()).is_some()
}

fn read(source: &dyn Source, sample: &Sample<'_>) -> io::Result<Option<Page>> {
    let Some(layout) = layout::find(sample.full_lines()) else { return Ok(None) };
    let names: Vec<&str> = layout.names.iter().map(String::as_str).collect();
    let free = layout.is_free();
    let mut cells = Cells::of(&names, free).by(sorts(&layout, sample, free)).labelled(label(&layout, sample));
    let mut log = Fold::default();
    let mut spread = Spread::of(64);
    let mut lines = Lines::of(source)?;
    let mut begun = false;
    while let Some(line) = lines.read()? {
        let text = line.text;
        if !begun {
            begun = text == layout.header;
            if !begun && !text.trim().is_empty() && !layout::is_rule(text) && !is_legend(text) {
                log.take(&line);
            }
        } else if text.trim().is_empty() || text == layout.header || layout::is_rule(text) || layout::is_end(text) {
        } else if let Some(row) = layout.cells(text) {
            cells.add(&row, line.number, text);
            spread.offer(|| Item::at(line.number, clip(text, 300)));
        } else {
            log.take(&line);
        }
    }
    if cells.rows() < 3 || log.lines() * 5 > cells.rows() {
        return Ok(None);
    }
    let rows = cells.rows();
    let mut page = Page::new(format!("table: {rows} rows, {} columns", names.len()));
    // Where numbers tell rows apart, none are needed as examples.
    let examples = !cells.has_numbers();
    cells.parts(&mut page);
    // A row that was told because it stands out is not told again.
    let told: Vec<u64> = page.parts.iter().flat_map(|part| &part.items).filter_map(|item| item.line).collect();
    let others = spread.into_items().into_iter().filter(|item| item.line.is_none_or(|line| !told.contains(&line)));
    if examples {
        let shown: Vec<Item> = [Item::plain(clip(&layout.header, 300))].into_iter().chain(others).collect();
        page.push(Part::new("header and rows", Weight::Sample, shown).of(rows + 1));
    }
    log.put(&mut page);
    Ok(Some(page))
}

/// What `dpkg` says of its letters.
fn is_legend(line: &str) -> bool {
    ["Desired=", "| Status=", "|/ Err?="].iter().any(|beginning| line.starts_with(beginning))
}

/// The column whose values sort the rows: a state or a type with few values.
fn sorts(layout: &Layout, sample: &Sample<'_>, free: bool) -> Option<usize> {
    let mut values: Vec<BTreeMap<&str, usize>> = vec![BTreeMap::new(); layout.names.len()];
    let mut rows = 0;
    for line in sample.full_lines().skip(1) {
        let Some(cells) = layout.cells(line).filter(|_| !layout::is_rule(line)) else { continue };
        rows += 1;
        for (column, cell) in values.iter_mut().zip(cells) {
            if column.len() <= 13 {
                *column.entry(cell).or_default() += 1;
            }
        }
    }
    let last = layout.names.len() - usize::from(free);
    let is_few = |place: &usize| {
        values.get(*place).is_some_and(|column| (2..=12).contains(&column.len()) && column.len() * 4 <= rows)
    };
    let state = |name: &str| ["state", "status", "type"].iter().any(|word| name.to_ascii_lowercase().contains(word));
    (0..last).filter(is_few).find(|&place| layout.names.get(place).is_some_and(|name| state(name)))
}

/// The column that says which row it is: the free text, or else the first that is nearly always another.
fn label(layout: &Layout, sample: &Sample<'_>) -> Option<usize> {
    let count = layout.names.len();
    if layout.is_free() {
        return count.checked_sub(1);
    }
    let mut values: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); count];
    let mut rows = 0;
    for line in sample.full_lines().skip(1).take(200) {
        let Some(cells) = layout.cells(line).filter(|_| !layout::is_rule(line)) else { continue };
        rows += 1;
        for (column, cell) in values.iter_mut().zip(cells) {
            column.insert(cell);
        }
    }
    let wordy = |column: &BTreeSet<&str>| {
        column.iter().filter(|cell| cell.contains(char::is_alphabetic)).count() * 2 >= column.len()
    };
    values.iter().position(|column| column.len() * 10 >= rows * 8 && wordy(column)).or(Some(0))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn pods_that_are_not_ready_come_first() {
        let pods = "NAME        READY   STATUS             RESTARTS   AGE
web-1       1/1     Running            0          5d
web-22      0/1     CrashLoopBackOff   31         5d
web-3       1/1     Running            0          5d
db-0        1/1     Running            1          9d
";
        check(
            pods,
            500,
            &expect![[r#"
                exit 0; table: 4 rows, 5 columns; 5 lines, 266 B held as [ctx:0000000000]
                <<<0000000000
                == rows that tell of trouble: 1
                3: web-22      0/1     CrashLoopBackOff   31         5d
                == columns: 5
                READY: 1/1 3, 0/1 1
                STATUS: Running 3, CrashLoopBackOff 1
                AGE: 5d 3, 9d 1
                RESTARTS: 0 2, 1 1, 31 1; highest: 31 web-22, 1 db-0
                NAME: 4 different
                0000000000>>>
                more: ctx_get"#]],
        );
    }

    #[test]
    fn tables_of_a_database() {
        let rows = " id |  name  | total \n----+--------+-------\n  1 | anna   | 10.50\n  2 | bert   |  0.00\n  3 | carl   | -3.00\n  4 | dora   | 99.00\n(4 rows)\n\n";
        check(
            rows,
            500,
            &expect![[r#"
                exit 0; table: 4 rows, 3 columns; 8 lines, 138 B held as [ctx:0000000000]
                <<<0000000000
                == columns: 3
                total: -3.00 to 99.00, 3 not 0, 1 times 0; highest: 99.00 dora, 10.50 anna; lowest: -3.00 carl
                name: 4 different
                id: 1 to 4
                0000000000>>>
                more: ctx_get"#]],
        );
    }

    #[test]
    fn other_texts_are_not_tables() {
        for text in [
            "/src/a.js\n  12:5  error  Unexpected var  no-var\n  13:5  error  Unexpected var  no-var\n  14:5  error  x  no-var\n",
            "The quick brown fox\njumps over the lazy dog\nand runs into the wood\nto sleep\n",
            "Reading package lists...\nBuilding dependency tree...\nReading state information...\nThe following packages\n",
            "GET /a 200\nGET /b 200\nPOST /c 500\nGET /d 200\n",
            "Title\n=====\n\nSome words here.\nMore words there.\nAnd more.\nAnd more.\n",
        ] {
            assert!(!digest(text, 400).contains("table: "), "{text}");
        }
    }
}
