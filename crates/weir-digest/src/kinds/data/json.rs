//! JSON documents: values that occur once are shown verbatim, and values that occur many times are counted as records.
//!
//! A few lines of other text may precede and follow a document. Invariant: memory does not grow with the document.

use std::io;

use super::json_graph::Graph;
use super::json_reader::{Piece, PieceConsumer, Reader};
use super::json_rows::Values;
use super::ndjson;
use super::rows::Rows;
use super::rows_page::{TableFacts, few, names};
use super::sheet::{self, Sheet, ShownSheet};
use crate::kinds::fold::Fold;
use crate::kinds::{Kind, Stretch};
use crate::sample::Sample;
use crate::text::{clip, count, shorten};
use crate::{Item, Line, Page, Part, Source, Weight};

pub(crate) const KIND: Kind = Kind::data("json", |sample| begin(sample).is_some(), read);

/// The minimum number of documents, one per line, that are treated as records.
const MIN_RECORDS: u64 = 3;
/// The maximum number of lines of other text before a document.
const MAX_LINES_BEFORE: usize = 25;
/// The maximum number of records and of fields in an array that is shown record by record.
const MAX_RECORDS_SHOWN_WHOLE: u64 = 5;
const MAX_FIELDS_SHOWN_WHOLE: usize = 16;
/// The maximum number of such records that are shown.
const MAX_WHOLE_RECORDS: usize = 40;
/// The maximum number of arrays that are shown with all their fields.
const MAX_TABLES: usize = 4;
const MAX_VALUE_BYTES: usize = 200;
const MAX_LINE_BYTES: usize = 400;
/// The maximum length of a note after the place where an output was cut, and the fewest words in it.
const MAX_NOTE_BYTES: usize = 600;
const MIN_NOTE_WORDS: usize = 6;

pub(super) fn read(source: &dyn Source, sample: &Sample<'_>) -> io::Result<Option<Page>> {
    let Some(before) = begin(sample) else { return Ok(None) };
    let mut graph = Graph::new();
    let mut log = Fold::default();
    // The sample holds too few records to show that they are one per line.
    if walk(source, before, &mut graph, &mut log)?.is_records()
        && let Some(page) = ndjson::read(source, sample)?
    {
        return Ok(Some(page));
    }
    graph.find_maps();
    let mut values = Values::new(&graph);
    let mut log = Fold::default();
    let walked = walk(source, before, &mut values, &mut log)?;
    if walked.documents == 0 || (walked.broken && log.lines * 5 >= walked.lines) {
        return Ok(None);
    }
    let sheet = if sample.about.lists { read_sheet(source, before, &walked)? } else { None };
    let mut page = page(&values, &walked, sheet);
    if let Some(note) = note_after_cut(source, &walked)? {
        page.push(Part::uncounted("after the cut", Weight::Failure, vec![Item::plain(note)]));
    }
    log.put(&mut page);
    Ok(Some(page))
}

/// What was found while walking through an output.
#[derive(Default)]
struct WalkResult {
    documents: u64,
    /// The number of documents that fit on one line.
    on_one_line: u64,
    lines: u64,
    /// Whether the last document is truncated.
    cut: bool,
    /// Whether a document is invalid.
    broken: bool,
    /// Whether the documents are lists and dictionaries as Python prints them.
    python: bool,
}

impl WalkResult {
    /// Returns whether there is one document per line, which is a kind of its own.
    fn is_records(&self) -> bool {
        self.documents >= MIN_RECORDS && self.on_one_line == self.documents
    }
}

/// Walks through all documents of an output. Lines between them go to the fold.
fn walk(source: &dyn Source, before: usize, gather: &mut dyn PieceConsumer, log: &mut Fold) -> io::Result<WalkResult> {
    walk_within(source, before, gather, log, super::json_reader::MAX_TEXT_BYTES)
}

