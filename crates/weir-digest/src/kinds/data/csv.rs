//! Tables of cells separated by commas, semicolons, tabs or bars: what each column holds, and which rows stand out.
//!
//! Invariant: a quoted cell may span several lines, but not so many that memory grows with the output.

use std::io;

use super::cells::Cells;
use crate::kinds::Kind;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::sample::Sample;
use crate::text::{clip, count};
use crate::{Item, Lines, Page, Source, Weight};

pub(crate) const KIND: Kind = Kind::data("csv", |sample| form(sample).is_some(), read);

/// The possible separators.
const MARKS: [char; 4] = ['\t', ',', ';', '|'];
/// The maximum number of lines and bytes of a row that spans several lines.
const MAX_ROW_LINES: u64 = 100;
const MAX_ROW_BYTES: usize = 128 << 10;
/// The maximum number of rows kept that do not fit the table.
const MAX_MISFITS: usize = 60;
/// The maximum number of lines before the first row.
const MAX_LINES_BEFORE: usize = 5;

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CsvFormat {
    mark: char,
    width: usize,
    /// The number of lines before it.
    before: usize,
    header: bool,
    /// Whether the last column may contain separators without quotes.
    is_open: bool,
}

impl CsvFormat {
    /// Returns the cells of a row, with their quotes.
    fn cells<'a>(&self, row: &'a str) -> impl Iterator<Item = &'a str> {
        cells(row, self.mark, if self.is_open { self.width } else { usize::MAX })
    }

    fn first<'a>(&self, row: &'a str) -> &'a str {
        self.cells(row).next().unwrap_or_default()
    }

    fn fits(&self, row: &str) -> bool {
        self.cells(row).count() == self.width
    }
}

fn read(source: &dyn Source, sample: &Sample<'_>) -> io::Result<Option<Page>> {
    let Some(form) = form(sample) else { return Ok(None) };
    let (cells, misfits) = (Cells::default(), KeptItems::default());
    let mut table = CsvTable { form, cells, named: false, misfits, surplus: 0 };
    let mut join = RowJoiner::default();
    Lines::each(source, |line| {
        if join.take(line.number, line.text, form.mark) {
            table.take(&join);
            join.clear();
        }
    })?;
    // The quote was never closed: what was read as a cell is several rows.
    if !join.text.is_empty() {
        table.misfit(&join);
    }
    if table.misfits.total * 5 > table.cells.rows() {
        return Ok(None);
    }
    Ok(Some(table.page()))
}

struct CsvTable {
    form: CsvFormat,
    cells: Cells,
    named: bool,
    misfits: KeptItems<MAX_MISFITS>,
    /// The number of rows whose last cell contains separators without quotes.
    surplus: u64,
}

impl CsvTable {
    fn take(&mut self, record: &RowJoiner) {
        if record.text.trim().is_empty() {
            return;
        }
        if !self.form.fits(&record.text) {
            self.misfit(record);
            return;
        }
        self.surplus += u64::from(self.form.is_open && width(&record.text, self.form.mark) > self.form.width);
        if !self.named {
            self.named = true;
            self.name_columns(&record.text);
            if self.form.header {
                return;
            }
        }
        self.cells.add(self.form.cells(&record.text).map(unquoted), record.line, &record.text);
    }

    fn misfit(&mut self, record: &RowJoiner) {
        self.misfits.add(|| Item::at(record.line, clip(&record.text, 300)));
    }

    fn name_columns(&mut self, first: &str) {
        let names = self.form.cells(first).map(|cell| match self.form.header {
            true => unquoted(cell).trim().trim_start_matches('\u{feff}').to_owned(),
            false => String::new(),
        });
        let names: Vec<String> = names.collect();
        self.cells = Cells::of(names.iter().map(String::as_str));
    }

    fn page(self) -> Page {
        let Self { form, cells, misfits, surplus, .. } = self;
        let between = match form.mark {
            '\t' => "tabs",
            ',' => "commas",
            ';' => "semicolons",
            _ => "bars",
        };
        let header = if form.header { "" } else { ", without a header" };
        let lines = count(misfits.total, "line that does not fit", "lines that do not fit");
        let misfit = if misfits.total > 0 { format!(", {lines}") } else { String::new() };
        let rows = count(surplus, "row", "rows");
        let open =
            if surplus > 0 { format!(", {between} without quotes in the last of {rows}") } else { String::new() };
        let (all, columns) = (count(cells.rows(), "row", "rows"), count(form.width as u64, "column", "columns"));
        let mut page = Page::new(format!("table of {all}, {columns} between {between}{header}{open}{misfit}"));
        page.push(misfits.part("lines that do not fit", Weight::Failure));
        cells.parts(&mut page);
        page
    }
}

