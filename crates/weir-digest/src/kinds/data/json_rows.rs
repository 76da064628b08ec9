//! Gathers the values of JSON documents: every array, and every object whose keys are data, is a table of records, and
//! values that occur once form a table of one record.
//!
//! Invariant: memory does not grow with the document.

use std::collections::HashMap;

use super::json_graph::{Graph, ROOT};
use super::json_reader::{Piece, PieceConsumer, Reader};
use super::row::{Field, ReadValue, Row, ValueSyntax};
use super::rows::Rows;
use super::value::Role;

const MAX_TABLES: usize = 40;
const MAX_PATH_BYTES: usize = 200;

pub(super) struct Values<'g> {
    graph: &'g Graph,
    pub tables: Vec<Rows>,
    of_place: HashMap<usize, usize>,
    frames: Vec<Frame>,
    rows: Vec<OpenRecord>,
    spare: Vec<Row>,
    key: String,
    pub count: u64,
    /// The maximum nesting depth.
    pub deepest: usize,
    /// The number of records in arrays beyond the limit of tables.
    pub beyond: u64,
}

/// An object or an array that is being read.
struct Frame {
    is_array: bool,
    place: Option<usize>,
    is_map: bool,
    is_long: bool,
    /// Whether its elements are the cells of a row.
    is_tuple: bool,
    /// Whether its end ends a record.
    has_row: bool,
    /// The length of the path before it.
    path: usize,
    elements: u64,
    records: u64,
}

struct OpenRecord {
    table: Option<usize>,
    row: Row,
    path: String,
}

impl PieceConsumer for Values<'_> {
    fn begin(&mut self, line: u64) {
        self.frames.clear();
        self.rows.clear();
        self.open_row(Some(ROOT), "", line);
    }

    fn raw(&mut self, raw: &str) {
        if let Some(open) = self.rows.first_mut() {
            open.row.set_raw(raw);
        }
    }

    fn piece(&mut self, piece: Piece, reader: &Reader<'_>) {
        let sort = match piece {
            Piece::Object | Piece::Array => return self.open(piece == Piece::Array, reader.line),
            Piece::Key => return reader.text.clone_into(&mut self.key),
            Piece::Close => return self.close(),
            Piece::End | Piece::Broken => return,
            Piece::Text => ValueSyntax::Text,
            Piece::Number => ValueSyntax::Number,
            Piece::Word => ValueSyntax::Word,
        };
        let value = ReadValue { sort, text: &reader.text, length: reader.length, rest: reader.rest };
        self.value(value, reader.line);
    }

    fn end(&mut self) {
        while !self.frames.is_empty() {
            self.close();
        }
        while !self.rows.is_empty() {
            self.close_row();
        }
    }
}

impl<'g> Values<'g> {
    pub(super) fn new(graph: &'g Graph) -> Self {
        Self {
            graph,
            tables: Vec::new(),
            of_place: HashMap::new(),
            frames: Vec::new(),
            rows: Vec::new(),
            spare: Vec::new(),
            key: String::new(),
            count: 0,
            deepest: 0,
            beyond: 0,
        }
    }

    fn open(&mut self, is_array: bool, line: u64) {
        self.count += 1;
        let in_array = self.frames.last().is_some_and(|frame| frame.is_array);
        let (place, path, new_row) = self.enter(line, true);
        let frame = Frame {
            is_array,
            place,
            is_map: !is_array && self.graph.is_map(place),
            is_long: is_array && self.graph.is_long(place),
            is_tuple: is_array && new_row && in_array,
            has_row: new_row,
            path,
            elements: 0,
            records: 0,
        };
        self.frames.push(frame);
        self.deepest = self.deepest.max(self.frames.len());
    }

    /// Takes a string, a number or a word.
    fn value(&mut self, value: ReadValue<'_>, line: u64) {
        self.count += 1;
        let (_, path, new_row) = self.enter(line, false);
        self.field(value);
        self.leave(path, new_row);
    }

    fn close(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let count = if frame.is_map { frame.elements } else { frame.records };
        let is_counted =
            frame.is_map || (frame.is_array && !frame.is_tuple && (frame.records > 0 || frame.elements == 0));
        if is_counted && !frame.has_row {
            let text = count.to_string();
            let mark = if frame.is_map { "{}" } else { "[]" };
            if let Some(open) = self.rows.last_mut() {
                open.path.push_str(mark);
            }
            self.field(ReadValue::whole(ValueSyntax::Number, &text));
        }
        self.leave(frame.path, frame.has_row);
    }

