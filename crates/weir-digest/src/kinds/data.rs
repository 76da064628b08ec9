//! Records and values: JSON, separated values, tables.

pub(super) mod cells;
mod column;
mod converted;
pub(super) mod csv;
pub(super) mod envelope;
pub(super) mod json;
mod json_graph;
mod json_piece;
mod json_reader;
mod json_rows;
mod layout;
pub(super) mod ndjson;
pub(super) mod records;
mod row;
mod rows;
mod rows_page;
mod rows_words;
mod sheet;
pub(super) mod table;
mod value;
pub(super) mod yaml;