/// Joins the lines of a row.
#[derive(Default)]
struct RowJoiner {
    text: String,
    line: u64,
    lines: u64,
}

impl RowJoiner {
    /// Takes a line. Returns whether the row is complete.
    fn take(&mut self, number: u64, text: &str, mark: char) -> bool {
        if self.lines == 0 {
            self.line = number;
        } else {
            self.text.push('\n');
        }
        self.lines += 1;
        self.text.push_str(text);
        // While a quote is open, only the new line is examined, which keeps time linear.
        self.lines >= MAX_ROW_LINES || self.text.len() > MAX_ROW_BYTES || !self.is_open(text, mark)
    }

    fn is_open(&mut self, added: &str, mark: char) -> bool {
        if !matches!(mark, ',' | ';') || (self.lines == 1 && !added.contains('"')) {
            return false;
        }
        match self.lines {
            1 => ends_open(added, mark),
            // An odd number of quotes closes an open quote, or opens a new one.
            _ => memchr::memchr_iter(b'"', added.as_bytes()).count().is_multiple_of(2),
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.lines = 0;
    }
}

/// Returns the cells of a row, with their quotes. The last of at most `most` cells is the rest of the row.
fn cells(row: &str, mark: char, most: usize) -> impl Iterator<Item = &str> {
    let quoting = matches!(mark, ',' | ';');
    let (mut rest, mut left) = (Some(row), most);
    std::iter::from_fn(move || {
        let text = rest?;
        left -= 1;
        if left == 0 {
            return rest.take();
        }
        let start = if quoting && text.starts_with('"') { closing(text) } else { 0 };
        let end = text.get(start..).and_then(|after| after.find(mark)).map(|end| end + start);
        match end {
            Some(end) => {
                rest = text.get(end + mark.len_utf8()..);
                text.get(..end)
            }
            None => rest.take(),
        }
    })
}

/// Returns where the quote at the beginning of a text is closed.
fn closing(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut place = 1;
    while let Some(next) = bytes.get(place..).and_then(|rest| memchr::memchr(b'"', rest)) {
        place += next + 1;
        if bytes.get(place) != Some(&b'"') {
            return place;
        }
        place += 1;
    }
    text.len()
}

fn width(row: &str, mark: char) -> usize {
    cells(row, mark, usize::MAX).count()
}

fn ends_open(line: &str, mark: char) -> bool {
    let last = cells(line, mark, usize::MAX).last().unwrap_or_default();
    last.starts_with('"') && (last.len() == 1 || closing(last) == last.len()) && !is_closed(last)
}

/// Returns whether a cell that begins with a quote also ends with the closing one.
fn is_closed(cell: &str) -> bool {
    let quotes = memchr::memchr_iter(b'"', cell.as_bytes()).count();
    quotes.is_multiple_of(2) && cell.ends_with('"')
}

fn unquoted(cell: &str) -> std::borrow::Cow<'_, str> {
    match cell.trim().strip_prefix('"').and_then(|cell| cell.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\"").into(),
        None => cell.into(),
    }
}

/// Detects how the output is written as a table, if it is one.
fn form(sample: &Sample<'_>) -> Option<CsvFormat> {
    let hinted = ["csv", "tsv", "COPY", "copy"].iter().any(|word| sample.about.command.contains(word));
    MARKS.iter().filter_map(|&mark| form_with(sample, mark, hinted)).max_by_key(|form| form.width)
}