    /// Moves to the place of the next value. Returns the place, the previous length of the path, and whether a record
    /// begins.
    fn enter(&mut self, line: u64, is_open: bool) -> (Option<usize>, usize, bool) {
        let length = self.rows.last().map_or(0, |open| open.path.len());
        let Some(frame) = self.frames.last_mut() else { return (Some(ROOT), length, false) };
        let index = frame.elements;
        frame.elements += 1;
        let (is_array, is_map, is_tuple, is_long) = (frame.is_array, frame.is_map, frame.is_tuple, frame.is_long);
        let parent = frame.place;
        if is_array {
            let place = self.graph.element_of(parent);
            if is_tuple && !is_open && index < 16 {
                self.go(&index.to_string());
                return (place, length, false);
            }
            if is_open || is_long {
                frame.records += 1;
                self.open_row(place, "[].", line);
                return (place, length, true);
            }
            if let Some(open) = self.rows.last_mut() {
                open.path.push_str("[]");
            }
            return (place, length, false);
        }
        let place = self.graph.field_of(parent, &self.key);
        let key = std::mem::take(&mut self.key);
        if is_map {
            self.open_row(place, "{}.", line);
            self.named("key", &key);
        } else {
            self.go(&key);
        }
        self.key = key;
        (place, length, is_map)
    }

    fn go(&mut self, key: &str) {
        let Some(open) = self.rows.last_mut() else { return };
        if !open.path.is_empty() {
            open.path.push('.');
        }
        open.path.push_str(key.get(..key.floor_char_boundary(MAX_PATH_BYTES)).unwrap_or_default());
    }

    /// Adds a field that names the record: its key in an object whose keys are data, or the record that contains it.
    fn named(&mut self, name: &str, value: &str) {
        if let Some(open) = self.rows.last_mut() {
            open.path.push_str(name);
        }
        self.field(ReadValue::whole(ValueSyntax::Text, value));
        if let Some(open) = self.rows.last_mut() {
            open.path.clear();
        }
    }

    fn leave(&mut self, path: usize, has_row: bool) {
        if has_row {
            self.close_row();
        }
        if let Some(open) = self.rows.last_mut() {
            open.path.truncate(path);
        }
    }

    fn field(&mut self, value: ReadValue<'_>) {
        let Some(open) = self.rows.last_mut() else { return };
        let Some(table) = open.table.and_then(|table| self.tables.get_mut(table)) else { return };
        let name = if open.path.is_empty() { "value" } else { &open.path };
        if let Some(column) = table.column(name) {
            open.row.push(column, value);
        }
    }

    fn open_row(&mut self, place: Option<usize>, mark: &str, line: u64) {
        let table = place.and_then(|place| self.table(place, mark));
        let mut row = self.spare.pop().unwrap_or_default();
        row.begin(line);
        row.depth = self.rows.len() + 1;
        let around = self.around();
        self.rows.push(OpenRecord { table, row, path: String::new() });
        if let Some(name) = around {
            self.named("of", &name);
        }
    }

    /// Returns the name of the record that contains the next one. A record that occurs once needs no name.
    fn around(&self) -> Option<String> {
        let open = self.rows.get(1..)?.last()?;
        let table = self.tables.get(open.table?)?;
        let is_name = |field: &&Field| {
            table.columns.get(field.column).is_some_and(|column| matches!(column.role, Role::Name | Role::Id))
        };
        let name = open.row.fields.iter().find(is_name)?;
        Some(open.row.text_of(name).to_owned())
    }

    fn close_row(&mut self) {
        let Some(mut open) = self.rows.pop() else { return };
        if let Some(table) = open.table.and_then(|table| self.tables.get_mut(table)) {
            table.add(&mut open.row);
        } else {
            self.beyond += 1;
        }
        self.spare.push(open.row);
    }

    fn table(&mut self, place: usize, mark: &str) -> Option<usize> {
        if let Some(&table) = self.of_place.get(&place) {
            return Some(table);
        }
        if self.tables.len() >= MAX_TABLES {
            return None;
        }
        let around = self.rows.last();
        let before = around.and_then(|open| open.table).and_then(|table| self.tables.get(table));
        let before = before.map_or("", |table| table.path.as_str());
        let path = around.map_or("", |open| open.path.as_str());
        let path = if path.is_empty() && before.is_empty() { String::new() } else { format!("{before}{path}{mark}") };
        self.tables.push(Rows::at(path));
        self.of_place.insert(place, self.tables.len() - 1);
        Some(self.tables.len() - 1)
    }
}
