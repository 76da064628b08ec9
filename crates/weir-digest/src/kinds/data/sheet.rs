//! A document as a person would note it down: a table with a row for every record, and the values outside of tables.
//!
//! Only documents of limited size are read this way; larger ones are described by their fields.

mod column;
mod grid;
mod little;
mod nested;
mod table;
mod tree;

use self::little::{is_nothing, says_little};
use self::table::Table;
pub(super) use self::tree::Builder;
use self::tree::Node;
use crate::text::{clip, shorten};
use crate::{Item, Part, Source, Weight};

/// The maximum size of an output that is read this way, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The share of a digest's budget that records and values get, in percent.
const SHARE_PERCENT: usize = 75;
/// The budget in tokens for the records of a small output and of a large one, and the bytes for each token between.
const MIN_RECORDS_BUDGET: usize = 2_400;
const MAX_RECORDS_BUDGET: usize = 4_500;
const BYTES_PER_RECORDS_TOKEN: usize = 60;
/// A table with less than this share of the text may be left out, in percent.
const MIN_TABLE_PERCENT: usize = 25;
/// The fewest objects under data as keys that are a table.
const MIN_MAPPED: usize = 4;
/// The maximum number of bytes of a value outside of tables, of one of a few long ones, and of a line of such values.
const MAX_VALUE_BYTES: usize = 300;
const MAX_LONG_VALUE_BYTES: usize = 1_500;
const MAX_LINE_BYTES: usize = 400;
/// With more long values, none gets more room than others.
const MAX_LONG_VALUES: usize = 2;
/// The maximum length of the names of fields that say little.
const MAX_LITTLE_BYTES: usize = 200;

/// A document as lists of records, and values outside of them.
#[derive(Default)]
pub(super) struct Sheet {
    values: Vec<Values>,
    tables: Vec<Table>,
    /// The names of fields that say little.
    little: Vec<String>,
    /// The number of long values outside of tables.
    long: usize,
}

/// The values of one object that is outside of lists.
struct Values {
    path: String,
    /// Names and values.
    said: Vec<(String, String)>,
    /// The names of fields that are 0, false, null or empty.
    empty: Vec<String>,
}

/// A sheet as parts of a digest.
pub(super) struct ShownSheet {
    pub parts: Vec<Part>,
    /// Everything that the document says, without the names of fields and what says little.
    pub words: String,
    /// Whether every record is shown, with all of its columns.
    pub is_complete: bool,
}

/// Returns whether an output is small enough to be read as a tree.
pub(super) fn is_small(source: &dyn Source) -> bool {
    source.bytes() <= MAX_BYTES && source.jump().is_none()
}

/// Returns the budget in tokens for the records of an output of this many bytes.
fn records_budget(bytes: u64) -> usize {
    (bytes as usize / BYTES_PER_RECORDS_TOKEN).clamp(MIN_RECORDS_BUDGET, MAX_RECORDS_BUDGET)
}

impl Sheet {
    /// Returns the sheet of some documents of this many bytes, unless there are too many records in it to show, or
    /// records that cannot be named.
    pub(super) fn of(documents: &[Node], bytes: u64) -> Option<Self> {
        let mut sheet = Self::default();
        match documents {
            [one] => sheet.walk(one, ""),
            several => sheet.list(several, ""),
        }
        let listed: usize = sheet.tables.iter().map(Table::bytes).sum();
        let budget = records_budget(bytes);
        let is_shown = |table: &Table| {
            table.can_be_named(budget) || (table.path != "[]" && table.bytes() * 100 < listed * MIN_TABLE_PERCENT)
        };
        sheet.tables.iter().all(is_shown).then_some(sheet)
    }

    fn walk(&mut self, node: &Node, path: &str) {
        match node {
            Node::Leaf(text) => self.value("", path, text),
            Node::Array(values) => self.list(values, path),
            Node::Object(fields, _) if is_map(fields) => {
                let records: Vec<(Option<&str>, &Node)> =
                    fields.iter().map(|(key, value)| (Some(key.as_str()), value)).collect();
                self.tables.push(Table::of(format!("{path}{{}}"), &records));
            }
            Node::Object(fields, _) => {
                for (key, value) in fields {
                    match value {
                        Node::Leaf(text) => self.value(path, key, text),
                        value => self.walk(value, &table::join(path, key)),
                    }
                }
            }
        }
    }