fn walk_within(
    source: &dyn Source,
    before: usize,
    gather: &mut dyn PieceConsumer,
    log: &mut Fold,
    limit: usize,
) -> io::Result<WalkResult> {
    let mut reader = Reader::of(source.open()?);
    reader.limit = limit;
    (reader.lenient, reader.jump) = (true, source.jump());
    let mut walked = WalkResult::default();
    for _ in 0..before {
        other(&mut reader, log)?;
    }
    while let Some(byte) = reader.ahead()? {
        if matches!(byte, b'{' | b'[') && !walked.broken {
            let line = reader.line;
            reader.begin();
            gather.begin(line);
            walked.documents += 1;
            walked.broken = !document(&mut reader, gather)?;
            walked.on_one_line += u64::from(reader.line == line);
            gather.end();
            if reader.cut {
                walked.cut = true;
                walked.broken = false;
                break;
            }
        } else {
            other(&mut reader, log)?;
        }
    }
    walked.lines = reader.line;
    walked.python = reader.python;
    Ok(walked)
}

/// Reads one document. Returns whether it is valid to its end.
pub(super) fn document(reader: &mut Reader<'_>, gather: &mut dyn PieceConsumer) -> io::Result<bool> {
    loop {
        match reader.next()? {
            Piece::End => return Ok(true),
            Piece::Broken => {
                if reader.cut {
                    gather.cut(&reader.text);
                }
                return Ok(false);
            }
            piece => gather.piece(piece, reader),
        }
    }
}

/// Gives a line to the fold.
fn other(reader: &mut Reader<'_>, log: &mut Fold) -> io::Result<()> {
    let number = reader.line;
    let text = reader.rest_of_line()?;
    if !text.trim().is_empty() {
        log.take(&Line { number, text: &text, left_out: 0 });
    }
    Ok(())
}

/// Returns the number of lines before the first document, if the sample is a document or the beginning of one.
fn begin(sample: &Sample<'_>) -> Option<usize> {
    let mut place = 0;
    for (before, line) in sample.raw.split(|&byte| byte == b'\n').take(MAX_LINES_BEFORE).enumerate() {
        let rest = sample.raw.get(place..)?;
        let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
        if matches!(first, Some(b'{' | b'[' | 0x1b | 0xef)) && is_documents(rest, sample) {
            return (place * 5 <= sample.raw.len() * 2).then_some(before);
        }
        place += line.len() + 1;
    }
    None
}

fn is_documents(bytes: &[u8], sample: &Sample<'_>) -> bool {
    let mut reader = Reader::on(bytes);
    reader.lenient = true;
    let (mut documents, mut read, mut lines, mut values) = (0, 0, 0, 0_u64);
    loop {
        if !matches!(reader.ahead(), Ok(Some(b'{' | b'['))) {
            break;
        }
        let line = reader.line;
        reader.begin();
        let whole = loop {
            match reader.next() {
                Ok(Piece::End) => break true,
                Ok(Piece::Broken) | Err(_) => break false,
                Ok(_) => values += 1,
            }
        };
        if !whole {
            // Either the sample ends in the middle of a document, or this is not one.
            if reader.cut && !sample.whole {
                read = bytes.len();
            }
            break;
        }
        documents += 1;
        lines += u64::from(reader.line == line);
        read = reader.taken();
    }
    // One document per line is a kind of its own, which understands logs.
    let records = documents >= MIN_RECORDS && lines == documents;
    // A key shows that even a document of a few values is one.
    let inside = bytes.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let is_sure = values >= 8 || values >= 2 && inside.is_some_and(|inside| inside.starts_with(b"\""));
    is_sure && read * 5 >= bytes.len() * 3 && !records
}