fn form_with(sample: &Sample<'_>, mark: char, hinted: bool) -> Option<CsvFormat> {
    let first = sample.lines().take(MAX_LINES_BEFORE + 1).find(|line| line.contains(mark))?;
    let before = sample.lines().position(|line| std::ptr::eq(line, first))?;
    let rows = records(sample, mark, before);
    let width = width(rows.first()?, mark);
    if width < 2 || rows.len() < 4 {
        return None;
    }
    let header = is_header(rows.first()?, mark);
    let is_it = |form: &CsvFormat| {
        let fitting: Vec<&String> = rows.iter().filter(|row| form.fits(row)).collect();
        let enough = fitting.len() * 100 >= rows.len() * 95;
        enough && (header || width > 2) && is_table(&fitting, *form, hinted)
    };
    let strict = CsvFormat { mark, width, before, header, is_open: false };
    // Only a header says how many columns there are if the rows differ.
    let open = CsvFormat { is_open: true, ..strict };
    Some(strict).filter(is_it).or_else(|| Some(open).filter(|_| header && width > 2).filter(is_it))
}

fn records(sample: &Sample<'_>, mark: char, before: usize) -> Vec<String> {
    let mut join = RowJoiner::default();
    let mut found = Vec::new();
    for line in sample.lines().skip(before) {
        if join.take(1, line, mark) {
            if !join.text.trim().is_empty() {
                found.push(std::mem::take(&mut join.text));
            }
            join.clear();
        }
    }
    found
}

/// Returns whether rows of the same width are a table, and not lines of something else that contains commas.
fn is_table(rows: &[&String], form: CsvFormat, hinted: bool) -> bool {
    let data = rows.get(usize::from(form.header)..).unwrap_or_default();
    let mut typed = vec![(0, 0); form.width.min(100)];
    let (mut all, mut spaced, mut odd, mut bytes, mut indented) = (0, 0, 0, 0, 0);
    for row in data {
        let mut unbalanced = false;
        indented += usize::from(row.starts_with(form.mark));
        for (place, cell) in form.cells(row).enumerate() {
            all += 1;
            spaced += usize::from(place > 0 && cell.starts_with(' '));
            bytes += cell.len();
            unbalanced |= !cell.starts_with('"') && is_unbalanced(cell);
            if let Some((blank, number)) = typed.get_mut(place) {
                let cell = unquoted(cell);
                let first = cell.trim().bytes().next();
                *blank += usize::from(first.is_none());
                *number += usize::from(first.is_some_and(|byte| byte.is_ascii_digit() || byte == b'-'));
            }
        }
        odd += usize::from(unbalanced);
    }
    let numbers =
        |(blank, number): &(usize, usize)| (blank + number) * 100 >= data.len() * 90 && number * 2 >= data.len();
    let is_typed = typed.iter().any(numbers);
    let spaced = spaced * 5 > all && !hinted;
    let bars = form.mark == '|' && data.iter().any(|row| row.starts_with('|') || row.contains(" | "));
    let named = form.header && form.width > 2 && !form.is_open;
    // Names between bars in all rows are a table, as `psql -At` prints it.
    let listed = form.mark == '|' && form.width > 2 && data.iter().all(|row| !form.first(row).contains(' '));
    let sure = is_typed || hinted || named || listed;
    all > 0 && !spaced && !bars && indented * 3 <= data.len() && odd * 4 <= data.len() && bytes <= all * 80 && sure
}

/// Returns whether a cell contains a bracket that is closed in another cell.
fn is_unbalanced(cell: &str) -> bool {
    let count = |byte: u8| memchr::memchr_iter(byte, cell.as_bytes()).count();
    count(b'(') != count(b')') || count(b'{') != count(b'}') || count(b'[') != count(b']')
}