    fn list(&mut self, values: &[Node], path: &str) {
        let inside = format!("{path}[]");
        match values {
            [] => self.value("", &inside, ""),
            [one] => self.walk(one, &inside),
            many if many.iter().all(Node::is_record) => {
                let rows = grid::rows(many);
                let records = rows.as_deref().unwrap_or(many).iter().map(|value| (None, value));
                self.tables.push(Table::of(inside, &records.collect::<Vec<_>>()));
            }
            many => {
                for value in many.iter().filter(|value| value.is_record()) {
                    self.walk(value, &inside);
                }
                let leaves: Vec<&str> = many.iter().filter_map(leaf).collect();
                self.value("", &inside, &leaves.join(", "));
            }
        }
    }

    fn value(&mut self, path: &str, key: &str, text: &str) {
        if says_little(&table::join(path, key), text) {
            self.little.push(key.to_owned());
            return;
        }
        let known = self.values.iter().position(|known| known.path == path);
        let place = known.unwrap_or_else(|| {
            self.values.push(Values { path: path.to_owned(), said: Vec::new(), empty: Vec::new() });
            self.values.len() - 1
        });
        if is_nothing(text) {
            self.values[place].empty.push(key.to_owned());
        } else {
            self.long += usize::from(text.len() > MAX_VALUE_BYTES);
            self.values[place].said.push((key.to_owned(), text.to_owned()));
        }
    }

    /// Returns the parts of a digest that show an output of this many bytes.
    pub(super) fn shown(self, bytes: u64) -> ShownSheet {
        let words = self.words();
        let width = if self.long <= MAX_LONG_VALUES { MAX_LONG_VALUE_BYTES } else { MAX_VALUE_BYTES };
        let items: Vec<Item> = self.values.into_iter().flat_map(|values| values.items(width)).collect();
        let spent: usize = items.iter().map(|item| weir_tokens::count(&item.text) + 1).sum();
        let budget = crate::budget(bytes) * SHARE_PERCENT / 100;
        let names = self.tables.iter().map(Table::titled_cost).sum::<usize>().min(records_budget(bytes));
        let mut left = (budget - spent.min(budget / 3)).max(names);
        let mut parts = vec![Part::new("values", Weight::Fact, items)];
        let (mut remarks, mut is_complete) = (Vec::new(), !self.tables.is_empty());
        let mut costs: usize = self.tables.iter().map(Table::cost).sum();
        for table in &self.tables {
            let cost = table.cost();
            let share = left * cost / costs.max(1);
            costs -= cost;
            left -= share.min(left);
            let shown = table.shown(share);
            is_complete &= shown.is_complete;
            let mut rows = shown.rows.into_iter();
            let mut items = Vec::with_capacity(table.count);
            if let Some((_, first)) = rows.next() {
                items.push(Item::plain(format!("{}\n{first}", shown.head)));
            }
            items.extend(rows.map(|(_, row)| Item::plain(row)));
            let path = shorten(&table.path.replace('\n', " "), 80);
            let name = if path == "[]" { "records".to_owned() } else { format!("records of {path}") };
            parts.push(Part::new(name, Weight::Record, items));
            remarks.extend(shown.remarks.into_iter().map(Item::plain));
        }
        parts.push(Part::uncounted("about these records", Weight::Fact, remarks));
        if !self.little.is_empty() {
            let little = shorten(&self.little.join(", "), MAX_LITTLE_BYTES);
            parts.push(Part::uncounted("also there", Weight::Shape, vec![Item::plain(little)]));
        }
        ShownSheet { parts, words, is_complete }
    }

    /// Returns everything that the document says, except what says little.
    fn words(&self) -> String {
        let mut words = String::new();
        let mut take = |text: &str| {
            words.push_str(text);
            words.push('\n');
        };
        self.values.iter().flat_map(|values| &values.said).for_each(|(_, text)| take(text));
        self.tables.iter().for_each(|table| table.each_word(&mut take));
        words
    }
}