/// Returns the last line of an output that was cut inside of a string, if it is a note about that and not data.
fn note_after_cut(source: &dyn Source, walked: &WalkResult) -> io::Result<Option<String>> {
    if !walked.cut || !sheet::is_small(source) {
        return Ok(None);
    }
    let mut text = String::new();
    io::Read::read_to_string(&mut source.open()?, &mut text)?;
    let last = text.trim_end().rsplit_once("\n\n").map_or("", |(_, last)| last.trim());
    let is_note = last.len() <= MAX_NOTE_BYTES && last.split(' ').count() >= MIN_NOTE_WORDS && !last.contains("\":");
    Ok(is_note.then(|| last.to_owned()))
}

/// Reads the documents as lists of records, if that is what they are.
fn read_sheet(source: &dyn Source, before: usize, walked: &WalkResult) -> io::Result<Option<ShownSheet>> {
    if walked.broken || !sheet::is_small(source) {
        return Ok(None);
    }
    let mut builder = sheet::Builder::default();
    walk_within(source, before, &mut builder, &mut Fold::default(), usize::MAX)?;
    let sheet = builder.finish().and_then(|documents| Sheet::of(&documents, source.bytes()));
    Ok(sheet.map(|sheet| sheet.shown(source.bytes())))
}

fn page(values: &Values<'_>, walked: &WalkResult, sheet: Option<ShownSheet>) -> Page {
    let mut page = Page::new(what(values, walked));
    if let Some(sheet) = sheet {
        sheet.parts.into_iter().for_each(|part| page.push(part));
        page.words = Some(sheet.words);
        page.is_complete = sheet.is_complete;
        return page;
    }
    let mut single = Vec::new();
    let mut many: Vec<&Rows> = Vec::new();
    let mut small: Vec<&Rows> = Vec::new();
    for table in &values.tables {
        match table.count {
            0 => {}
            1 => facts(table, &mut single),
            _ if is_small(table) => small.push(table),
            _ => many.push(table),
        }
    }
    single.sort_by_key(|group| group.depth);
    let items = single.into_iter().flat_map(ObjectValues::items).collect();
    page.push(Part::new("values that occur once, by object", Weight::Fact, items));
    small.sort_by_key(|table| table.path.matches(['.', '[', '{']).count());
    let items = small.iter().flat_map(|table| few(table)).take(MAX_WHOLE_RECORDS).collect();
    let total = small.iter().map(|table| table.count).sum();
    page.push(Part::new("records of small arrays", Weight::Fact, items).of(total));
    many.sort_by_key(|table| std::cmp::Reverse(worth(table)));
    let mut gathered = TableFacts::default();
    many.iter().take(MAX_TABLES).for_each(|table| gathered.add(table));
    gathered.push(&mut page);
    let rest = many.iter().skip(MAX_TABLES).map(|table| {
        let fields: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let path = table.path.trim_end_matches('.');
        let item = Item::plain(shorten(
            &format!("{path}: {} of {}", count(table.count, "record", "records"), fields.join(", ")),
            300,
        ));
        names(table).unwrap_or(item)
    });
    page.push(Part::new("other arrays", Weight::Shape, rest.collect()));
    page
}

/// Returns whether an array is best shown record by record.
fn is_small(table: &Rows) -> bool {
    // Records nested in others are described with those.
    let is_outside = table.path.matches(['[', '{']).count() <= 1;
    is_outside
        && table.count <= MAX_RECORDS_SHOWN_WHOLE
        && table.columns.len() <= MAX_FIELDS_SHOWN_WHOLE
        && table.errors.count + table.warnings.count == 0
}

/// Returns how much an array has to say: many records with many fields, not too deeply nested.
fn worth(table: &Rows) -> u64 {
    let depth = 1 + table.path.matches(['[', '{']).count() as u64;
    table.count.min(1_000).saturating_mul(table.columns.len() as u64) / (depth * depth)
}