/// Returns whether a row holds the names of the columns: short, all different, and none of them a value.
fn is_header(row: &str, mark: char) -> bool {
    let mut names: Vec<String> = cells(row, mark, usize::MAX)
        .map(|cell| unquoted(cell).trim().trim_start_matches('\u{feff}').to_owned())
        .collect();
    let first = names.first().is_some_and(|name| name.starts_with('#'));
    let good = |name: &String| {
        let begin =
            name.chars().next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '#' | '@' | '%' | '$' | '('));
        name.len() <= 60
            && begin
            && name.split(' ').count() <= 6
            && !matches!(name.as_str(), "true" | "false" | "null" | "NULL")
            && !name.contains(['=', '<', '>', ';'])
    };
    let count = names.len();
    // Some tables have an unnamed column of row numbers, or end every row with a separator.
    let may_be_empty = |place: usize| (place == 0 && mark != '\t') || (place + 1 == count && count > 3);
    let plausible =
        names.iter().enumerate().all(|(place, name)| good(name) || (name.is_empty() && may_be_empty(place)));
    names.sort_unstable();
    names.dedup();
    plausible && (names.len() == count || first)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::About;
    use crate::check::check;

    fn form_of(text: &str) -> Option<CsvFormat> {
        form(&Sample::of(&text.as_bytes(), About::default()).unwrap())
    }

    #[test]
    fn rows_are_counted_and_what_stands_out_is_shown() {
        let mut raw = "id,placed,status,total,note\n".to_owned();
        for id in 1..=60 {
            let status = if id % 4 == 0 { "shipped" } else { "paid" };
            raw.push_str(&format!("{id},2025-09-{:02},{status},{}.50,\n", 1 + id % 28, id * 3 % 50));
        }
        raw.push_str("61,2025-10-02,lost,98765.43,\"Call first,\nthen \"\"ring\"\"\"\n62,2025-10-03,broken\n");
        check(&raw, 400).shows(&expect![[r#"
            table of 61 rows, 5 columns between commas, 1 line that does not fit
            == lines that do not fit: 1
            64: 62,2025-10-03,broken
            == rows of rare states: 1
            62: 61,2025-10-02,lost,98765.43,"Call first,
            then ""ring"""
            == unusual records: 1
            62: 61,2025-10-02,lost,98765.43,"Call first,
            then ""ring""" (unusual: status, total, note)
            == fields of 61 records: 5
            id: 1 to 61, all different
            placed: 2025-09-01 to 2025-10-02, 29 different
            status: paid ×45, shipped ×15, lost ×1 (61)
            total: 0.50 (50) to 98765.43, mean 1642.384, sum 100185.43
            in one record only: note=Call first,⏎then "ring"
            == first and last records: 61, 2 shown
            2: 1,2025-09-02,paid,3.50,
            3: 2,2025-09-03,paid,6.50,
            == similar values of note: 1
            ×60 "#]]);
    }

    #[test]
    fn other_lines_with_commas_are_no_table() {
        for text in [
            "2026-09-01 10:00:00,123 INFO started\n2026-09-01 10:00:01,456 INFO done\n2026-09-01 10:00:02,789 INFO x\n2026-09-01 10:00:02,790 INFO y\n",
            "int a = 1;\nint b = 2;\nchar c = 3;\nreturn a + b + c;\nint d;\n",
            "One, two, three.\nThe sea, the sky, the sun.\nHere, there, everywhere.\nFour, five, six.\n",
            "INSERT INTO t VALUES (1,'a',2);\nINSERT INTO t VALUES (2,'b',3);\nINSERT INTO t VALUES (3,'c',4);\nINSERT INTO t VALUES (4,'d',5);\n",
            "\tmodified:   a.rs\n\tmodified:   b.rs\n\tmodified:   c.rs\n\tmodified:   d.rs\n",
            "| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |\n",
            "12K\ta\n13K\tb\n14K\tc\n15K\td\n",
        ] {
            assert_eq!(form_of(text), None, "{text}");
        }
    }

    #[test]
    fn marks_and_headers_are_seen() {
        for (text, mark, header) in [
            ("a;b;c\n1;2;3\n4;5;6\n7;8;9\n", ';', true),
            ("a|b\n1|2\n3|4\n5|6\n", '|', true),
            ("1\tx\t2\n3\ty\t4\n5\tz\t6\n7\tw\t8\n", '\t', false),
            (",x,y\n0,1,2\n1,3,4\n2,5,6\n", ',', true),
            ("# made by hand\na,b,c\n1,2,3\n4,5,6\n7,8,9\n", ',', true),
        ] {
            let form = form_of(text).unwrap();
            assert_eq!((form.mark, form.header), (mark, header), "{text}");
        }
    }

    #[test]
    fn a_quote_that_is_never_closed_takes_bounded_memory() {
        let mut raw = "a,b,c\n".to_owned();
        for row in 0..2_000 {
            raw.push_str(&format!("{row},2,3\n"));
        }
        raw.push_str("9,\"open,3\n");
        for row in 0..2_000 {
            raw.push_str(&format!("{row},2,3\n"));
        }
        let text = crate::check::digest(&raw, 600);
        assert!(text.contains("lines that do not fit"), "{text}");
    }
}
