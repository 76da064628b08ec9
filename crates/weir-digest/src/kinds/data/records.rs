//! Records with one field per line: `psql -x`, `sqlite3 -line`, and `1. row` followed by `name: value`, as printed by
//! MySQL and by MCP servers for databases.

use super::converted::{self, LineConverter, put_text, put_value};
use crate::kinds::Kind;
use crate::sample::Sample;

pub(crate) const KIND: Kind = Kind::data(
    "records",
    |sample| is_expanded(sample) || is_listed(sample),
    |source, sample| converted::read(source, sample, "records", || Box::new(Records::default())),
);

/// Returns whether a line begins a record: `-[ RECORD 1 ]---`, `*** 1. row ***`, `1. row`.
fn begins(line: &str) -> bool {
    let number = || line.trim_matches(['*', ' ']).strip_suffix(". row");
    line.starts_with("-[ RECORD ")
        || number().is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_expanded(sample: &Sample<'_>) -> bool {
    sample.full_lines().next().is_some_and(begins)
}

/// Returns whether the output is blocks of `name = value` that all begin with the same name.
fn is_listed(sample: &Sample<'_>) -> bool {
    let Some((name, _)) = sample.full_lines().next().and_then(field) else { return false };
    let again = sample.full_lines().filter_map(field).filter(|(other, _)| *other == name).count();
    again >= 3 && sample.mostly(95, |line| line.contains(" = ") && field(line).is_some())
}

/// Parses `name | value` or `name = value`.
fn field(line: &str) -> Option<(&str, &str)> {
    let at = line.find(" | ").or_else(|| line.find(" = ")).or_else(|| line.strip_suffix(" |").map(str::len))?;
    named(&line[..at], line.get(at + 3..).unwrap_or_default())
}

/// Parses `name: value`.
fn colon_field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    named(name, value)
}

fn named<'a>(name: &'a str, value: &'a str) -> Option<(&'a str, &'a str)> {
    let name = name.trim();
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_. ?:()*-".contains(&byte));
    is_name.then(|| (name, value.trim()))
}

/// The position among records and fields.
#[derive(Default)]
struct Records {
    begun: bool,
    in_record: bool,
    fields: usize,
    /// Whether the names of fields end with a colon.
    colons: bool,
}

impl LineConverter for Records {
    fn line(&mut self, text: &str, json: &mut String) {
        let begins = begins(text);
        if begins || text.trim().is_empty() {
            self.colons |= begins && !text.starts_with('-');
            if self.in_record && self.fields > 0 {
                json.push('}');
                self.in_record = false;
            }
            return;
        }
        let Some((name, value)) = (if self.colons { colon_field(text) } else { field(text) }) else { return };
        if self.in_record {
            json.push(',');
        } else {
            json.push_str(if self.begun { ",{" } else { "[{" });
            (self.begun, self.in_record, self.fields) = (true, true, 0);
        }
        self.fields += 1;
        put_text(name, json);
        json.push(':');
        if value.is_empty() { json.push_str("\"\"") } else { put_value(value, json) }
    }

    fn end(&mut self, json: &mut String) {
        json.push_str(match (self.begun, self.in_record) {
            (true, true) => "}]",
            (true, false) => "]",
            _ => "",
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::check::digest;

    #[test]
    fn fields_of_one_record_stay_together() {
        let mut raw = String::new();
        for number in 1..=150 {
            let setting = if number == 77 { "1073741823" } else { "off" };
            raw.push_str(&format!(
                "-[ RECORD {number} ]---+-----\nname       | setting_{number}\nsetting    | {setting}\n"
            ));
            raw.push_str("category   | Error Handling\nshort_desc | Whether to go on after a failure.\n");
        }
        let digest = digest(&raw, 800);
        assert!(digest.contains("records: 150 records") && !digest.contains("error line"), "{digest}");
        assert!(digest.contains("setting_77") && !digest.contains("== time"), "{digest}");
    }

    #[test]
    fn a_row_may_begin_with_its_number() {
        for (before, after) in [("", ""), ("*************************** ", " ***************************")] {
            let row = |number: u32| format!("{before}{number}. row{after}\nname: lib{number}\nneeds: libc6: 2\n\n");
            let raw: String = (1..=150).map(row).collect();
            let digest = digest(&raw, 600);
            assert!(digest.contains("records: 150 records") && digest.contains("libc6: 2"), "{digest}");
        }
    }
}