fn what(values: &Values<'_>, walked: &WalkResult) -> String {
    let documents = if walked.documents == 1 { String::new() } else { format!("{} documents, ", walked.documents) };
    let records = values.tables.iter().find(|table| table.path.is_empty() && table.count > 1);
    let records = records.map(|table| format!("{}, ", count(table.count, "record", "records"))).unwrap_or_default();
    let end = match (walked.cut, walked.broken) {
        (true, _) => ", cut off before its end",
        (_, true) => ", broken",
        _ => "",
    };
    let beyond = values.beyond;
    let beyond = if beyond > 0 {
        format!(", {} of further arrays not looked at", count(beyond, "record", "records"))
    } else {
        String::new()
    };
    let name = if walked.python { "Python literals" } else { "JSON" };
    let all = count(values.count, "value", "values");
    format!("{name}: {documents}{records}{all} up to {} deep{beyond}{end}", values.deepest)
}

/// The values of one object that occurs once.
struct ObjectValues {
    path: String,
    depth: usize,
    /// `name=value`
    values: Vec<String>,
    /// The names and values of fields that are 0, false, null or empty.
    empty: Vec<(String, String)>,
}

impl ObjectValues {
    /// Returns its values in lines of limited length.
    fn items(self) -> Vec<Item> {
        let Self { path, mut values, empty, .. } = self;
        if empty.len() <= 3 {
            values.extend(empty.iter().map(|(name, value)| format!("{name}={value}")));
        } else {
            let names: Vec<&str> = empty.iter().map(|(name, _)| name.as_str()).collect();
            values.push(format!("empty, false or 0: {}", shorten(&names.join(", "), 200)));
        }
        let mut items = Vec::new();
        let mut line = String::new();
        for value in values {
            if !line.is_empty() && (line.len() + value.len() > MAX_LINE_BYTES || value.starts_with("empty, false")) {
                items.push(Item::plain(std::mem::take(&mut line)));
            }
            line.push_str(if line.is_empty() { &path } else { ", " });
            line.push_str(&value);
        }
        items.push(Item::plain(line));
        items
    }
}