impl Values {
    /// Returns the values in lines of limited length, each value in at most `width` bytes.
    fn items(self, width: usize) -> Vec<Item> {
        let path = match self.path.as_str() {
            "" => String::new(),
            path => format!("{}: ", shorten(&path.replace('\n', " "), 120)),
        };
        let empty = shorten(&format!("empty, false or 0: {}", self.empty.join(", ")), MAX_LITTLE_BYTES);
        let said = self.said.into_iter().map(|(key, text)| {
            let text = clip(&text, width);
            let is_long = text.len() > MAX_VALUE_BYTES;
            format!("{key}={}", if is_long { text } else { text.replace(['\n', '\r'], " ") })
        });
        let mut lines: Vec<String> = Vec::new();
        for value in said.chain((!self.empty.is_empty()).then_some(empty)) {
            match lines.last_mut() {
                Some(line) if line.len() + value.len() <= MAX_LINE_BYTES => {
                    line.push_str(", ");
                    line.push_str(&value);
                }
                _ => lines.push(format!("{path}{value}")),
            }
        }
        lines.into_iter().map(Item::plain).collect()
    }
}

fn leaf(node: &Node) -> Option<&str> {
    match node {
        Node::Leaf(text) => Some(text),
        _ => None,
    }
}

/// Returns whether the keys of an object are data: many objects with much the same fields.
fn is_map(fields: &[(String, Node)]) -> bool {
    let Some((_, Node::Object(first, _))) = fields.first() else { return false };
    let is_alike = |node: &Node| {
        let Node::Object(own, _) = node else { return false };
        let common = own.iter().filter(|(key, _)| first.iter().any(|(known, _)| known == key)).count();
        !own.is_empty() && common * 2 >= own.len().max(first.len())
    };
    fields.len() >= MIN_MAPPED && fields.iter().all(|(_, value)| is_alike(value))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::{About, Frame};

    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&shown(text));
    }

    fn shown(text: &str) -> String {
        let source = text.as_bytes();
        let page = crate::read(&source, About { command: "", lists: true }).unwrap();
        let reference = weir_core::Reference::parse("abcdefgh12").unwrap();
        let bytes = text.len() as u64;
        let frame = Frame { head: "", remarks: &[], reference, lines: 1, bytes, read_on: "" };
        page.render(&frame, page.budget(bytes)).body
    }

    #[test]
    fn every_record_has_a_row() {
        let rows = ["Pullover", "T-Shirt", "Socks"].iter().enumerate().map(|(place, name)| {
            format!(
                r#"{{"object":"page","id":"8118-a6d{place}","cover":null,"properties":{{"Name":{{"type":"title",
                "title":[{{"type":"text","text":{{"content":"{name}"}},"plain_text":"{name}"}}]}}}},"url":"https://x/{place}"}}"#
            )
        });
        let text =
            format!(r#"{{"object":"list","has_more":false,"results":[{}]}}"#, rows.collect::<Vec<_>>().join(","));
        check(
            &text,
            expect![[r#"
                <<<abcdefgh12
                == values: 1
                object=list, empty, false or 0: has_more
                == records of results[]: 3
                id | Name
                8118-a6d0 | Pullover
                8118-a6d1 | T-Shirt
                8118-a6d2 | Socks
                == about these records
                the same in all: object=page, Name.type=title, Name.type=text
                columns left out: url (33 bytes)
                abcdefgh12>>>"#]],
        );
    }

    #[test]
    fn a_document_in_a_string_is_read() {
        let inner = r#"[{\"sha\":\"606f5cdb\",\"files\":[{\"name\":\"a\",\"new\":true},{\"name\":\"b\",\"new\":false}]},{\"sha\":\"96b54a59\",\"files\":[]}]"#;
        check(
            &format!(r#"{{"type":"text","text":"{inner}"}}"#),
            expect![[r#"
                <<<abcdefgh12
                == values: 1
                type=text
                == records of <type>[]: 2
                sha | files
                606f5cdb | a new=true; b
                96b54a59
                abcdefgh12>>>"#]],
        );
    }

    #[test]
    fn links_and_looks_are_left_out() {
        let rows = ["open", "open", "closed"].iter().enumerate().map(|(place, state)| {
            format!(
                r#"{{"number":{place},"state":"{state}","url":"https://api.x/issues/{place}","node_id":"I_kw{place}",
                "user":{{"login":"ann","avatar_url":"https://x/a{place}","events_url":"https://api.x/e{{/p}}"}},
                "labels":[{{"id":{place},"name":"bug","color":"f00"}},{{"id":1{place},"name":"p{place}","color":"0f0"}}]}}"#
            )
        });
        check(
            &format!("[{}]", rows.collect::<Vec<_>>().join(",")),
            expect![[r#"
            <<<abcdefgh12
            == records: 3
            number | state | labels
            0 | open | bug; p0 id=10
            1 | open | bug id=1; p1 id=11
            2 | closed | bug id=2; p2 id=12
            == about these records
            the same in all: user.login=ann
            also there: url, node_id, user.avatar_url
            abcdefgh12>>>"#]],
        );
    }

    #[test]
    fn cells_of_a_spreadsheet_are_rows() {
        let cells = (1..=3).flat_map(|row| {
            (1..=2).map(move |column| {
                format!(r#"{{"address":"x","value":"v{row}{column}","row":{row},"column":{column}}}"#)
            })
        });
        check(
            &format!(r#"{{"range":"A1:B3","cells":[{}]}}"#, cells.collect::<Vec<_>>().join(",")),
            expect![[r#"
            <<<abcdefgh12
            == values: 1
            range=A1:B3
            == records of cells[]: 3
            row | column 1 | column 2
            1 | v11 | v12
            2 | v21 | v22
            3 | v31 | v32
            abcdefgh12>>>"#]],
        );
    }

    #[test]
    fn rows_as_python_prints_them_are_records() {
        let rows = "[{'month': '2026-01', 'total': Decimal('330.66'), 'day': datetime.date(2026, 1, 2)}, \
                    {'month': '2026-02', 'total': Decimal('-1.5'), 'day': None}]";
        let shown = shown(rows);
        for row in ["month | total | day", "2026-01 | 330.66 | datetime.date(2026, 1, 2)", "2026-02 | -1.5"] {
            assert!(shown.contains(row), "{shown}");
        }
    }

    #[test]
    fn records_that_cannot_be_named_are_described() {
        let rows: Vec<String> = (0..60).map(|place| format!(r#"{{"width":{},"height":4}}"#, place % 7)).collect();
        check(
            &format!("[{}]", rows.join(",")),
            expect![[r#"
            <<<abcdefgh12
            == fields of 60 records: 2
            width: 0 ×9, 1 ×9, 2 ×9, 3 ×9, 4 ×8, 5 ×8, 6 ×8
            the same in all: height=4
            == first and last records: 60, 3 shown
            [0] width=0 height=4
            [1] width=1 height=4
            [59] width=3 height=4
            abcdefgh12>>>"#]],
        );
    }

    #[test]
    fn a_column_that_repeats_names_no_records() {
        let rows: Vec<String> =
            (0..60).map(|row| format!(r#"{{"name":"p{}","port":{}}}"#, row / 10, row % 7)).collect();
        let shown = shown(&format!("[{}]", rows.join(",")));
        assert!(shown.contains("== fields of 60 records: 2\nname: p0 ×10, p1 ×10"), "{shown}");
    }

    #[test]
    fn names_in_a_list_within_a_record_are_counted() {
        let message = |rule: &str, number: usize| {
            format!(r#"{{"rule":"{rule}","text":"{}{number}"}}"#, "use another form ".repeat(6))
        };
        let record = |times: usize| {
            let messages =
                (0..times).map(|number| message("no-var", number)).chain([message("curly", 50), message("curly", 51)]);
            format!(r#"{{"path":"{times}.js","messages":[{}]}}"#, messages.collect::<Vec<_>>().join(","))
        };
        let shown = shown(&format!("[{},{},{}]", record(17), record(18), record(19)));
        assert!(shown.contains("17.js | no-var ×17, curly ×2\n18.js | no-var ×18, curly ×2"), "{shown}");
    }
}