/// Groups the values of a table with one record by the object that contains them.
fn facts(table: &Rows, into: &mut Vec<ObjectValues>) {
    let from = into.len();
    for column in &table.columns {
        let (parent, name) = column.name.rsplit_once('.').unwrap_or(("", &column.name));
        if column.name == "[]" && table.path.is_empty() {
            continue;
        }
        let path = match (table.path.trim_end_matches('.'), parent) {
            ("", "") => String::new(),
            ("", parent) => format!("{parent}: "),
            (path, "") => format!("{path}: "),
            (path, parent) => format!("{path}.{parent}: "),
        };
        let known = into.get_mut(from..).unwrap_or_default().iter_mut().find(|group| group.path == path);
        let group = match known {
            Some(group) => group,
            None => {
                let depth = path.matches(['.', '[', '{', ':']).count();
                into.push(ObjectValues { path, depth, values: Vec::new(), empty: Vec::new() });
                let Some(group) = into.last_mut() else { return };
                group
            }
        };
        let values: Vec<String> =
            column.values.sorted().iter().map(|value| clip(value.text, MAX_VALUE_BYTES)).collect();
        match values.join(",") {
            value if matches!(value.as_str(), "0" | "false") => group.empty.push((name.to_owned(), value)),
            value if value.is_empty() => {
                let gap = column.gaps.first().map(|gap| gap.0.as_str()).filter(|gap| !gap.is_empty());
                group.empty.push((name.to_owned(), gap.unwrap_or("\"\"").to_owned()));
            }
            value => group.values.push(format!("{name}={}", shorten(&value, MAX_LINE_BYTES))),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::check::check;
    use crate::{About, Jump};

    /// A text without its middle.
    struct Ends<'a>(&'a str, Jump);

    impl Source for Ends<'_> {
        fn open(&self) -> io::Result<Box<dyn io::BufRead + '_>> {
            Ok(Box::new(self.0.as_bytes()))
        }

        fn bytes(&self) -> u64 {
            100_000
        }

        fn jump(&self) -> Option<Jump> {
            Some(self.1)
        }
    }

    #[test]
    fn records_after_a_jump_have_their_own_lines() {
        let records = |from: u32, until: u32| -> String {
            (from..until).map(|id| format!("{{\"id\": {id}, \"name\": \"n{id}\"}},\n")).collect()
        };
        let before = format!("[\n{}", records(0, 10));
        let text = format!("{before}{}{{\"id\": 29, \"name\": \"n29\"}}\n]\n", records(10, 29));
        let ends = Ends(&text, Jump { at: before.len() as u64, line: 1_000 });
        let page = crate::read(&ends, About::default()).unwrap();
        assert_eq!(page.what, "JSON: 30 records, 91 values up to 2 deep");
        let lines: Vec<u64> = page.parts.iter().flat_map(|part| &part.items).filter_map(|item| item.line).collect();
        assert!(lines.contains(&2) && lines.contains(&1_019), "{lines:?}");
    }

    #[test]
    fn what_is_there_once_is_shown_and_records_are_counted() {
        let record = |id: u32| {
            let (status, more) = if id == 33 { ("stuck", ",\"error\":\"no lines\"") } else { ("paid", "") };
            let total = if id == 40 { 98_765 } else { id * 7 % 90 };
            format!(
                "{{\"id\":{id},\"status\":\"{status}\",\"total\":{total}.50,\"lines\":[{{\"sku\":\"A{}\"}}],\"tag\":null{more}}}",
                id % 3
            )
        };
        let records = (1..=60).map(record).collect::<Vec<_>>().join(",");
        let raw = format!(
            "HTTP/1.1 200 OK\n\n{{\"version\":\"1.2.0\",\"page\":{{\"next\":2,\"more\":true}},\"orders\":[{records}]}}\n"
        );
        check(&raw, 600).shows(&expect![[r#"
            JSON: 487 values up to 5 deep
            == values that occur once, by object: 2
            version=1.2.0, orders[]=60
            page: next=2, more=true
            == errors, grouped by message: 1
            orders[32] id=33 status=stuck total=51.50 lines[]=1 error="no lines"
            == unusual records: 1
            orders[39] id=40 status=paid total=98765.50 lines[]=1 (unusual: total)
            == fields of 60 records: 6
            orders[]: id: 1 to 60, all different
            status: paid ×59, stuck ×1 (33)
            total: 1.50 (13) to 98765.50, mean 1688.917, sum 101335.00
            the same in all: lines[]=1
            in one record only: error=no lines
            without a value: tag
            == fields of 60 records: 1
            orders[].lines[]: sku: A1 ×20, A2 ×20, A0 ×20
            == first and last records: 60, 3 shown
            orders[0] id=1 status=paid total=7.50 lines[]=1
            orders[1] id=2 status=paid total=14.50 lines[]=1
            orders[59] id=60 status=paid total=60.50 lines[]=1
            == lines in order: other lines 1
            1: HTTP/1.1 200 OK"#]]);
    }

    #[test]
    fn what_is_inside_of_its_like_is_counted_with_it() {
        let leaf = "{\"type\":\"scan\",\"rows\":5}";
        let inner = format!("{{\"type\":\"join\",\"rows\":9,\"plans\":[{leaf},{leaf}]}}");
        let raw = format!("{{\"plan\":{{\"type\":\"limit\",\"plans\":[{inner},{inner}]}},\"ms\":1.250}}");
        check(&raw, 400).shows(&expect![[r#"
            JSON: 25 values up to 6 deep
            == values that occur once, by object: 2
            ms=1.250
            plan: type=limit, plans[]=2
            == fields of 6 records: 3
            plan.plans[]: type: scan ×4, join ×2
            rows: 5 ×4, 9 ×2, sum 38
            plans[]: 2 ×2; 4 absent
            == records: 6
            plan.plans[0] type=scan rows=5
            plan.plans[1] type=scan rows=5
            plan.plans[2] type=join rows=9 plans[]=2
            plan.plans[3] type=scan rows=5
            plan.plans[4] type=scan rows=5
            plan.plans[5] type=join rows=9 plans[]=2"#]]);
    }

    #[test]
    fn what_is_called_by_its_keys_is_named() {
        let verb = |verb: &str, id: &str| {
            format!(
                "\"{verb}\":{{\"tags\":[\"t\"],\"operationId\":\"{id}\",\"summary\":\"{id} it\",\"responses\":{{}}}}"
            )
        };
        let path = |name: &str, verbs: &[&str]| {
            let verbs: Vec<String> = verbs.iter().map(|of| verb(of, &format!("{of}_{name}"))).collect();
            format!("\"/{name}\":{{{}}}", verbs.join(","))
        };
        let verbs: [&[&str]; 4] = [&["get", "post"], &["get", "put", "delete"], &["post"], &["get"]];
        let paths: Vec<String> = (0..9).map(|n| path(&format!("p{n}"), verbs[n % 4])).collect();
        let servers = "[{\"url\":\"https://a.example\"},{\"url\":\"https://b.example\"}]";
        let raw = format!("{{\"openapi\":\"3.1.0\",\"servers\":{servers},\"paths\":{{{}}}}}", paths.join(","));
        let text = crate::check::digest(&raw, 700);
        for told in ["paths{}=9", "get ×7, post ×5, put ×2, delete ×2", "paths{}: /p0, /p1, ", "url=https://b.example"]
        {
            assert!(text.contains(told), "{told} is not in:\n{text}");
        }
    }

    #[test]
    fn keys_that_are_data_are_records() {
        let packages = (0..30).map(|n| format!("\"p{n}\":{{\"version\":\"1.{n}.0\",\"dev\":{}}}", n % 2 == 0));
        let raw = format!("{{\"name\":\"x\",\"packages\":{{{}}}}}", packages.collect::<Vec<_>>().join(","));
        check(&raw, 400).shows(&expect![[r#"
            JSON: 93 values up to 3 deep
            == values that occur once, by object: 1
            name=x, packages{}=30
            == which records there are
            packages{}: p0 1.0.0, p1 1.1.0, p2 1.2.0, p3 1.3.0, p4 1.4.0, p5 1.5.0, p6 1.6.0, p7 1.7.0, p8 1.8.0, p9 1.9.0, p10 1.10.0, p11 1.11.0, p12 1.12.0, p13 1.13.0, …
            == fields of 30 records: 3
            packages{}: key: all different, such as p0, p1
            version: all different, such as 1.0.0, 1.1.0
            dev: true ×15, false ×15
            == first and last records: 30, 3 shown
            packages[0] key=p0 version=1.0.0 dev=true
            packages[1] key=p1 version=1.1.0 dev=false
            packages[29] key=p29 version=1.29.0 dev=false"#]]);
    }

    #[test]
    fn a_document_that_is_cut_is_still_read_and_other_text_is_not() {
        let cut = format!("[{}{{\"id\": 99, \"na", "{\"id\": 1, \"name\": \"x\"},\n".repeat(2_000));
        assert!(crate::check::digest(&cut, 400).contains("cut off before its end"));
        for text in [
            "[1/5] step one\n[2/5] step two\n", "{ not json }\n", "[INFO] a\n[INFO] b\n",
            "{}\nand much more text here\n",
        ] {
            assert!(begin(&Sample::of(&text.as_bytes(), About::default()).unwrap()).is_none(), "{text}");
        }
    }

    #[test]
    fn lists_as_python_prints_them_are_records() {
        let rows =
            (1..=200).map(|id| format!("{{'name': 'p{id}', 'size': {id}, 'note': None, 'text': \"it's {id}\"}}"));
        let text = format!("[{}]", rows.collect::<Vec<_>>().join(", "));
        let page = crate::read(&text.as_bytes(), About::default()).unwrap();
        assert!(page.what.starts_with("Python literals: 200 records, "), "{}", page.what);
    }
}
